"""Rules by which values are proved equal: near each a text that is wrong, and is not proved."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.texts import changed, text_of, written

MAX = written("Func f; In A: i64; Var x; RVar k; f[x] = rmax(A[x, k], k); f.compile();")
PRODUCT = written(
    "Func f; In A; Var x; RVar k; f[x] = rsum(len(x) * k * A[x, k], k);"
    "f.compile(); f.tensorize(k:4);"
)
BESIDE = written("Func f; In A; Var x; f[x] = where(x > 1.5, A[x], 0); f.compile();")
WIDE = written("Func f; In A: f64; SIn alpha; Var x; f[x] = A[x] * alpha; f.compile();")
NARROW = written("Func f; In A: f16; SIn alpha; Var x; f[x] = A[x] * alpha; f.compile();")
WHERE = written(
    "Func f; Var x, z; RVar k; f[x, z, k] = rargmax(erf(z) + k, k);"
    "f.block(k:100); f.compile(); f.map(k);"
)
WRAPPED = written("Func f; In A: i32; Var x; f[x] = A[x] + 2147483648; f.compile();")
CHOICE = written(
    "Func f; In A, B; Var x; RVar k; f[x] = rsum(where(x + k > 3, A[x, k], B[x, k]) * k, k);"
    "f.compile();"
)
TWO = written(
    "Func g, f; In A; Var x; g[x] = 2 * A[x]; f[x] = exp(g[x] + pad(g, 0)[x + 1]); f.compile();"
)
SPLIT = written("Func f; RVar l, m; f[l] = rsum(l + m, m); f.compile(); f.split(m:m_s/2);")
EQUAL = written(
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k) + rsum(A[x, k], k) * 2; f.compile();"
)
BEST_OF = written("Func f; In A: i32; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.compile();")
TAIL = written(
    "Func f; In A: i32; Var x; RVar k; f[x] = rmin(A[x, k], k); f.compile(); f.tensorize(k:8);"
)
ATOMIC = written(
    "Func f; In A: i32; Var x; RVar k; f[x] = rmin(A[x, k], k);"
    "f.compile(); f.block(k:32); f.map(k); f.atomic(k);"
)
FLOATS = written(
    "Func f, g; In A; Var x; RVar k; f[x] = rmin(A[x, k], k); g[x] = rmax(A[x, k], k);"
    "f.compile(); f.block(k:32); f.atomic(k); g.compile(); g.block(k:32); g.atomic(k);"
)
MADE_NARROW = written(
    "Func f: f32; In A: f64; Var x; RVar k; f[x] = rmax(A[x, k], k);"
    "f.compile(); f.block(k:32); f.atomic(k);"
)
BY_F32 = written("Func f; In A: i32; Var x; f[x] = cast(cast(A[x], f32), i64); f.compile();")
BY_F64 = written("Func f; In A: i64; Var x; f[x] = cast(cast(A[x], f64), i64); f.compile();")
BELOW_F64 = written(
    "Func f; In A: i64, B: i64; Var x;"
    "f[x] = where(cast(A[x], f64) < cast(B[x], f64), 1, 2); f.compile();"
)
LOADED = "tl.load(A_ptr + x * A_stride_0)"
MIXED = written("Func f; In A: i32, B: f32; Var x; f[x] = A[x] * B[x] + sqrt(A[x]); f.compile();")
OUTSIDE = written("Func f; In A: i16; Var x; f[x] = A[x] + cast(70000, i16); f.compile();")
BACK = written("Func f; In A; Var x; f[x] = cast(cast(A[x] > 1, i32), bool); f.compile();")
AS_BOOL = written("Func f; In A: i32; Var x; f[x] = where(cast(A[x], bool), 1, 2); f.compile();")
BYTES = written(
    "Func f; In A: i8, B: i8; Var x; f[x] = cast(A[x] * A[x] * A[x] + B[x], i32) / 3; f.compile();"
)
OPPOSITE = written(
    "Func f; In A: i8; Var x; f[x] = cast(-A[x], i32) + cast(abs(A[x]), i32); f.compile();"
)
LENGTH = written(
    "Func f; In A: u8, B: u8; Var x; f[x] = where(A[x] > 3, len(x), B[x]) / 3; f.compile();"
)
OUTER = written(
    "Func f; In A; RVar k; f[] = rsum(exp2(pad(A, -3)[3 * k - 1]), k);"
    "f.compile(); f.tensorize(k:16);"
)
IS_ON = written(
    "Func f; SIn beta: bool; RVar k; f[] = rall(beta and k != 2, k); f.compile(); f.tensorize(k:4);"
)
THRICE = written("Func f; In A: i32; Var x; f[x] = cast(A[x], i64) * 3; f.compile();")
NARROWED = written(
    "Func f; In A: i64, B: i32; Var x; f[x] = where(cast(A[x] * 3, i32) > B[x], 1, 2); f.compile();"
)
BY_SIZE = written("Func f; In A: i32; Var x; f[x] = cast(A[x] * len(x), i64) * 3; f.compile();")
ABOVE = written("Func f; In A: i32, B: i32; Var x; f[x] = A[x] * B[x] > 3; f.compile();")
AS_F64 = written("Func f; In A: i64, B: i64; Var x; f[x] = cast(A[x] * B[x], f64); f.compile();")
LARGEST = written(
    "Func f; In A: i32; Var x; RVar k; f[x] = rmax(A[x, k] * 3, k); f.compile(); f.tensorize(k:8);"
)
LARGEST_AT = written(
    "Func f; In A: i32; Var x; RVar k; f[x] = rargmax(A[x, k] * 3, k); f.compile();"
)
LONG_SUM = written("Func f; In A: i32; Var x; RVar k; f[x] = rsum(A[x, k] * 3, k); f.compile();")
SIZED = written("Func f; In A: i32; Var x; f[x] = abs(A[x] * 3) * 1.5; f.compile();")
REST = written("Func f; In A: i32; Var x; f[x] = (A[x] * 3) % 7 + (A[x] * 3) * x; f.compile();")
BETWEEN = written(
    "Func g, f; In A: i32, B: i32; Var x, y; g[x] = A[x] * B[x];"
    "f[x] = g[x] + cast(g[x], i64) + maximum(g[x], 1); f.compile();"
)
SHORT = written("Func f: f32; In A: i32; Var x; f[x] = cast(A[x], f8e4m3) * 1; f.compile();")
PIECES = written(
    "Func g, f; In A; RVar x, y, k; g[y, k] = pad(A, 0)[k + 1, y];"
    "f[x] = rmax(pad(g, 0)[y + 1, x], y); f.compile(); g.inline();"
)
ALWAYS = written(
    "Func f; In A; RVar k, m; f[k] = rall(3 > pad(A, 3)[k, m] and inf <= pad(A, 3)[-7, m], m);"
    "f.compile();"
)
HIDDEN = written(
    "Func f; In A: bool; Var x; RVar k, l;"
    "f[x] = rall(rall(reshape(A[x], x, k, l), l) and k != 2, k);"
    "f.compile(); f.tensorize(l:4); f.block(k:8);"
)
KEPT = written(
    "Func f; In A; RVar k; Var x; f[k, x] = rany(rany(A[k, x] != 3, k) and k != 2, k);"
    "f.compile(); f.block(k:32, x:32); f.tensorize(k:4, x:1); f.reorder(k, x);"
)
# The algorithm's `0 * k * 1.5` is 0 as soon as no leave to round stands between.
NOTHING = written(
    "Func g; In A: i64; RVar k; Var x;"
    "g[x] = rdot(where(k > x, cast(A[k], f32), 0) * k,"
    " where(k > x + 1, cast(A[k], f32), 1.5), k);"
    "g.compile();"
)
NO_NUMBER = written(
    "Func g; In A: i64, B: f32; RVar k; Var x;"
    "g[x] = rdot(where(k > x, cast(A[k], f32), 0) * k, B[k], k); g.compile();"
)

SQUARE = written("Func f; In A; Var x; f[x] = A[x] * A[x]; f.compile();")
LARGER = written("Func f; In A: f8e5m2, B: f8e5m2; Var x; f[x] = maximum(A[x], B[x]); f.compile();")
BEST_EIGHT = written(
    "Func f; In A: f8e5m2; Var x; RVar k; f[x] = rargmax(A[x, k], k);f.compile(); f.tensorize(k:0);"
)
EIGHT = written("Func f; In A: f8e5m2; Var x; f[x] = where(A[x] > 1, -A[x], A[x]); f.compile();")

BEST = "tl.store(f_k_at_program_z, f_k_value)\n"
PLACE = "            tl.store(f_k_index_at_program_z, f_k_index_value)\n"
BEGUN = 'tl.store(f_k_at_program + z * f_k_scratch_stride_1, float("-inf"))'
CUBE = "A_value.to(tl.int32) * A_value * A_value"
WIDER_BY_SIZE = "(A_value.to(tl.int64) * tl.cast(x_size, tl.int64))"
WIDER_BETWEEN = (
    "g_value = (tl.load(A_ptr + x * A_stride_0).to(tl.int64) "
    "* tl.load(B_ptr + x * B_stride_0).to(tl.int64))"
)
NEAR = '"near": ("m",),'
SUMMED = "tl.cast(x_size, tl.int64) * k.to(tl.int64)"

# What is done to which text: what is replaced by what.
WRONG: dict[str, tuple[Program, str, str]] = {
    "a truth in memory is no 0": (
        KEPT,
        "f_k_2_value + sub_tile != 0",
        "f_k_2_value + sub_tile != 1",
    ),
    "something is added to it": (KEPT, "f_k_2_value + sub_tile != 0", "f_k_2_value + 1 != 0"),
    "it begins with 1": (KEPT, "f_k_2_scratch_stride_1, 0)", "f_k_2_scratch_stride_1, 1)"),
    "it is the other way round": (
        KEPT,
        "f_k_2_value + sub_tile != 0",
        "f_k_2_value + sub_tile == 0",
    ),
    "four that show no label are left out": (
        *(HIDDEN, "tl.range(0, l_size - 3, 4)", "tl.range(0, l_size - 4, 4)"),
    ),
    "one that shows no label is left out": (HIDDEN, "l_size % 4 != 0:", "l_size % 4 > 1:"),
    "lanes beyond the end are false": (
        *(HIDDEN, "tl.where(l_mask, A_value, True)", "tl.where(l_mask, A_value, False)"),
    ),
    "another label is left out": (HIDDEN, "!= 2)", "!= 3)"),
    "what is found twice is left out both times": (
        *(PIECES, "                    0.0,\n                ),", "float('-inf')),"),
    ),
    "the first of what is found twice is left out": (
        *(PIECES, "tl.range(0, y_size)", "tl.range(1, y_size)"),
    ),
    "the last of what is found twice is left out": (
        *(PIECES, "tl.range(0, y_size)", "tl.range(0, y_size - 1)"),
    ),
    "what is found twice is not all there is": (
        *(PIECES, "A_value,\n                    0.0,", "A_value,\n                    1.0,"),
    ),
    "what always holds does not": (ALWAYS, "(3.0 > A_value) & False", "(3.0 > A_value) & True"),
    "the least number of another type changes something": (
        *(MAX, "f_stride_0, f_acc)", "f_stride_0, tl.maximum(f_acc, LEAST))"),
    ),
    "a maximum begins with the least number of another type": (
        *(MAX, "-9223372036854775808, tl.int64", "-2147483648, tl.int64"),
    ),
    "a maximum begins with the least number of its own type, in another": (
        *(MAX, "-9223372036854775808, tl.int64", "-2147483648, tl.int32"),
    ),
    "a minimum begins with the largest number of a narrower type": (
        *(TAIL, "2147483647, tl.int32", "32767, tl.int16"),
    ),
    "the best begins with the least number of a narrower type": (
        *(BEST_OF, "-2147483648, tl.int32", "-32768, tl.int16"),
    ),
    "a part of an atomic minimum begins with the largest number of a narrower type": (
        *(ATOMIC, "2147483647, tl.int32", "32767, tl.int16"),
    ),
    "atomic minima begin with the largest number of a narrower type": (
        *(ATOMIC, "f_stride_0, 2147483647)", "f_stride_0, tl.full((), 32767, tl.int16))"),
    ),
    "atomic minima begin with 0": (*(ATOMIC, "f_stride_0, 2147483647)", "f_stride_0, 0)"),),
    "an atomic minimum compares the bits of a nan": (
        *(FLOATS, "dt_nan_below(f_acc, f_ptr)", "f_acc"),
    ),
    "an atomic maximum compares the bits of a nan": (
        *(FLOATS, "dt_nan_above(g_acc, g_ptr)", "g_acc"),
    ),
    "a nan is above all in an atomic minimum": (
        *(FLOATS, "dt_nan_below(f_acc, f_ptr)", "dt_nan_above(f_acc, f_ptr)"),
    ),
    "a nan has other bits than it should": (*(FLOATS, "-0x400000", "0x7FC00000"),),
    "a nan has the bits of another type": (
        *(
            MADE_NARROW,
            "dt_nan_above(tl.cast(f_acc, tl.float32), f_ptr)",
            "dt_nan_above(f_acc, A_ptr)",
        ),
    ),
    "a nan loses its bits in a cast": (
        *(MADE_NARROW, "tl.cast(f_acc, tl.float32), f_ptr)", "f_acc, f_ptr).to(tl.float64)"),
    ),
    "a nan loses its bits in a sum": (
        *(FLOATS, "dt_nan_below(f_acc, f_ptr)", "dt_nan_below(f_acc, f_ptr) + 0.0"),
    ),
    "a cast by way of f32 is done at once": (*(BY_F32, ".to(tl.float32)", ""),),
    "a cast goes by way of f16": (*(BY_F32, ".to(tl.float32)", ".to(tl.float16)"),),
    "a cast by way of f64 goes by way of f32": (*(BY_F64, "tl.float64", "tl.float32"),),
    "whole numbers that f64 does not hold are compared as they are": (
        *(BELOW_F64, "A_value < B_value", f"{LOADED} < {LOADED.replace('A', 'B')}"),
    ),
    "a cast ends in a narrower type": (*(BY_F32, "A_value, tl.int64", "A_value, tl.int32"),),
    "a number that its type has not becomes the largest": (
        *(OUTSIDE, "4464, tl.int16", "32767, tl.int16"),
    ),
    "a number that its type has not becomes the least": (
        *(OUTSIDE, "4464, tl.int16", "-32768, tl.int16"),
    ),
    "a bool is made of a number that was no bool": (
        *(BACK, "(A_value > 1.0).to(tl.int32)", "((A_value > 1.0).to(tl.int32) + 1)"),
    ),
    "a bool is made of the value itself": (*(BACK, "(A_value > 1.0).to(tl.int32)", "A_value"),),
    "a number counts as true only above 0": (*(AS_BOOL, ".to(tl.int1)", " > 0"),),
    "a number counts as true by its last bits": (
        *(AS_BOOL, ".to(tl.int1)", ".to(tl.int8).to(tl.int1)"),
    ),
    "another product of sizes": (*(PRODUCT, SUMMED, f"{SUMMED} * k.to(tl.int64)"),),
    "another factor of a product": (*(PRODUCT, SUMMED, SUMMED.replace("x_size", "k_size")),),
    "a product of one size more": (*(PRODUCT, SUMMED, f"({SUMMED} + k.to(tl.int64))"),),
    "an index beside another number": (*(BESIDE, "> 1.5", "> 2.5"),),
    "an index on the other side of a number": (*(BESIDE, "> 1.5", "< 1.5"),),
    "a scalar has fewer bits than what it meets": (
        *(WIDE, "A_value * alpha", "A_value * alpha.to(tl.float32)"),
    ),
    "a scalar is rounded to less than is computed in": (
        *(NARROW, "A_value * alpha", "A_value * alpha.to(tl.float16)"),
    ),
    "a value is rounded to a type that nothing allows": (
        *(NARROW, "A_value * alpha", "(A_value * alpha).to(tl.bfloat16)"),
    ),
    "bytes are added up in a wider type": (
        *(BYTES, "A_value * A_value * A_value + B_value", f"{CUBE} + B_value.to(tl.int32)"),
    ),
    "bytes are multiplied in a wider type": (
        *(BYTES, "A_value * A_value * A_value", "(A_value.to(tl.int16) * A_value * A_value)"),
    ),
    "the opposite of a byte is one of a wider type": (
        *(OPPOSITE, "(-A_value).to(tl.int32)", "(-A_value.to(tl.int32))"),
    ),
    "the absolute value of a byte is one of a wider type": (
        *(OPPOSITE, "tl.abs(A_value).to(tl.int32)", "tl.abs(A_value.to(tl.int32))"),
    ),
    "a size beside bytes does not wrap": (*(LENGTH, "tl.cast(x_size, tl.uint8)", "x_size"),),
    "a size beside bytes wraps in another type": (
        *(LENGTH, "tl.cast(x_size, tl.uint8)", "tl.cast(x_size, tl.int16)"),
    ),
    "it is widened after it was multiplied": (
        *(THRICE, "A_stride_0).to(tl.int64)", "A_stride_0)"),
    ),
    "a product is one of 32 bits": (*(THRICE, "A_value * 3)", "(A_value.to(tl.int32) * 3))"),),
    "a product is one of 64 bits, and not narrowed": (
        *(NARROWED, "(A_value * 3).to(tl.int32)", "(A_value * 3)"),
    ),
    "a product is narrowed too far": (
        *(NARROWED, "(A_value * 3).to(tl.int32)", "(A_value * 3).to(tl.int16)"),
    ),
    "it is widened before it meets a size": (
        *(BY_SIZE, "(A_value * tl.cast(x_size, tl.int32)).to(tl.int64)", WIDER_BY_SIZE),
    ),
    "a size may be one of 64 bits": (*(BY_SIZE, "tl.cast(x_size, tl.int32)", "x_size"),),
    "a product of 64 bits is compared": (
        *(ABOVE, "A_value * B_value >", "A_value.to(tl.int64) * B_value >"),
    ),
    "a product of bytes is compared": (
        *(ABOVE, "A_value * B_value >", "(A_value * B_value).to(tl.int8) >"),
    ),
    "whole numbers are multiplied as floats": (
        *(AS_F64, "A_value * B_value", "A_value.to(tl.float64) * B_value.to(tl.float64)"),
    ),
    "a product is one of 32 bits, and then a float": (
        *(AS_F64, "(A_value * B_value)", "(A_value * B_value).to(tl.int32)"),
    ),
    "the largest of products of 64 bits": (
        *(LARGEST, "maximum(f_acc, A_tile * 3)", "maximum(f_acc, A_tile.to(tl.int64) * 3)"),
    ),
    "three times the largest": (
        *(LARGEST, "maximum(f_acc, A_tile * 3)", "maximum(f_acc, A_tile)"),
    ),
    "the place of the largest product of 64 bits": (
        *(LARGEST_AT, "A_value * 3", "A_value.to(tl.int64) * 3"),
    ),
    "products are added up as ones of 64 bits": (
        *(LONG_SUM, "(A_value * 3).to(tl.int64)", "A_value.to(tl.int64) * 3"),
    ),
    "a sum is one of 32 bits": (
        *(LONG_SUM, "f_stride_0, f_acc)", "f_stride_0, f_acc.to(tl.int32))"),
    ),
    "the absolute value of a product of 64 bits": (
        *(SIZED, "tl.abs(A_value * 3)", "tl.abs(A_value.to(tl.int64) * 3)"),
    ),
    "an absolute value is taken after the product": (
        *(SIZED, "tl.abs(A_value * 3)", "(tl.abs(A_value) * 3)"),
    ),
    "the rest of a product of 64 bits": (
        *(REST, "dt_mod_whole(A_value * 3", "dt_mod_whole(A_value.to(tl.int64) * 3"),
    ),
    "a product of 64 bits beside an index": (
        *(REST, "(A_value * 3).to(tl.int64) * tl", "(A_value.to(tl.int64) * 3) * tl"),
    ),
    "a Func between is kept in more bits": (
        *(BETWEEN, "g_value = tl.load(g_ptr + x * g_stride_0).to(tl.int64)", WIDER_BETWEEN),
    ),
    "what is outside is counted beyond the end": (
        *(OUTER, "            k_mask,\n", "            k_mask | (k == k_size),\n"),
    ),
    "what is outside is counted twice": (
        *(OUTER, "k_start = k_size - (k_size % 16)", "k_start = k_size - 16"),
    ),
    "what is outside is left out": (
        *(OUTER, "            k_mask,\n", "            k_mask & (3 * k <= A_shape_0),\n"),
    ),
    "a bool is compared with another number": (*(IS_ON, "(k - k) != 0)", "(k - k) != 1)"),),
    "a bool is true with another number beside it": (*(IS_ON, "+ (k - k) !=", "+ (k - 1) !="),),
    "a whole number is made a short float by way of another": (
        *(SHORT, ".to(tl.float32)", ".to(tl.float16)"),
    ),
    "a product in what may have 8 bits": (*(SQUARE, ".to(real)", ""),),
    "a comparison in 8 bits": (*(EIGHT, ".to(tl.float32)", ""),),
    "a number is compared in 8 bits": (
        *(EIGHT, "tl.where(A_value > 1.0,", "tl.where(1 < A_value.to(tl.float8e5),"),
    ),
    "the larger in 8 bits": (
        *(LARGER, "(A_value, B_value)", "(A_value.to(tl.float8e5), B_value.to(tl.float8e5))"),
    ),
    "the place of the largest in 8 bits": (
        *(BEST_EIGHT, "tl.reduce((f_acc,", "tl.reduce((f_acc.to(tl.float8e5),"),
    ),
    "what is nothing in the algorithm is something": (
        *(NOTHING, "tl.range(x_start + 1, ", "tl.range(x_start, "),
    ),
    "more than nothing is left out": (NOTHING, "A_value, 1.5)", "A_value, 0.0)"),
    "what is nothing begins one later": (
        *(NOTHING, "tl.range(x_start + 1, ", "tl.range(x_start + 2, "),
    ),
    "a product begins one later than its mask": (
        *(NO_NUMBER, "tl.range(x_start + 1, ", "tl.range(x_start + 2, "),
    ),
    "a number wraps as it does not": (*(WRAPPED, "-2147483648", "2147483647"),),
    "the choices are exchanged": (*(CHOICE, "A_value, B_value", "B_value, A_value"),),
    "it is chosen a little later": (*(CHOICE, "> 3", "> 4"),),
    "a Func between is another": (*(TWO, "2.0 * A_value", "3.0 * A_value"),),
    "another element of a Func between": (
        *(TWO, "g_ptr + (x + 1) * g_stride_0", "g_ptr + (x + 0) * g_stride_0"),
    ),
    "a Func between is not stored in the end": (
        *(TWO, "tl.store(g_ptr + x * g_stride_0", "tl.store(g_ptr + (x + 1) * g_stride_0"),
    ),
    "a Func between is overwritten": (
        *(
            TWO,
            "2.0 * A_value)\n",
            "2.0 * A_value)\n        tl.store(g_ptr + x * g_stride_0, A_value)\n",
        ),
    ),
    "a Func between is begun and not ended": (
        *(TWO, "tl.store(g_ptr + x * g_stride_0, 2.0 * A_value)", "tl.debug_barrier()"),
    ),
    "of equal sums one is taken for the other": (*(EQUAL, "f_acc_2 * 2.0", "f_acc_2 * 3.0"),),
    "of equal sums one is taken twice": (
        *(EQUAL, "f_acc_2 += A_value", "f_acc_2 += A_value\n            f_acc += A_value"),
    ),
    "of a pair only the place is kept": (*(WHERE, BEST, "tl.debug_barrier()\n"),),
    "of a pair only the value is kept": (*(WHERE, PLACE, ""),),
    "the place is kept of another pair": (
        *(
            WHERE,
            PLACE,
            PLACE.replace("f_k_index_value", "best_at"),
        ),
    ),
    "the place is set anew each time": (
        *(WHERE, PLACE, f"{PLACE}            tl.store(f_k_index_at_program_z, 0)\n"),
    ),
    "only the place is begun anew": (*(WHERE, BEGUN, "tl.debug_barrier()"),),
    "the value begins with 0": (*(WHERE, BEGUN, BEGUN.replace('float("-inf")', "0.0")),),
    "values of all rows share one element": (
        *(
            WHERE,
            "f_k_at_program_z = f_k_at_program + z *",
            "f_k_at_program_z = f_k_at_program + 0 *",
        ),
    ),
    "the place is loaded after it was stored": (
        *(
            WHERE,
            "            f_k_index_value = tl.load(f_k_index_at_program_z)\n",
            "            tl.store(f_k_index_at_program_z, best_at)\n"
            "            f_k_index_value = tl.load(f_k_index_at_program_z)\n",
        ),
    ),
    "the value is begun anew in between": (
        *(
            WHERE,
            "            best = tl.full",
            "            " + BEGUN + "\n            best = tl.full",
        ),
    ),
    "a size just below 32 bits is let through": (*(SPLIT, NEAR, ""),),
    "another size is refused": (*(SPLIT, NEAR, NEAR.replace("m", "l")),),
}


# Each text that something is done to, and one that has no mistake near.
ALL = (*dict.fromkeys(program for program, *_ in WRONG.values()), MIXED)


@pytest.mark.sampled
@pytest.mark.parametrize("program", ALL)
def test_without_a_mistake_it_is_proved(program: Program) -> None:
    report = verify(program, text_of(program))
    assert report.verdict is LayerVerdict.PROVED, report.layers


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    new = new.replace("LEAST", "tl.full((), -2147483648, tl.int32)")
    assert verify(program, changed(text_of(program), old, new)).verdict is not LayerVerdict.PROVED
