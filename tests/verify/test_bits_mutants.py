"""Emitted kernels of whole numbers with one mistake each: none of them is proved.

Most mistakes confuse what C, Triton and Python call by one sign, or lose a wrap, a mask of bits or
a type. A text that is right, and that the verifier does not understand, may be among them: of each
it is only asked that it is not proved.
"""

import pytest

from dtpoly.codegen.operation_spelling import TEXTS
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.kernels_by_hand import is_proved, judged, why
from tests.verify.texts import text_of, written

TILES = "f.block(x:64); f.tensorize(x:0); f.compile();"
PROGRAMS = {
    "unpacked": (
        "Func f, w; In W: u8, S; Var n; RVar k;"
        "w[n, k] = cast(W[n, k] >> 4 & 15, f32) * reshape(S[n], n, 1) + cast(W[n, k] & 15, f32);"
        "f[n] = rsum(w[n, k], k);"
        "w.inline(); f.block(n:16); f.tensorize(n:0, k:32); f.compile();"
    ),
    "data": (
        "Func f; In A: i32, B: i32; Var x;"
        f"f[x] = (A[x] >> B[x]) ^ (B[x] << A[x]) | A[x] // B[x]; {TILES}"
    ),
    "narrow": (
        "Func f; In A: i8, B: u8; Var x;"
        "f[x] = cast((A[x] << 3) >> 2, i32) + cast(~B[x] ^ (B[x] >> 1), i32)"
        f"+ cast(A[x] // 3, i32); {TILES}"
    ),
    "rounded": (
        "Func f: i8; In A; Var x; f[x] = cast(clamp(round(A[x] * 127), -128, 127), i8)"
        f"+ cast(trunc(A[x]), i8); {TILES}"
    ),
    "bools": f"Func f; In A: bool, B: bool; Var x; f[x] = (A[x] & ~B[x]) | (A[x] ^ B[x]); {TILES}",
    "indices": (
        f"Func f: i64; In A: i64; Var x;f[x] = A[x] & (x >> 2) | (x // 3 << 1) ^ x % 5; {TILES}"
    ),
    "long": (
        "Func f; In A: i64, B: i32; Var x;"
        f"f[x] = (A[x] * A[x] >> 7) + (cast(A[x], i32) & B[x]) + ((B[x] << 20) >> 20); {TILES}"
    ),
}
# What is done to which file: what is replaced, and by what; wherever it stands.
MUTANTS: dict[str, tuple[tuple[str, str], ...]] = {
    "unpacked": (
        (">> 4 & 15", ">> 4 & 7"),
        (">> 4 & 15", ">> 3 & 15"),
        (">> 4 & 15", ">> 5 & 15"),
        (">> 4 & 15", "<< 4 & 15"),
        (">> 4 & 15", "& 15"),
        (">> 4 & 15", ">> 4 | 15"),
        (">> 4 & 15", ">> 4 ^ 15"),
        (">> 4 & 15", ">> (4 & 15)"),
        ("(W_tile & 15)", "(W_tile & 14)"),
        ("(W_tile & 15)", "(W_tile & 31)"),
        ("(W_tile & 15)", "(W_tile | 15)"),
        ("(W_tile & 15)", "(W_tile ^ 15)"),
        ("(W_tile & 15)", "(W_tile >> 4)"),
        ("(W_tile & 15)", "(W_tile.to(tl.int8) >> 4 & 15)"),
        ("(W_tile & 15)", "(W_tile % 15)"),
        ("(W_tile & 15).to(tl.float32)", "(W_tile & 15).to(tl.int8, bitcast=True).to(tl.float16)"),
        ("(W_tile >> 4 & 15)", "(W_tile.to(tl.int8) >> 4)"),
    ),
    "data": (
        ("dt_shr(A_tile, B_tile)", "dt_shr(B_tile, A_tile)"),
        ("dt_shr(A_tile, B_tile)", "dt_shl(A_tile, B_tile)"),
        ("dt_shr(A_tile, B_tile)", "(A_tile >> B_tile)"),
        ("dt_shr(A_tile, B_tile)", "(A_tile >> (B_tile & 31))"),
        ("dt_shr(A_tile, B_tile)", "dt_shr(A_tile.to(tl.uint32), B_tile)"),
        ("dt_shr(A_tile, B_tile)", "dt_quotient(A_tile, B_tile)"),
        ("dt_shl(B_tile, A_tile)", "(B_tile << A_tile)"),
        ("dt_shl(B_tile, A_tile)", "dt_shl(A_tile, B_tile)"),
        ("dt_shl(B_tile, A_tile)", "dt_shl(B_tile, B_tile)"),
        ("dt_quotient(A_tile, B_tile)", "(A_tile // B_tile)"),
        ("dt_quotient(A_tile, B_tile)", "(A_tile // tl.where(B_tile == 0, 1, B_tile))"),
        ("dt_quotient(A_tile, B_tile)", "dt_quotient(B_tile, A_tile)"),
        ("dt_quotient(A_tile, B_tile)", "(A_tile / B_tile).to(tl.int32)"),
        (") ^ dt_shl", ") | dt_shl"),
        (") ^ dt_shl", ") & dt_shl"),
        (") | dt_quotient", ") + dt_quotient"),
        (") | dt_quotient", ") ^ dt_quotient"),
    ),
    "narrow": (
        ("A_tile << 3 >> 2", "A_tile << 1"),
        ("A_tile << 3 >> 2", "A_tile.to(tl.int32) << 3 >> 2"),
        ("A_tile << 3 >> 2", "A_tile << 2 >> 2"),
        ("A_tile << 3 >> 2", "A_tile << (3 >> 2)"),
        ("~B_tile", "-B_tile"),
        ("~B_tile", "~B_tile.to(tl.int8)"),
        ("~B_tile", "~B_tile.to(tl.int32)"),
        ("~B_tile", "(-1 - B_tile.to(tl.int32))"),
        ("^ B_tile >> 1", "^ B_tile.to(tl.int8) >> 1"),
        ("^ B_tile >> 1", "- B_tile >> 1"),
        ("tl.full((), 3, tl.int8)", "tl.full((), 4, tl.int8)"),
        ("dt_quotient(A_tile, tl.full((), 3, tl.int8))", "(A_tile // 3)"),
    ),
    "rounded": (
        ("dt_round(A_tile * 127.0)", "tl.floor(A_tile * 127.0)"),
        ("dt_round(A_tile * 127.0)", "tl.ceil(A_tile * 127.0)"),
        ("dt_round(A_tile * 127.0)", "tl.floor(A_tile * 127.0 + 0.5)"),
        ("dt_round(A_tile * 127.0)", "dt_trunc(A_tile * 127.0)"),
        ("dt_round(A_tile * 127.0)", "dt_round(A_tile) * 127.0"),
        ("dt_round(A_tile * 127.0)", "dt_round(A_tile * 128.0)"),
        ("dt_trunc(A_tile)", "tl.floor(A_tile)"),
        ("dt_trunc(A_tile)", "dt_round(A_tile)"),
    ),
    "bools": (
        ("A_tile & ~B_tile", "A_tile & B_tile"),
        ("A_tile & ~B_tile", "A_tile | ~B_tile"),
        ("A_tile & ~B_tile", "~A_tile & B_tile"),
        ("(A_tile != B_tile)", "(A_tile == B_tile)"),
        ("(A_tile != B_tile)", "(A_tile | B_tile)"),
    ),
    "indices": (
        ("x.to(tl.int64) >> 2", "x.to(tl.int64) >> 3"),
        ("x.to(tl.int64) >> 2", "x.to(tl.int32) >> 2"),
        ("x.to(tl.int64) >> 2", "x.to(tl.int64) << 2"),
        ("<< 1", "<< 2"),
        ("^ dt_mod_whole", "| dt_mod_whole"),
        ("A_tile &", "A_tile |"),
        ("tl.full((), 5, tl.int64)", "tl.full((), 6, tl.int64)"),
    ),
    "long": (
        ("A_tile * A_tile >> 7", "A_tile * (A_tile >> 7)"),
        ("A_tile * A_tile >> 7", "(A_tile >> 7) * (A_tile >> 7)"),
        ("A_tile * A_tile >> 7", "A_tile * A_tile >> 8"),
        ("B_tile << 20 >> 20", "B_tile"),
        ("B_tile << 20 >> 20", "B_tile.to(tl.int64) << 20 >> 20"),
        ("A_tile.to(tl.int32) & B_tile", "A_tile & B_tile"),
        ("A_tile.to(tl.int32) & B_tile", "A_tile.to(tl.int32) | B_tile"),
    ),
}
FUNCTIONS = ("dt_mod_whole", "dt_quotient", "dt_shl", "dt_shr", "dt_round", "dt_trunc")
# Changes in the functions that are known by their texts.
IN_FUNCTIONS = (
    ("dt_quotient", "(b == 0) | (b == -1)", "b == 0"),
    ("dt_quotient", "down - 1", "down"),
    ("dt_quotient", "(a < 0) != (divisor < 0)", "(a < 0) == (divisor < 0)"),
    ("dt_quotient", "b == -1, -a", "b == -1, a"),
    ("dt_mod_whole", "(rest < 0) != (b < 0)", "(rest < 0) == (b < 0)"),
    ("dt_mod_whole", "rest + b, rest", "rest, rest + b"),
    ("dt_shl", "b >= b", "b > b"),
    ("dt_shl", "(b < 0) | ", ""),
    ("dt_shr", "b >= b", "b > b"),
    ("dt_shr", "is_far, sign", "is_far, 0"),
    ("dt_round", "rest > 0.5", "rest >= 0.5"),
    ("dt_round", "-near", "near"),
    ("dt_trunc", "a < 0", "a > 0"),
)


