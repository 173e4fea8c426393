"""Sizes of 0 and near to 2**31: what is computed of sizes, and what is read of an empty tensor."""

import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.schedule.told import read

COPY = "Func f; In A; Var x; f[x] = A[x];"
# What isl makes of sizes that are multiplied: conditions, ends of loops, masks, slices of scratch.
MULTIPLIED = {
    "a condition": COPY + "f.block(x:100); f.tensorize(x:16);",
    "ends of loops": COPY + "f.split(x:xi/7); f.split(xi:xii/4);",
    "a mask": COPY + "f.split(x:xi/7); f.tensorize(xi:4);",
    "scratch": "Func f, g; In A; Var x; g[x] = A[x]; f[x] = pad(g, 0)[2 * x + 1] + 1;"
    "g.fuse_at(f, x); f.split(x:xi/3); f.tensorize(xi:2);",
}
# Numbers in indices that are as large as sizes are, or have not room beside them in 32 bits.
FAR = {
    "an extent": COPY.replace("A[x]", "pad(A, 0)[x - 3000000]") + "f.block(x:64);",
    "an extent, many lanes": "Func f; In A; Var x; RVar k;"
    "f[x] = rsum(pad(A, 0)[x + 2 * k - 3000000], k); f.block(x:64); f.tensorize(x:64, k:16);",
    "an index": COPY.replace("A[x]", "A[2 * x + 1000000000] + A[x + 2000000000]")
    + "f.tensorize(x:64);",
    "an index of what has another extent": COPY.replace("A[x]", "pad(A, 0)[x + 2000000000]"),
    "a slice": "Func f, g; In A; Var x, y; g[x, y] = A[x] * 2;"
    "f[x, y] = pad(g, 0)[2 * x + 3000000, y]; g.fuse_at(f, x); f.tensorize(x:16);",
}
# Less of x is needed than of y, so that a tile of it may end before x does.
FUSED = """
Func f0, f1, f2; In A0, A1; RVar x, y, k;
f0[x, k] = A0[x, k];
f1[k, x] = f0[x, k];
f2[y] = rdot(pad(f1, 0)[k, y - 1], A1[y, k], k);
f2.split(y:yi/3); f2.tensorize(k:4, x:2); f0.fuse_at(f1, x); f1.fuse_at(f2, y); f2.compile();
"""


def emitted(text: str) -> str:
    """Return the file of a Program."""
    return code_of(judge(read(text), DIRECTIVES).scheduled).text


@pytest.mark.parametrize("name", MULTIPLIED)
def test_sizes_are_multiplied_in_64_bits(name: str) -> None:
    text = emitted(MULTIPLIED[name])
    assert ", tl.int64)" in text
    (report,) = verify(read(MULTIPLIED[name]), text).functions
    found = {layer.name: layer.verdict for layer in report.layers}
    assert found["overflow"] is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", FAR)
def test_large_numbers_are_added_in_64_bits(name: str) -> None:
    (report,) = verify(read(FAR[name]), emitted(FAR[name])).functions
    found = {layer.name: layer.verdict for layer in report.layers}
    assert found["overflow"] is LayerVerdict.PROVED


def test_a_remainder_stays_as_narrow_as_its_size() -> None:
    assert "x_start = x_size - (x_size % 4)" in emitted(COPY + "f.tensorize(x:4);")


@pytest.mark.parametrize("dtype", ["i8", "i16", "u8"])
@pytest.mark.parametrize("size", [3, 40000])
def test_a_size_is_compared_as_it_is(dtype: str, size: int) -> None:
    source = (
        f"Func f; In A: f32; Var x; f[x] = len(x) >= cast(A[x], {dtype}) * 2; f.tensorize(x:0);"
    )
    program, sizes = read(source), {"x": size}
    inputs = Recipe(1).inputs(program, sizes)
    checked = compared(imported(emitted(source)), program, ("f",), inputs, sizes)
    assert checked.elements == size


@pytest.mark.sampled
@pytest.mark.parametrize("sizes", [(0, 2, 1), (0, 7, 5), (3, 7, 5), (3, 4, 0), (5, 1, 3)])
def test_nothing_is_read_of_an_empty_tensor(sizes: tuple[int, int, int]) -> None:
    program, named = read(FUSED), dict(zip("xyk", sizes, strict=True))
    inputs = Recipe(1).inputs(program, named)
    checked = compared(imported(emitted(FUSED)), program, ("f2",), inputs, named)
    assert checked.tight == checked.elements == named["y"]


def test_reads_of_empty_tensors_are_proved_to_be_none() -> None:
    (report,) = verify(read(FUSED), emitted(FUSED)).functions
    found = {layer.name: layer.verdict for layer in report.layers}
    assert found["bounds"] is LayerVerdict.PROVED
