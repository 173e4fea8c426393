"""Tests texts that must never be proved: each is a way in which a proof could be wrong."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.texts import changed, text_of, written

SUM = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();")
MAX = written("Func f; In A; Var x; RVar k; f[x] = rmax(A[x, k], k); f.compile();")
WHERE = written("Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.compile();")
TWO = written("Func g, f; In A; Var x; g[x] = 2 * A[x]; f[x] = exp(g[x]); f.compile();")
TILES = written("Func f; In A, B; Var x; f[x] = A[x] * B[x]; f.tensorize(x:8); f.compile();")
BLOCKS = written("Func f; In A; Var x; f[x] = A[x]; f.block(x:8); f.tensorize(x:0); f.compile();")
SHIFTED = written("Func f; In A; Var x; f[x] = A[x + 1]; f.compile();")

LOOP = """\
        for k_start in tl.range(0, k_size):
            k = tl.cast(k_start, offset)
            A_value = tl.load(A_at_x + k * A_stride_1).to(real)
            f_acc += A_value
"""
LOAD = "A_value = tl.load(A_at_x + k * A_stride_1).to(real)"
STORE = "        tl.store(f_ptr + x * f_stride_0, f_acc)\n"


@pytest.mark.parametrize("program", [SUM, MAX, WHERE, TWO, TILES, BLOCKS, SHIFTED])
def test_without_a_mistake_it_is_proved(program: Program) -> None:
    assert verify(program, text_of(program)).verdict is Verdict.PROVED


# What is done to which text: what is replaced by what.
WRONG: dict[str, tuple[Program, str, str]] = {
    "a step that grows is taken for one that does not": (
        *(
            SUM,
            LOOP,
            """\
        i = x * 0
        j = x * 0
        for k_start in tl.range(0, k_size):
            i = i + j
            j = j + 1
            f_acc += tl.load(A_at_x + i * A_stride_1).to(real)
""",
        ),
    ),
    "an address that moves by more each time": (
        *(
            SUM,
            LOOP,
            """\
        at = A_at_x
        for k_start in tl.range(0, k_size):
            f_acc += tl.load(at).to(real)
            at = at + k_start * A_stride_1