def test_what_is_emitted_is_proved() -> None:
    for text in PROGRAMS.values():
        program = written(text)
        assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [(name, *one) for name, edits in MUTANTS.items() for one in edits],
)
def test_a_mistake_is_not_proved(name: str, old: str, new: str) -> None:
    program = written(PROGRAMS[name])
    text = text_of(program)
    assert old in text
    assert verify(program, text.replace(old, new)).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(("function", "old", "new"), IN_FUNCTIONS)
def test_a_mistake_in_a_function_is_not_proved(function: str, old: str, new: str) -> None:
    for text in PROGRAMS.values():
        program = written(text)
        if f"{function}(" not in (emitted := text_of(program)):
            continue
        assert old in TEXTS[function]
        edited = emitted.replace(TEXTS[function], TEXTS[function].replace(old, new))
        assert edited != emitted
        assert verify(program, edited).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("new", ["b == 0", "b == -1"])
def test_a_divisor_that_is_data_needs_its_guard(new: str) -> None:
    """Of a written divisor that is neither 0 nor -1, a function without the guard is right, too."""
    program = written(
        "Func f: i64; In A: i64, B: i64; Var x; f[x] = A[x] % B[x];"
        " f.block(x:64); f.tensorize(x:0); f.compile();"
    )
    own, emitted = TEXTS["dt_mod_whole"], text_of(program)
    edited = emitted.replace(own, own.replace("(b == 0) | (b == -1)", new))
    assert edited != emitted
    assert verify(program, emitted).verdict is LayerVerdict.PROVED
    assert verify(program, edited).verdict is not LayerVerdict.PROVED


