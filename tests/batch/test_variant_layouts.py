"""Layouts of variants of a kernel, read in Triton's IR, and what `--layouts` says of them."""

import pytest

from dtpoly.cli.row_bits import with_compared
from dtpoly.targets.variant_layouts import KernelVariant, first_difference, layouts_in

IR = """\
#blocked = #ttg.blocked<{sizePerThread = [1, 4]}>
#mma = #ttg.nvidia_mma<{versionMajor = 2}>
#loc = loc("/tmp/kernels.py":20:1)
#loc1 = loc("/tmp/kernels.py":64:17)
#loc2 = loc("/usr/lib/triton/language/standard.py":314:12)
#loc3 = loc("total"(#loc1))
#loc4 = loc(callsite(#loc2 at #loc3))
#loc5 = loc("/tmp/kernels.py":70:9)
    %total = "tt.reduce"(%acc) <{axis = 1 : i32}> ({
    ^bb0(%a: f32 loc(callsite(#loc1 at #loc3)), %b: f32 loc(callsite(#loc1 at #loc3))):
      %c = arith.addf %a, %b : f32 loc(#loc4)
      tt.reduce.return %c : f32 loc(#loc4)
    }) : (tensor<4x512xf32, #blocked>) -> tensor<4xf32, #ttg.slice<{parent = #blocked}>> loc(#loc4)
    %d = tt.dot %x, %y, %z : tensor<16x16xf32, #mma> loc(#loc5)
    %e = tt.trans %x : tensor<16x16xf32, #mma> loc(#loc5)
"""


def test_layouts_are_read_by_line_with_what_stands_behind_names() -> None:
    found = layouts_in(IR)
    assert set(found) == {64, 70}
    (reduced,) = found[64]
    assert reduced.startswith(
        "tt.reduce (tensor<4x512xf32, #ttg.blocked<{sizePerThread = [1, 4]}>>)"
    )
    assert found[70] == {"tt.dot tensor<16x16xf32, #ttg.nvidia_mma<{versionMajor = 2}>>"}


def test_variants_arewith_compared_where_both_have_a_line() -> None:
    first = KernelVariant("k", "x = 48", layouts_in(IR))
    other = KernelVariant("k", "x = 1", layouts_in(IR.replace("[1, 4]", "[1, 2]")))
    without = KernelVariant("k", "x = 17", {70: first.layouts[70]})
    assert first_difference([first, without]) is None
    found = first_difference([first, without, other])
    assert found is not None
    assert (found.line, found.variants) == (64, ("x = 48", "x = 1"))
    assert "[1, 4]" in found.first
    assert "[1, 2]" in found.second
    assert first_difference([first, KernelVariant("another", "x = 1", other.layouts)]) is None


@pytest.mark.parametrize("failed", [None, "no compiler"])
def test_what_was_not_compiled_is_not_proved(failed: str | None) -> None:
    proved = {"function": "f", "verdict": "proved", "line": None, "why": None}
    compared = {"variants": 8, "different": None, "failed": failed}
    found = with_compared(proved, compared, "cuda:90")
    assert found["verdict"] == ("proved" if failed is None else "unknown")
