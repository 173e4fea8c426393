"""`and` and `or` of tiles of truths, which Triton's compiler reads as `&` and `|`."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify

COPY = load(Source("copy.dt", "Func o; In x; Var n; o[n] = x[n]; o.compile();"))
TEXT = """\
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
    "Triton's compiler reads 'and' and 'or' of tiles in line 10 as '&' and '|'; it warns of them, "
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
    (found,) = verify(COPY, TEXT.format(mask=mask)).functions
    assert found.verdict is wanted
    assert (SAID in found.assumed) is (wanted is not LayerVerdict.UNKNOWN)


@pytest.mark.parametrize(
    "mask", ["(at < n) & (n > 0 and n < 2 or n > 1)", "ONE > 0 and at < n", "ONE > 1 or at < n"]
)
def test_what_python_does_itself_is_not_taken_for_granted(mask: str) -> None:
    (found,) = verify(COPY, TEXT.format(mask=mask)).functions
    assert found.verdict is LayerVerdict.PROVED
    assert SAID not in found.assumed