""",
        ),
    ),
    "the counter of a loop after it": (*(SUM, STORE, STORE.replace("x *", "k_start *")),),
    "a value of the iteration after the loop": (*(SUM, STORE, STORE.replace("f_acc", "A_value")),),
    "what is carried is stored in the loop": (
        *(
            SUM,
            "            f_acc += A_value\n        tl.store",
            "            f_acc += A_value\n            tl.store",
        ),
    ),
    "the sum is doubled in each iteration": (
        *(SUM, "f_acc += A_value", "f_acc += f_acc + A_value"),
    ),
    "every other element": (*(SUM, "range(0, k_size)", "range(0, k_size, 2)"),),
    "the first element is left out": (*(SUM, "range(0, k_size)", "range(1, k_size)"),),
    "an element is summed twice": (
        *(SUM, "f_acc += A_value", "f_acc += A_value\n            f_acc += A_value"),
    ),
    "a nan is dropped": (*(MAX, ", tl.PropagateNan.ALL", ""),),
    "a maximum starts with 0": (*(MAX, 'float("-inf")', "0.0"),),
    "the place is not that of the value": (
        *(
            WHERE,
            "f_acc, f_at = dt_argmax(f_acc, f_at, A_value, tl.cast(k, tl.int64))",
            "f_acc, other = dt_argmax(f_acc, f_at, A_value, tl.cast(k, tl.int64))\n"
            "            f_at = tl.cast(k, tl.int64)",
        ),
    ),
    "value and place are exchanged": (
        *(WHERE, "f_acc, f_at = dt_argmax(f_acc, f_at,", "f_at, f_acc = dt_argmax(f_acc, f_at,"),
    ),
    "the last of equals is taken": (*(WHERE, "(is_same & (j < i))", "(is_same & (j > i))"),),
    "what is loaded is rounded": (*(SUM, LOAD, LOAD.replace("(real)", "(tl.float16).to(real)")),),
    "what is summed is of fewer bits": (
        *(SUM, "f_acc += A_value", "f_acc = (f_acc + A_value).to(tl.float16).to(real)"),
    ),
    "it is computed in the type of the input": (*(SUM, LOAD, LOAD.replace(".to(real)", " * 1.0")),),
    "the result is of another type": (
        *(SUM, "dtype=A.dtype, device=device", "dtype=torch.float16, device=device"),
    ),
    "what the type of the sum depends on is left out": (
        *(TILES, "real = dt_real(A.dtype, B.dtype)", "real = dt_real(A.dtype)"),
    ),
    "the input is overwritten": (
        *(
            SUM,
            "tl.store(f_ptr + x * f_stride_0, f_acc)",
            "tl.store(f_ptr + x * f_stride_0, f_acc)\n        tl.store(A_at_x, f_acc)",
        ),
    ),
    "a quotient of a negative number": (
        *(
            SHIFTED,
            "x = tl.cast(x_start, offset)",
            "x = tl.cast((x_start - 1) // 2 * 0 + x_start, offset)",
        ),
    ),
    "nothing is stored where an input is empty": (
        *(SUM, "    if not out.numel():", "    if not A.numel():"),
    ),
    "nothing is launched where there is nothing to sum": (
        *(
            SUM,
            "    f_launch(\n        (1,),",
            "    if k_size:\n     f_launch(\n        (1,),",
        ),
    ),
    "a kernel is not launched": (
        *(TWO, "    g_launch(", "    (lambda *a, **k: None) or g_launch("),
    ),
    "another kernel is launched": (*(TWO, "dt_launcher(f_kernel,", "dt_launcher(g_kernel,"),),
    "something else launches": (*(SUM, "    f_launch(", "    f_launch = print\n    f_launch("),),
    "a launcher is told of fewer tensors": (
        *(TILES, '["x_size", "x_size", "x_size"]', '["x_size", "x_size"]'),
    ),
    "a launcher is told of other axes": (
        *(TILES, '["x_size", "x_size", "x_size"]', '["x_size x_size", "", "x_size"]'),
    ),
    "lanes are left out where a launcher says no more than that a block is not whole": (
        *(BLOCKS, "(x < x_size) | even", "(x < x_size) & ((x_size % 8 != 0) | even)"),
    ),
    "another rank is asked for": (SUM, 'dt_check("A", A, 2,', 'dt_check("A", A, 3,'),
    "no type is asked for": (TILES, '    dt_check("B", B, 1, dt_floats, device)\n', ""),
    "an input is aliased by a name": (*(TILES, "    real =", "    A = B\n    real ="),),
    "a shape that disagrees is let through": (
        *(TILES, "    if B.shape", "    if False and B.shape"),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    assert verify(program, changed(text_of(program), old, new)).verdict is not Verdict.PROVED


# A text that says the same in other words is no mistake.
ALIKE: dict[str, tuple[Program, str, str]] = {
    "operands in another order": (*(SUM, "f_acc += A_value", "f_acc = A_value + f_acc"),),
    "an address that moves": (
        *(
            SUM,
            LOOP,
            """\
        at = A_at_x
        for k_start in tl.range(0, k_size):
            f_acc += tl.load(at).to(real)
            at += A_stride_1
""",
        ),
    ),
    "even and odd elements": (
        *(
            SUM,
            LOOP,
            """\
        for k_start in tl.range(0, k_size, 2):
            f_acc += tl.load(A_at_x + tl.cast(k_start, offset) * A_stride_1).to(real)
        for k_start in tl.range(1, k_size, 2):
            f_acc += tl.load(A_at_x + tl.cast(k_start, offset) * A_stride_1).to(real)
""",
        ),
    ),
}


@pytest.mark.parametrize("name", ALIKE)
def test_other_words_are_proved(name: str) -> None:
    program, old, new = ALIKE[name]
    report = verify(program, changed(text_of(program), old, new))
    assert report.verdict is Verdict.PROVED, report.layers


@pytest.mark.parametrize(
    "text",
    [
        "",
        "f(",
        "import os",
        "def f(A):\n    pass",
        "\0",
        "x = " + "-" * 3000 + "1",
        "@triton.jit\ndef f(): pass",
        "def f(A, *, out=None):\n    return A",
    ],
)
def test_any_text_has_an_answer(text: str) -> None:
    assert verify(SUM, text).verdict is Verdict.UNKNOWN


def test_a_text_cut_anywhere_has_an_answer() -> None:
    text = text_of(SUM)
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("def f_kernel"))
    for end in range(at, at + 40):
        cut = "".join(lines[:end] + lines[end + 1 :])
        assert verify(SUM, cut).verdict in Verdict


def test_no_time_is_not_proved() -> None:
    report = verify(SUM, text_of(SUM), seconds=0.0)
    assert report.verdict is Verdict.UNKNOWN
    assert "it takes too long" in {layer.why for layer in report.layers}
