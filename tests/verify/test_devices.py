"""The device of a function without tensors is the one that a caller gives, and nothing else."""

import pytest

from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import text_of, written

COUNTED = written("Func f; Var x; f[x] = x * 2; f.block(x:64); f.tensorize(x:0); f.compile();")
GIVEN = "dt_device(device, out)"


def test_what_is_emitted_is_proved() -> None:
    text = text_of(COUNTED)
    assert GIVEN in text
    assert verify(COUNTED, text).verdict is Verdict.PROVED


@pytest.mark.parametrize(
    "other",
    [
        "dt_device(device - 1, out)",
        "dt_device(device + device, out)",
        "dt_device(-device, out)",
        "dt_device(device[0], out)",
        "dt_device(out, device)[0]",
        "dt_device(device.index, out)",
    ],
)
def test_what_is_made_of_it_is_no_device(other: str) -> None:
    text = text_of(COUNTED).replace(GIVEN, other, 1)
    assert verify(COUNTED, text).verdict is Verdict.UNKNOWN
