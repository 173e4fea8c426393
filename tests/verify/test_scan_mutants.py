"""No mistake in a scan is proved: what is proved still computes the same."""

from collections import Counter

import pytest
import torch

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Layout
from tests.codegen.listings import code, program
from tests.codegen.running import imported
from tests.codegen.test_scans import compiled, inputs
from tests.verify.scan_mutants import IN_LINES, NAMES, mutants

SECONDS = 10
LENGTHS = (1, 17, 37)


def results(text: str, name: str) -> list[torch.Tensor]:
    """Return the results of some calls, with elements of which none are alike."""
    function = getattr(imported(text), compiled(name))
    return [
        function(*inputs(name, length, torch.float32, Layout.PLAIN).values()) for length in LENGTHS
    ]


@pytest.mark.long
def test_there_are_mistakes_of_each_kind() -> None:
    found = Counter(word for name in NAMES for word, *_ in mutants(name))
    assert found.keys() >= IN_LINES.keys()
    assert found.total() >= 300


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_mistake_is_not_proved(name: str) -> None:
    right = results(code(name).text, name)
    not_proved = 0
    for word, line, text in mutants(name):
        if verify(program(name), text, seconds=SECONDS).verdict is not LayerVerdict.PROVED:
            not_proved += 1
            continue
        # It is another text for the same: where a mask is not needed, or a lane is beyond the end.
        for one, other in zip(results(text, name), right, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5, msg=f"{word} {line}")
    assert not_proved >= 5
