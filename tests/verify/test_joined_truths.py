"""`and` and `or` of tiles of truths, which Triton's compiler reads as `&` and `|`."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.test_data_named import proof_of_text
from tests.verify.texts import written

TEXT = """\
# tensors: x[n], out(o[n])
# verify: copy[(cdiv(len(n), 32),)](x, o, len(n))
# assume: len(n) <= 2**30
import triton
import triton.language as tl


@triton.jit
def copy(x, o, n, ONE: tl.constexpr = 1):
    at = tl.program_id(0) * 32 + tl.arange(0, 32)
    mask = {mask}
    tl.store(o + at, tl.load(x + at, mask=mask, other=0.0), mask=mask)
"""
SAID = (
    "Triton's compiler reads 'and' and 'or' of tiles in line 11 as '&' and '|'; it warns of them, "
    "and its interpreter takes one side instead"
)


@pytest.mark.parametrize(
    ("mask", "wanted"),
    [
        ("(at < n) and (at >= 0)", LayerVerdict.PROVED),
        ("(at < n) and (n > 0) and (at >= 0)", LayerVerdict.UNKNOWN),
        ("(at < n) and (at > 0 or at == 0)", LayerVerdict.PROVED),
        ("(at < n) or (at < 0)", LayerVerdict.PROVED),
        ("(at < n) and (at > 0)", LayerVerdict.REFUTED),
        ("(at < n) or (at >= 0)", LayerVerdict.REFUTED),
        ("(at < n) and at", LayerVerdict.UNKNOWN),
        ("(at < n) and True", LayerVerdict.PROVED),
        ("(at < n) and ONE > 0", LayerVerdict.PROVED),
        ("(at < n) or ONE < 0", LayerVerdict.PROVED),
        ("(at < n) or ONE > 0", LayerVerdict.REFUTED),
        ("(at < n) and ONE < 0", LayerVerdict.REFUTED),
    ],
)
def test_masks_are_joined(mask: str, wanted: LayerVerdict) -> None:
    (found,) = proof_of_text(TEXT.format(mask=mask)).functions
    assert found.verdict is wanted
    assert (SAID in found.assumed) is (wanted is not LayerVerdict.UNKNOWN)


@pytest.mark.parametrize(
    "mask", ["(at < n) & (n > 0 and n < 2 or n > 1)", "ONE > 0 and at < n", "ONE > 1 or at < n"]
)
def test_what_python_does_itself_is_not_taken_for_granted(mask: str) -> None:
    (found,) = proof_of_text(TEXT.format(mask=mask)).functions
    assert found.verdict is LayerVerdict.PROVED
    assert SAID not in found.assumed


def test_with_an_algorithm_they_are_not_read() -> None:
    """Triton's interpreter takes one side, and computes another value than its compiler."""
    copy = written("Func o: f32; In x: f32; Var n; o[n] = x[n]; o.compile();")
    text = TEXT.format(mask="(at < n) and (at >= 0)")
    assert verify(copy, text).verdict is LayerVerdict.UNKNOWN
