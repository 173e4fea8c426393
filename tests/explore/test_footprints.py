"""Footprints and loads of the cost model, against instances looked at one by one."""

from collections.abc import Mapping
from functools import cache

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.checking import check
from dtpoly.explore.accesses.accesses import CostedKernel, launched
from dtpoly.explore.accesses.footprints import footprint
from dtpoly.explore.accesses.reached_indices import Interval
from dtpoly.explore.accesses.streams import AccessStream
from dtpoly.explore.accesses.tile_counts import instances, steps
from dtpoly.poly.axes import finest, several
from dtpoly.schedule.state import State
from dtpoly.source import Source
from tests.explore.counted import Counted, counted

MATMUL = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
SOFTMAX = """Func s, e, t; In A; Var x; RVar y; e[x, y] = exp(A[x, y]); t[x] = rsum(e[x, y], y);
s[x, y] = e[x, y] / reshape(t[x], x, 1);"""
TWO = """Func f, g; In A, B, C; Var m, n; RVar k, l; g[m, l] = rdot(A[m, k], B[k, l], k);
f[m, n] = rdot(g[m, l], C[l, n], l);"""
STENCIL = "Func f, g; In A; Var x, z; g[z] = A[z] + A[z + 2]; f[x] = g[x] * g[x + 1];"
CONV = """Func f; In A, W; Var h, w; RVar r, s;
f[h, w] = rdot(A[h + r, w + s], W[r, s], r, s);"""
SUM = "Func f; In A; Var y; RVar x; f[y] = rsum(A[x, y], x);"

UP = "Func f; In A; Var x, y; f[x, y] = A[x // 2, y];"
SHUFFLE = "Func f; In A; Var c, x; f[c, x] = A[2 * c + x % 2, x // 2];"

# Text, schedule, sizes.
CASES = {
    "a quotient": (UP, "f.block(x:4, y:3); f.tensorize(x:4);", "x=10,y=5"),
    "a quotient of other tiles": (UP, "f.block(x:3); f.tensorize(x:2);", "x=12,y=2"),
    "a remainder": (SHUFFLE, "f.block(x:4); f.tensorize(x:0);", "c=3,x=10"),
    "one program": (MATMUL, "", "m=5,n=4,k=3"),
    "blocks": (MATMUL, "f.block(m:4, n:3);", "m=9,n=7,k=5"),
    "tiles": (MATMUL, "f.block(m:8, n:4); f.tensorize(m:4, n:0, k:2);", "m=19,n=9,k=7"),
    "groups": (
        MATMUL,
        "f.block(m:4, n:4); f.tensorize(m:0, n:0, k:4); f.map(m:mi/2, n, mi);",
        "m=21,n=10,k=6",
    ),
    "tiles that do not divide blocks": (
        MATMUL,
        "f.block(m:6); f.tensorize(m:4, k:2);",
        "m=13,n=3,k=7",
    ),
    "split and reorder": (
        MATMUL,
        "f.split(k:ki/4); f.reorder(k, m, n); f.block(m:4);",
        "m=6,n=3,k=10",
    ),
    "fused": (
        SOFTMAX,
        "s.block(x:2); s.tensorize(y:4); e.fuse_at(s, x); t.fuse_at(s, x);",
        "x=5,y=7",
    ),
    "a row a program": (
        SOFTMAX,
        "s.block(x:1); s.tensorize(x:0, y:0); e.fuse_at(s, x); t.fuse_at(s, x);",
        "x=3,y=6",
    ),
    "not fused": (SOFTMAX, "s.block(x:2); e.block(x:4, y:2);", "x=5,y=7"),
    "computed again": (TWO, "f.block(m:2, n:3); g.fuse_at(f, m);", "m=5,n=7,k=3,l=4"),
    "inner fusion": (
        TWO,
        "f.block(m:4, n:4); f.tensorize(m:0, n:0, l:2, k:2); g.fuse_at(f, l);",
        "m=7,n=9,k=3,l=5",
    ),
    "stencil": (STENCIL, "f.block(x:4);", "x=11,z=12"),
    "fused stencil": (
        STENCIL,
        "f.block(x:4); f.tensorize(x:2); g.fuse_at(f, x, recompute);",
        "x=11,z=12",
    ),
    "convolution": (CONV, "f.block(h:3, w:4); f.tensorize(w:2);", "h=7,w=9,r=3,s=2"),
    "strides": ("Func f; In A; Var x; f[x] = A[2 * x] + A[3 * x + 1];", "f.block(x:4);", "x=9"),
    "sums with holes": (
        "Func f; In A; Var x; RVar r; f[x] = rsum(A[5 * x + 2 * r], r);",
        "f.block(x:2);",
        "x=7,r=3",
    ),
    "a diagonal": ("Func f; In A; Var x; f[x] = A[x, x];", "f.block(x:4);", "x=10"),
    "a skewed read": ("Func f; In A; Var x, y; f[x, y] = A[x, x + y];", "f.block(x:4);", "x=6,y=5"),
    "padding": (
        "Func f; In A; Var x; f[x] = pad(A, 0)[x - 1] + pad(A, 0)[x + 2];",
        "f.block(x:4);",
        "x=10",
    ),
    "parts": (SUM, "f.block(y:4, x:xb/3); f.tensorize(y:0, x:2);", "y=6,x=10"),
    "atomic parts": (SUM, "f.block(y:4, x:3); f.atomic(x);", "y=6,x=10"),
}


