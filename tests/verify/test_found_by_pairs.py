"""Random pairs that were right and not proved; and texts that are nearly the same and wrong."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

RIGHT = {
    "a truth of scratch memory begins as a number": (
        "Func f; In A: bool, B: bool; Var x, z: 32; RVar k;"
        "f[x, z] = rall(reshape(A[x, k], x, 1, k) and B[z, k], k); f.block(x:32);"
        "f.tensorize(z:64, k:2); f.reorder(k, x, z); f.compile();"
    ),
    "a number that is multiplied by another as written": (
        "Func f; In A: f16; Var x; f[x] = 1e-6 * pad(A, 1.5)[x]; f.block(x:8);"
        "f.tensorize(x:0); f.compile();"
    ),
    "the negative of a number as written": (
        "Func f; In A: f16, B: f16; Var x, y;"
        "f[x, y] = -where(x > y, 1e-6, A[x, y]) * B[x, y]; f.compile();"
    ),
    "a sum of numbers as written": (
        "Func a, f; In A: bool; Var x; RVar k; a[] = 0.5 + 1e-6; f[x] = rany(A[x, k], k) + a[];"
        "f.block(x:1); f.tensorize(x:0, k:64); f.compile();"
    ),
    "a product in the type in which all is computed, added in memory": (
        "Func f; In A: f32, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(n:32, k:1024); f.tensorize(m:128, n:32, k:0); f.atomic(k); f.compile();"
    ),
    "parts of a sum that are rounded in some lanes": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.split(m:mq/4); f.atomic(k); f.block(k:64, m:32, n:32); f.flatten(k, m);"
        "f.tensorize(m:8, n:1, k:4); f.compile();"
    ),
    "labels of size 1 in several indices": (
        "Func f; In A: i32, B: bool; Var x; RVar k, l: 7, r: 1;"
        "f[x] = rany(rany(A[l + r, r + k] < 3, l, r), k) and B[x];"
        "f.tensorize(k:32, l:512, r:16); f.compile();"
    ),
    "a sum of one whole number": (
        "Func f; In A: i32, B: i32; Var x; RVar y: 1; f[x] = rsum(A[x, y] * B[x, y] % 7, y);"
        "f.block(x:4); f.compile();"
    ),
    "blocks taken in turn, of which one size is fixed": (
        "Func f; In A: f64; Var x, y: 32; f[x, y] = A[x, y] + 1; f.tensorize(x:2, y:2);"
        "f.block(x:16, y:8); f.persistent(2); f.compile();"
    ),
    "more blocks than a grid has, of which one size is fixed": (
        "Func a; Var x, y: 128; a[x, y] = y > x; a.map(y, x); a.block(x:1, y:5);"
        "a.tensorize(x:1); a.persistent(); a.compile();"
    ),
    "groups of blocks that tiles do not divide": (
        "Func f; In A; Var x, y; f[y, x] = A[x + 1, y]; f.tensorize(x:16); f.map(x:xi/8, y, xi);"
        "f.reorder(x, y); f.block(y:1, x:100); f.compile();"
    ),
    "a number of blocks that groups could have, too": (
        "Func f; In A; Var x, y, z: 100, w; f[x, y, z, w] = 2 * A[x, y, z, w];"
        "f.tensorize(x:0, y:2, z:1); f.block(x:32, y:7, z:4, w:8); f.compile();"
    ),
    "a small number beside a size": (
        "Func f; In A: f32; Var x; f[x] = where(A[x] < 0.5 and len(x) < 1e-6, A[x], 2);"
        "f.tensorize(x:0); f.compile();"
    ),
    "a mask that is known before a loop, of one row": (
        "Func a; In A, B: f32, I; SIn alpha; Var x, y, z; RVar k; a[x, y, z] ="
        "where(I[x, y, z] == alpha, 1, rdot(pad(A, -inf)[x, y - 1, k + 1], B[z, k], k))"
        "* rsum(I[y, z, k], k); a.block(x:32, y:48, z:16);"
        "a.tensorize(x:0, y:1, z:0, k:128); a.compile();"
    ),
    "groups of blocks, of which one size is fixed": (
        "Func f; In A; Var x, y: 17, z, w; f[x, y, z, w] = A[x, y, z, w] > 0;"
        "f.block(x:100, y:8, z:3, w:5); f.map(x:xi/8, z, y, w, xi);"
        "f.tensorize(x:1, y:8, z:1, w:0); f.compile();"
    ),
    "blocks of which one size is 1": (
        "Func f; In A; Var x, y: 1, z, w;"
        "f[x, y, z, w] = reshape(A[x, y], x, y, 1, 1) + A[z, w];"
        "f.block(x:64, z:16, w:5); f.tensorize(z:4); f.compile();"
    ),
    "groups of blocks, of which one size is fixed, and scratch memory of each program": (
        "Func f; In A: bool, B: bool; Var x, y: 17; RVar k; f[x, y] = rany(A[y, k], k) and B[x, y];"
        "f.tensorize(x:0, k:512); f.block(x:5, y:4); f.compile(); f.map(x:xi/3, y, xi);"
    ),
    "truths through a descriptor": (
        "Func f; In A: bool; Var x; f[x] = 1 < 2 and A[x]; f.tensorize(x:4); f.descriptor(A);"
        "f.block(x:5); f.compile();"
    ),
    "addresses that are spread along the lanes of the mask": (
        "Func b, f; In A: f32, B: f32, C: f32; Var x, y, z, w;"
        "b[x, y, z, w] = reshape(A[x, y, z], x, y, z, 1) * B[x, y, z, w];"
        "f[x, y] = C[x, y] + b[x, y, x, x]; f.compile(); f.block(x:4);"
        "f.tensorize(x:2, z:64, w:0); b.fuse_at(f, x);"
    ),
    "a negative number of which nothing is left when it is divided": (
        "Func f, g; In S; Var x; g[x] = S[x] * 2;"
        "f[x] = pad(g, 0)[x - 1] - 2 * g[x] + pad(g, 0)[x + 1]; g.fuse_at(f, x, recompute);"
        "f.tensorize(x:2); f.block(x:3); f.compile();"
    ),
    "numbers that are passed, in operations that do not wrap": (
        "Func f; In A: i32; SIn t: i32, u: i64; Var x;"
        "f[x] = A[x] + cdiv(t, u) + t % u + clamp(u, 1, t) + pow(t, 3); f.compile();"
    ),
    "whole numbers of 64 bits beside f64": (
        "Func f; In A: i64, B: f64, C: i32; SIn u: f64; Var x; f[x] = (A[x] + 7) * B[x]"
        "+ where(A[x] > u, A[x], u) + x * C[x]; f.compile();"
    ),
    "whole numbers as written and sizes, computed with and then beside f64": (
        "Func f; In A: i8, B: f64; Var x; f[x] = B[x] + where(A[x] < 3, 1, 2) * 3000000000"
        "+ where(A[x] < 5, 7, len(x)) * len(x); f.block(x:8); f.compile();"
    ),
    "a product of bytes, of which sums have 32 bits": (
        "Func f; In A: i8, B: i8; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[n, k], k);"
        "f.block(m:16, n:16, k:64); f.tensorize(m:0, n:0, k:32); f.atomic(k); f.compile();"
    ),
    "a sum of a choice between whole numbers as written, in one tile": (
        "Func f; In A: i32; Var x; RVar k; f[x] = rsum(where(A[k] == x, 1000000000, 0), k);"
        "f.block(x:4, k:16); f.tensorize(x:0, k:0); f.atomic(k); f.compile();"
    ),
    "sums and products of choices between numbers as written": (
        "Func f; In A: i32, B: f64; Var x; f[x] = where(A[x] < 9, 1, 2) * 3"
        "+ where(A[x] < 5, 2000000000, 7) * where(A[x] > 7, 2000000000, 8)"
        "+ where(A[x] < 5, 0.5, 2) * B[x]; f.tensorize(x:8); f.compile();"
    ),
    "a product of inputs of any type, where a declared one makes all of it f64": (
        "Func f; In A: f64, B, C: f16; Var m, n; RVar k;"
        "f[m, n] = rdot(B[m, k], C[k, n], k) + A[m, n];"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "sums and products of truths": (
        "Func f; In A: bool, B: bool, C: bool; Var x; f[x] = (A[x] + B[x]) * C[x] + A[x];"
        "f.block(x:5); f.tensorize(x:0); f.compile();"
    ),
    "a sum of truths": (
        "Func f; In A: bool, B: bool; Var x; f[x] = A[x] + B[x]; f.tensorize(x:8); f.compile();"
    ),
    "groups of blocks that programs take in turn": (
        "Func f; In A; Var x, y, z, w; f[x, y, z, w] = A[x, y, z, w] * 2;"
        "f.map(y:yi/8, z, w, yi); f.persistent(2); f.block(y:16, z:1, w:8);"
        "f.tensorize(y:8, z:0, w:8); f.compile();"
    ),
    "indices and sizes of which a cast leaves 32 bits": (
        "Func f; In B: i32; Var y; f[y] = where(cast(y, i32) < B[y], cast(2 * y + 1, i32), 3)"
        "* B[y] + cast(len(y) - y, i32); f.block(y:5); f.tensorize(y:0); f.compile();"
    ),
    "an index that is stored in 32 bits": (
        "Func f: i32; Var y; f[y] = y; f.block(y:8); f.tensorize(y:0); f.compile();"
    ),
    "an index and a size of 64 bits": (
        "Func f; In A: i64; Var y; f[y] = y + len(y) * A[y]; f.compile();"
    ),
    "an index of 64 bits, in blocks": (
        "Func f; In A: i64; Var y; f[y] = y + A[y]; f.block(y:8); f.tensorize(y:0); f.compile();"
    ),
    "a number that is rounded beside one that is infinite": (
        "Func f; In A: bf16; Var x, y; f[x, y] = (1e-6 < inf and y == x)"
        "+ where(-inf < 0.1, A[x, y], 2); f.compile();"
    ),
    "padding that is the least number of its type": (
        "Func f; In A: u8; Var x; RVar k; f[x] = rmax(pad(A, 0)[x, k + 1], k) * A[x, x]"
        "+ rmin(pad(A, 255)[x, k + 1], k) + pad(A, 0)[x + 1, x]; f.compile();"
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", RIGHT)
def test_is_proved(name: str) -> None:
    program = written(RIGHT[name])
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


WRONG = {
    "a product of truths for a sum": ("a sum of truths", "A_tile + B_tile", "A_tile * B_tile"),
    "a difference of truths for a sum": ("a sum of truths", "A_tile + B_tile", "A_tile - B_tile"),
    "a sum of truths that wraps": (
        "a sum of truths",
        "A_tile + B_tile",
        "(A_tile.to(tl.int8) * 64 + A_tile.to(tl.int8) * 64 + B_tile).to(tl.int8)",
    ),
    "a product of less than f64": (
        "a product of inputs of any type, where a declared one makes all of it f64",
        '"operand(B, f16)"',
        '"stored(f16)"',
    ),
    "an index of which 32 bits are left": (
        "an index and a size of 64 bits",
        "tl.cast(y, tl.int64)",
        "tl.cast(y, tl.int32)",
    ),
    "an index of which 32 bits are left, as a constant is made": (
        "an index and a size of 64 bits",
        "tl.cast(y, tl.int64)",
        "tl.full((), y, tl.int32)",
    ),
    "a size of which 32 bits are left": (
        "an index and a size of 64 bits",
        "tl.cast(y_size, tl.int64)",
        "tl.cast(y_size, tl.int32)",
    ),
    "a size of which 32 bits are left, as a constant is made": (
        "an index and a size of 64 bits",
        "tl.cast(y_size, tl.int64)",
        "tl.full((), y_size, tl.int32)",
    ),
    "indices of a block of which 32 bits are left": (
        "an index of 64 bits, in blocks",
        "y.to(tl.int64)",
        "y.to(tl.int32).to(tl.int64)",
    ),
    "a mask of indices of which 32 bits are left": (
        "an index of 64 bits, in blocks",
        "(y < y_size)",
        "(y.to(tl.int32) < y_size)",
    ),
    "a choice between whole numbers as written that has 32 bits": (
        "a sum of a choice between whole numbers as written, in one tile",
        "tl.full((), 1000000000, tl.int64)",
        "1000000000",
    ),
    "a product of bytes of which sums are floats": (
        "a product of bytes, of which sums have 32 bits",
        "out_dtype=tl.int32",
        "out_dtype=tl.float32",
    ),
    "a truth that begins as False": (
        "a truth of scratch memory begins as a number",
        ", 1, mask=z_mask)",
        ", 0, mask=z_mask)",
    ),
    "another number": (
        "the negative of a number as written",
        "1e-06",
        "1.1e-06",
    ),
    "a label of size 1 that is not masked": (
        "labels of size 1 in several indices",
        "r_mask = r <= 0",
        "r_mask = r <= 1",
    ),
    "a number that is not rounded": (
        "a sum of one whole number",
        ".to(tl.int64)",
        ".to(tl.int8)",
    ),
    "another divisor": (
        "blocks taken in turn, of which one size is fixed",
        "(pid // x_blocks) * 8",
        "(pid // y_blocks) * 8",
    ),
    "the rest of another divisor": (
        "blocks taken in turn, of which one size is fixed",
        "pid = pid % x_blocks",
        "pid = pid % y_blocks",
    ),
    "a longer loop": (
        "blocks taken in turn, of which one size is fixed",
        "y_blocks * x_blocks, tl.num_programs(0)",
        "y_blocks * x_blocks + 1, tl.num_programs(0)",
    ),
    "a number of blocks that is none": (
        "a number of blocks that groups could have, too",
        "(pid // (z_blocks * y_blocks * x_blocks)) * 8",
        "(pid // (26 * y_blocks * x_blocks)) * 8",
    ),
    "a quotient that is not 0": (
        "blocks of which one size is 1",
        "(pid // (z_blocks * x_blocks)) * 5",
        "(pid // (z_blocks * x_blocks + 1)) * 5",
    ),
    "scratch memory of less than a block": (
        "groups of blocks, of which one size is fixed, and scratch memory of each program",
        '"shape": ("4",)',
        '"shape": ("3",)',
    ),
    "a number beside truths": (
        "truths through a descriptor",
        "other=False",
        "other=256",
    ),
    "a mask that lacks a condition": (
        "addresses that are spread along the lanes of the mask",
        "& (w[None, None, :] <= x[:, None, None])\n",
        "\n",
    ),
    "a negative number of which something is left": (
        "a negative number of which nothing is left when it is divided",
        "-x_start // 3",
        "(-x_start - 1) // 3",
    ),
    "a quotient of a negative number, rounded up": (
        "a negative number of which nothing is left when it is divided",
        "-x_start // 3",
        "(2 - x_start) // 3",
    ),
    "a number that is passed, and one more": (
        "numbers that are passed, in operations that do not wrap",
        "tl.zeros((), tl.int64) + u",
        "tl.full((), 1, tl.int64) + u",
    ),
    "a number that is passed, in too few bits": (
        "numbers that are passed, in operations that do not wrap",
        "tl.zeros((), tl.int64) + u",
        "(tl.zeros((), tl.int64) + u).to(tl.int32)",
    ),
    "whole numbers of 64 bits that f32 rounds before f64 does": (
        "whole numbers of 64 bits beside f64",
        "(A_value + 7).to(tl.float64)",
        "(A_value + 7).to(tl.float32).to(tl.float64)",
    ),
    "whole numbers of 64 bits that f64 rounds too early": (
        "whole numbers of 64 bits beside f64",
        "(A_value + 7).to(tl.float64)",
        "(A_value.to(tl.float64) + 7.0)",
    ),
    "whole numbers of 64 bits that become ones of 32": (
        "whole numbers of 64 bits beside f64",
        "(A_value + 7).to(tl.float64)",
        "(A_value + 7).to(tl.int32).to(tl.float64)",
    ),
    "a comparison with an infinite number that does not hold": (
        "a number that is rounded beside one that is infinite",
        "(True & (",
        "(False & (",
    ),
    "padding that is the least number of its type, and one more": (
        "padding that is the least number of its type",
        "other=0,",
        "other=1,",
    ),
    "padding that is the largest number of its type, and one less": (
        "padding that is the least number of its type",
        "other=255,",
        "other=254,",
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_what_is_nearly_so_is_not_proved(name: str) -> None:
    of, old, new = WRONG[name]
    program = written(RIGHT[of])
    wrong = text_of(program).replace(old, new)
    assert wrong != text_of(program)
    assert verify(program, wrong).verdict is not LayerVerdict.PROVED


def test_what_takes_all_the_time_is_not_proved() -> None:
    program = written(RIGHT["groups of blocks that tiles do not divide"])
    found = verify(program, text_of(program), 0.05)
    assert found.verdict is LayerVerdict.UNKNOWN
    assert found.is_late


def _with_row(load: str) -> LayerVerdict:
    """Return the verdict on a kernel that loads one number for a row, where the load is another."""
    program = written(
        "Func f; In A: f32, B: f32; Var x, y; f[y, x] = A[x] * B[y, x]; f.compile();"
        "f.tensorize(y:4, x:1);"
    )
    text = text_of(program)
    return verify(program, changed(text, "tl.load(A_ptr + x * A_stride_0)", load)).verdict


@pytest.mark.long
def test_addresses_are_spread_as_triton_spreads_them() -> None:
    """Along the lanes of the mask; what Triton does not compile is not read, either."""
    place, one = "A_ptr + x * A_stride_0", "tl.zeros((1,), offset)"
    assert _with_row(f"tl.load({place} + {one}, mask=y_mask, other=0.0)") is LayerVerdict.PROVED
    assert _with_row(f"tl.load({place}, mask=y_mask, other=0.0)") is LayerVerdict.UNKNOWN
    mask = f"mask={one} == 0"
    assert _with_row(f"tl.load({place} + {one}, {mask}, other=0.0)") is LayerVerdict.PROVED
    other = "other=tl.zeros((4,), real)"
    assert _with_row(f"tl.load({place} + {one}, {mask}, {other})") is LayerVerdict.UNKNOWN
