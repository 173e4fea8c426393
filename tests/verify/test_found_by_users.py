"""Ordinary programs that were right and not proved; and texts that are nearly so and wrong."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

FIRST = "Func f; In A: bool, B: bool; Var x; RVar k; f[x] = "
TILES = "f.block(x:4); f.tensorize(x:0, k:8); f.compile();"
# Each program reads the same memory of its own twice, so that this lies in scratch memory.
SCRATCH = (
    "Func s, f; In A; Var b, t, h: 2; RVar u; s[b, h, t, u] = exp(A[b, h, t, u]);"
    "f[b, t, h] = rsum(s[b, h, t, u] * rmax(s[b, h, t, u], u), u);"
)

RIGHT = {
    "the first truth": f"{FIRST}rargmax(A[x, k] and B[x, k], k); f.compile();",
    "the first truth, in tiles": f"{FIRST}rargmax(A[x, k] and B[x, k], k); {TILES}",
    "the first truth, in one tile": (
        f"{FIRST}rargmax(A[x, k] or B[x, k], k); f.block(x:4); f.tensorize(x:1, k:0); f.compile();"
    ),
    "the first that is false": f"{FIRST}rargmin(A[x, k], k); {TILES}",
    "the first that a comparison of floats does not hold for": (
        f"Func f; In A; Var x; RVar k; f[x] = rargmin(A[x, k] > 0, k); {TILES}"
    ),
    "the first truth, for which memory is kept": (
        f"{FIRST}rargmax(A[x, k] and B[x, k], k); f.block(x:4); f.tensorize(x:2, k:8);"
        "f.reorder(k, x); f.compile();"
    ),
    "the first truth of a Func that is fused": (
        "Func m, f; In A; Var x, y; RVar k; m[x, y] = A[x, y] > 0 and y != x;"
        f"f[x] = rargmax(m[x, k], k); m.fuse_at(f, k); {TILES}"
    ),
    "the first of the largest whole numbers": (
        f"Func f; In A: i8; Var x; RVar k; f[x] = rargmax(A[x, k], k); {TILES}"
    ),
    "memory of programs that are two for each block": (
        f"{SCRATCH} s.fuse_at(f, h); f.block(b:1, t:16, h:1); f.tensorize(t:0, u:16); f.compile();"
    ),
    "memory of programs that are two for each block, the inner ones": (
        f"{SCRATCH} s.fuse_at(f, h); f.block(b:1, t:16, h:1); f.tensorize(t:0, u:16);"
        "f.map(t, b, h); f.compile();"
    ),
    "memory of programs that are six for each block": (
        f"{SCRATCH.replace('t, h: 2', 't, h: 6').replace('Var b', 'Var b: 2')} s.fuse_at(f, h);"
        "f.block(b:1, t:16, h:2); f.tensorize(t:0, h:0, u:16); f.compile();"
    ),
    "groups of 2 of 6 blocks, beside 3 others": (
        "Func f; In A; Var x: 6, y: 20; f[x, y] = A[x, y]; f.map(x:xi/2, y, xi);"
        "f.block(x:1, y:8); f.compile();"
    ),
    "groups of 2 of 4 blocks, beside 2 others, that programs take in turn": (
        "Func f; In A; Var x: 4, y: 16; f[x, y] = A[x, y]; f.map(x:xi/2, y, xi);"
        "f.block(x:1, y:8); f.persistent(); f.compile();"
    ),
    "memory that is written in tiles that do not divide a block": (
        "Func a, f; In A; Var x, y: 4, z: 8; RVar k: 8; a[x, y] = rmax(A[x, 8 * y + k], k);"
        "f[x, y, z] = A[x, 8 * y + z] / reshape(a[x, y], x, y, 1); a.fuse_at(f, z);"
        "f.block(x:5, y:8, z:16); f.tensorize(x:4, y:0, z:0, k:0); f.compile();"
    ),
    "a size that is passed under a name that Python has": (
        "Func f; In A; Var input; f[input] = pad(A, 0)[input - 1] * len(input);"
        "f.block(input:4); f.compile();"
    ),
    "a label that is called as what the runtime calls its device": (
        "Func f; In A; Var device; f[device] = A[device]; f.block(device:4); f.compile();"
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", RIGHT)
def test_is_proved(name: str) -> None:
    program = written(RIGHT[name])
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


WRONG = {
    "the first truth, where all begin as true": (
        "the first truth",
        "tl.full((), False, tl.int1)",
        "tl.full((), True, tl.int1)",
    ),
    "the last truth": ("the first truth, in tiles", "dt_argmax", "dt_argmin"),
    "the first truth, with a truth where there is none": (
        "the first truth, in tiles",
        "A_tile & B_tile, False)",
        "A_tile & B_tile, True)",
    ),
    "the first truth, with a place where there is none": (
        "the first truth, in tiles",
        "k[None, :].to(tl.int64), 9223372036854775807)",
        "k[None, :].to(tl.int64), 0)",
    ),
    "another truth": ("the first truth, in tiles", "A_tile & B_tile", "A_tile | B_tile"),
    "the first that is false, where all begin as false": (
        "the first that is false",
        "tl.full((4, 8), True, tl.int1)",
        "tl.full((4, 8), False, tl.int1)",
    ),
    "whole numbers that begin as a truth, below which there are numbers": (
        "the first of the largest whole numbers",
        "tl.full((4, 8), -128, tl.int8)",
        "tl.full((4, 8), False, tl.int1)",
    ),
    "whole numbers with a truth where there is none": (
        "the first of the largest whole numbers",
        "tl.where(k_mask[None, :], A_tile, -128)",
        "tl.where(k_mask[None, :], A_tile, False)",
    ),
    "memory of half of a block": (
        "memory of programs that are two for each block",
        '("1", "1", "16", "u")',
        '("1", "1", "8", "u")',
    ),
    "groups of 2 of 6 blocks, beside 2 others": (
        "groups of 2 of 6 blocks, beside 3 others",
        "pid % (2 * y_blocks)",
        "pid % (2 * 2)",
    ),
    "groups of 2 of 6 blocks, taken apart as 3": (
        "groups of 2 of 6 blocks, beside 3 others",
        "pid // x_in_group",
        "pid // y_blocks",
    ),
    "groups of 2 of 4 blocks, that overlap": (
        "groups of 2 of 4 blocks, beside 2 others, that programs take in turn",
        "x_group_id * 2 + pid",
        "x_group_id + pid",
    ),
    "another size": (
        "a size that is passed under a name that Python has",
        '"input_": None',
        '"input_": "A.shape[0]"',
    ),
    "the size of something else": (
        "a size that is passed under a name that Python has",
        '"input_size": "input_"',
        '"input_size": "A.shape[0]"',
    ),
    "memory of the program behind": (
        "memory of programs that are two for each block",
        "program = tl.program_id(0).to(offset)",
        "program = (tl.program_id(0) + 1).to(offset)",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_what_is_nearly_so_is_not_proved(name: str) -> None:
    of, old, new = WRONG[name]
    program = written(RIGHT[of])
    wrong = changed(text_of(program), old, new, -1)
    assert verify(program, wrong).verdict is not LayerVerdict.PROVED