BESIDE = [
    ("i8", "cast(X[i], i32) & 255", "(x & 255).to(tl.int32)"),
    ("i8", "cast(X[i], i32) | 128", "(128 | x).to(tl.int32)"),
    ("u8", "cast(X[i], i32) | 256", "(x | 256).to(tl.int32)"),
    ("i16", "cast(X[i], i32) ^ 65535", "(x ^ 65535).to(tl.int32)"),
    ("i8", "cast(X[i], i32) >> 8", "(x >> 8).to(tl.int32)"),
    ("u8", "~cast(X[i], i32)", "(~x).to(tl.int32)"),
    ("u8", "cast(X[i], i32) << 4", "(x << 4).to(tl.int32)"),
    ("i32", "cast(X[i], i64) << 4", "(x << 4).to(tl.int64)"),
    ("i32", "cast(X[i] * 3, i64) >> 1", "((x.to(tl.int64) * 3) >> 1)"),
    ("i32", "(X[i] * 3) >> 1", "((x.to(tl.int64) * 3) >> 1).to(tl.int32)"),
    ("i8", "X[i] >> 1", "(x.to(tl.uint8) >> 1).to(tl.int8)"),
    ("u8", "X[i] >> 1", "(x.to(tl.int8) >> 1).to(tl.uint8)"),
    ("i32", "X[i] // 2", "x // 2"),
    ("i32", "X[i] // 2", "x >> 2"),
    ("i32", "X[i] % 8", "x & 7"),
    ("i32", "X[i] % 8", "x % 8"),
]


@pytest.mark.parametrize(("dtype", "meant", "stored"), BESIDE)
def test_what_is_like_it_by_hand_is_not_proved(dtype: str, meant: str, stored: str) -> None:
    """Types that do not hold a value, signs that differ, and what is right but not read."""
    report = judged(meant, f"tl.store(out + i, {stored}, mask=m)", dtype=dtype)
    assert not is_proved(report)


RIGHT = [
    ("i8", "cast(X[i] & 127, i32)", "(x & 127).to(tl.int32)"),
    ("u8", "X[i] >> 4 | X[i] << 4", "(x << 4) | (x >> 4)"),
    ("i32", "(X[i] * 3) >> 1", "(x * 3) >> 1"),
    ("i64", "~X[i] & 255", "~x & 255"),
    ("bool", "X[i] ^ not X[i]", "x ^ (~x)"),
]


@pytest.mark.parametrize(("dtype", "meant", "stored"), RIGHT)
def test_bits_by_hand_are_read(dtype: str, meant: str, stored: str) -> None:
    report = judged(meant, f"tl.store(out + i, {stored}, mask=m)", dtype=dtype)
    assert is_proved(report), why(report)


def test_there_are_many() -> None:
    assert sum(map(len, MUTANTS.values())) + len(IN_FUNCTIONS) >= 80
