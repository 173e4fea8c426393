"""Emitted kernels whose types were changed: what Triton computes then is not what is asked for."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

SUM = "Func f; In A: {0}; Var x; RVar y; f[x] = rsum(A[x, y], y);"
TILE = "f.block(x:4); f.tensorize(x:0, y:0); f.compile();"
HALVES = written(f"{SUM.format('f16')} {TILE}")
WIDE = written(f"{SUM.format('f32')} f.block(x:4); f.tensorize(x:0, y:16); f.compile();")
BYTES = written(
    f"Func f; In A: i8; Var x; RVar y;f[x] = cast(rmax(A[x, y], y) + rmax(A[x, y], y), i32); {TILE}"
)
QUOTIENT = written(
    "Func f; In A: f16, B: f16; Var x;"
    "f[x] = cast(cast(A[x] / B[x], f16), f32) * 3.0; f.block(x:16); f.tensorize(x:0); f.compile();"
)
BRAINS = written(
    f"Func f; In A: bf16; Var x; RVar y;f[x] = cast(cast(rsum(A[x, y], y), bf16), f32); {TILE}"
)
TWO = written(
    "Func f; In A: f16, B: f16; Var x;"
    "f[x] = cast(A[x] + B[x], f32) * 3.0; f.block(x:16); f.tensorize(x:0); f.compile();"
)
SMALL = written(
    "Func f; In A: i8, B: i8; Var x;"
    "f[x] = cast(A[x] * B[x], i32); f.block(x:16); f.tensorize(x:0); f.compile();"
)
WIDER = ").to(tl.float32)"
STORE = "    tl.store(f_ptr + x * f_stride_0, f_sum, mask=x_mask)"


@pytest.mark.long
def test_what_is_emitted_is_proved() -> None:
    for program in (HALVES, WIDE, BYTES, QUOTIENT, BRAINS, TWO, SMALL):
        assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


# What is done to which file: pairs of what is replaced, and by what.
Edits = tuple[tuple[str, str], ...]
FIRST = "@triton.jit\ndef f_kernel"
ADDED = "@triton.jit\ndef added(a, b):\n    return a + b\n\n\n"
BARE = (WIDER, ")")
BEFORE = "f_sum = tl.sum(f_acc, 1)"


def sums(text: str) -> tuple[str, str]:
    return (BEFORE, f"f_sum = {text}")


# Sums in narrow floats: each step is rounded, in an order that is Triton's affair.
NARROW: dict[str, tuple[Program, Edits]] = {
    "a sum of f16 adds in f16": (HALVES, (BARE,)),
    "a sum of bf16 adds in bf16": (BRAINS, (BARE,)),
    "narrowed just before": (HALVES, (sums("tl.sum(f_acc.to(tl.float16), 1)"),)),
    "by a function of the file": (
        HALVES,
        (BARE, sums("tl.reduce(f_acc, 1, added)"), (FIRST, ADDED + FIRST)),
    ),
    "brains in a sum of halves": (HALVES, (sums("tl.sum(f_acc.to(tl.bfloat16), 1)"),)),
    "halves in a sum of 32 bits": (WIDE, (sums("tl.sum(f_acc.to(tl.float16), 1)"),)),
    "halves where they are loaded": (
        HALVES,
        (("f_acc = A_tile", "f_acc = A_tile.to(tl.float16)"),),
    ),
    "halves beside a constant": (HALVES, (BARE, ("f_acc = A_tile", "f_acc = A_tile * 1.0"))),
    "halves that are chosen": (
        HALVES,
        (BARE, ("f_acc = A_tile", "f_acc = tl.where(y_mask[None, :], A_tile, 0.0)")),
    ),
    "halves that are the larger ones": (
        HALVES,
        (BARE, ("f_acc = A_tile", "f_acc = tl.maximum(A_tile, A_tile)")),
    ),
    "added to halves before": (HALVES, (BARE, sums("tl.sum(f_acc * 0.5 + f_acc * 0.5, 1)"))),
}
OTHER: dict[str, tuple[Program, Edits]] = {
    "a quotient of f16 is one of f32": (
        QUOTIENT,
        (BARE, BARE, ("(A_tile / B_tile).to(tl.float16)", "(A_tile / B_tile)")),
    ),
    "a remainder of f16 is one of f32": (
        QUOTIENT,
        (BARE, BARE, ("(A_tile / B_tile).to(tl.float16)", "(A_tile % B_tile)")),
    ),
    "a largest of bytes has 32 bits": (
        BYTES,
        (("tl.reduce(f_acc, 1, dt_max)", "tl.max(f_acc, 1)"),),
    ),
    "both largest of bytes have 32 bits": (
        BYTES,
        (
            ("tl.reduce(f_acc, 1, dt_max)", "tl.max(f_acc, 1)"),
            ("tl.reduce(f_acc_2, 1, dt_max)", "tl.max(f_acc_2, 1)"),
        ),
    ),
    "bytes beside 32 bits": (SMALL, (("A_tile * B_tile", "A_tile * B_tile.to(tl.int32)"),)),
    "bytes beside 16 bits": (SMALL, (("A_tile * B_tile", "A_tile.to(tl.int16) * B_tile"),)),
    "bytes and chosen constants": (
        SMALL,
        (("A_tile * B_tile", "A_tile * B_tile * tl.where(x_mask, 1, 1)"),),
    ),
    "bytes beside what is made of a constant": (
        SMALL,
        (("A_tile * B_tile", "A_tile * B_tile + tl.full((16,), 0, tl.int32)"),),
    ),
    "bytes without signs": (SMALL, (("(A_tile * B_tile)", "(A_tile * B_tile.to(tl.uint8))"),)),
    "halves in a product": (TWO, (BARE, BARE, ("(A_tile + B_tile)", "(A_tile * B_tile)"))),
    "the sum of one half and a half of a constant": (
        TWO,
        (BARE, BARE, ("A_tile + B_tile", "A_tile + 0.1 + B_tile")),
    ),
}


def edited(program: Program, edits: Edits) -> str:
    text = text_of(program)
    for old, new in edits:
        text = changed(text, old, new)
    return text


@pytest.mark.sampled
@pytest.mark.parametrize("name", NARROW)
def test_a_sum_that_is_rounded_at_each_step_is_not_proved(name: str) -> None:
    program, edits = NARROW[name]
    report = verify(program, edited(program, edits))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", OTHER)
def test_another_type_is_not_proved(name: str) -> None:
    program, edits = OTHER[name]
    report = verify(program, edited(program, edits))
    assert report.verdict is not LayerVerdict.PROVED


def branch(test: str) -> Edits:
    """A kernel that stores something else where a test is true."""
    wrong = STORE.replace("f_sum", "f_sum * 0.0").replace("    tl", "        tl")
    right = STORE.replace("    tl", "        tl")
    return ((STORE, f"    if {test}:\n{wrong}\n    else:\n{right}"),)


# Constants are computed by Python: `~True` is -2, which is true.
TRUE_ALWAYS = (
    *("~even", "~fours", "~(not even)", "~(1 == 2)", "~(x_size == 1)", "~(y_size > x_size)"),
    *("-even - 1", "~(even and fours)", "~(even or fours)", "~even | ~fours", "~(~even + 1)"),
    *("even + 1", "~(even & fours)", "1 - ~even", "not not ~even", "2 and 1"),
)


@pytest.mark.sampled
@pytest.mark.parametrize("test", TRUE_ALWAYS)
def test_what_python_makes_of_a_constant_is_true(test: str) -> None:
    assert verify(WIDE, edited(WIDE, branch(test))).verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize(
    "test", ["not even and even", "~even == 0", "even and not even", "~0 == 0"]
)
def test_a_branch_that_is_never_taken_is_proved(test: str) -> None:
    assert verify(WIDE, edited(WIDE, branch(test))).verdict is LayerVerdict.PROVED


# A name that is set to a constant is a tensor, and the constant in the interpreter.
PID = "    pid = tl.program_id(0)"
NAMED: dict[str, tuple[Program, Edits]] = {
    "a truth": (WIDE, ((PID, f"    flag = even\n{PID}"), *branch("~flag"))),
    "two truths": (WIDE, ((PID, f"    flag = even and fours\n{PID}"), *branch("~flag"))),
    "a comparison": (WIDE, ((PID, f"    flag = 1 == 2\n{PID}"), *branch("~flag"))),
    "a number beside bytes": (
        SMALL,
        ((PID, f"    one = 1\n{PID}"), ("A_tile * B_tile", "A_tile * B_tile * one")),
    ),
    "a number beside halves": (
        HALVES,
        ((PID, f"    one = 1.0\n{PID}"), BARE, ("f_acc = A_tile", "f_acc = A_tile * one")),
    ),
    "a number that grows": (
        SMALL,
        ((PID, f"    one = 0\n    one += 1\n{PID}"), ("A_tile * B_tile", "A_tile * B_tile * one")),
    ),
    "a number of a function": (
        SMALL,
        (
            (FIRST, "@triton.jit\ndef one():\n    return 1\n\n\n" + FIRST),
            ("A_tile * B_tile", "A_tile * B_tile * one()"),
        ),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", NAMED)
def test_a_name_is_a_tensor_or_a_constant(name: str) -> None:
    program, edits = NAMED[name]
    assert verify(program, edited(program, edits)).verdict is not LayerVerdict.PROVED


def test_a_sum_of_all_axes_is_not_that_of_a_row() -> None:
    report = verify(WIDE, edited(WIDE, (sums("tl.sum(f_acc)"),)))
    assert report.verdict is LayerVerdict.REFUTED