def state_of(text: str) -> State:
    checked = check(Source("case.dt", text))
    assert checked.program is not None, checked.diagnostics
    assert checked.verdict is not None
    return checked.verdict.scheduled


def sizes_of(words: str) -> dict[str, int]:
    pairs = (word.split("=") for word in words.split(","))
    return {name: int(value) for name, value in pairs}


@cache
def streams(
    name: str,
) -> list[tuple[State, Mapping[str, int], CostedKernel, AccessStream, Counted]]:
    """Every access of a case, as the model has it and as it is."""
    text, schedule, words = CASES[name]
    state = state_of(f"{text} {schedule}")
    sizes = filled(state.program, sizes_of(words))
    return [
        (state, sizes, kernel, one, counted_of(state, sizes, one))
        for kernel in launched(state, sizes, DType.F32)
        for one in kernel.streams
    ]


def counted_of(state: State, sizes: Mapping[str, int], one: AccessStream) -> Counted:
    walk = one.walk
    return counted(walk.statement, walk.path, state.model, sizes, one.indices, one.shape)


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_what_all_programs_touch(name: str) -> None:
    for _, _, _, one, real in streams(name):
        assert footprint(one, {}) == len(real.elements), one.array


@pytest.mark.parametrize("name", CASES)
def test_what_each_program_touches(name: str) -> None:
    for _, _, _, one, real in streams(name):
        grid = several(finest(one.walk.path.grid))
        for program, elements in real.of_program.items():
            places = zip(grid, program, strict=True)
            fixed = {axis.name: Interval(at, at) for axis, at in places}
            assert footprint(one, fixed) == len(elements), (one.array, fixed)


@pytest.mark.parametrize("name", CASES)
def test_instances_and_tiles(name: str) -> None:
    for _, _, _, one, real in streams(name):
        assert instances(one.walk) == real.instances
        assert steps(one.walk) == real.tiles


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("padding", "sums with holes")])
def test_what_is_loaded(name: str) -> None:
    for _, _, _, one, real in streams(name):
        # A tile that a loop does not change is loaded before it; sums of labels overlap, and lanes
        # of one quotient load one element.
        has_same = any(len(i.terms) > 1 or i.divisions for i in one.indices)
        assert one.loaded <= real.loaded or has_same
        assert one.loaded >= len(real.elements)


@pytest.mark.parametrize("name", ["tiles", "groups", "inner fusion", "computed again", "parts"])
def test_operands_of_products_and_sums_are_loaded_by_each_tile(name: str) -> None:
    found = [(one, real) for _, _, _, one, real in streams(name) if one.is_operand or one.is_store]
    assert found
    for one, real in found:
        assert one.loaded == real.loaded
