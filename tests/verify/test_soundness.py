"""Tests texts that must never be proved: each is a way in which a proof could be wrong."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof.verify import LayerVerdict, verify
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
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


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
    "the result is of another type": (*(SUM, '("x",), "dtype": "A"}', '("x",), "dtype": "f16"}'),),
    "what the type of the sum depends on is left out": (*(TILES, '"real(A, B)"', '"real(A)"'),),
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
    "nothing is launched where there is nothing to sum": (
        *(SUM, '"func": "f",', '"func": "f", "programs": ("min(k, 1)",),'),
    ),
    "a kernel is not launched": (*(TWO, '"func": "g",', '"func": "g", "programs": ("0",),'),),
    "another kernel is launched": (
        *(
            TWO,
            "dt_function(f_plan, g_kernel, f_kernel)",
            "dt_function(f_plan, f_kernel, g_kernel)",
        ),
    ),
    "a kernel is launched twice": (*(TWO, '"kernel": "f_kernel"', '"kernel": "g_kernel"'),),
    "something else launches": (
        *(SUM, "f = dt_function(", "dt_function = print\nf = dt_function("),
    ),
    "the runtime is told of fewer tensors": (
        *(TILES, '"A": "x_size", "B": "x_size", ', '"A": "x_size", '),
    ),
    "the runtime is told of other axes": (
        *(TILES, '"A": "x_size", "B": "x_size"', '"A": "x_size x_size", "B": ""'),
    ),
    "lanes are left out where the runtime says no more than that a block is not whole": (
        *(BLOCKS, "(x < x_size) | even", "(x < x_size) & ((x_size % 8 != 0) | even)"),
    ),
    "another rank is asked for": (SUM, '"A": ("float", 2)', '"A": ("float", 3)'),
    "another type is asked for": (TILES, '"B": ("float", 1)', '"B": ("i32", 1)'),
    "no type is asked for": (TILES, '"B": ("float", 1)', '"B": "unread"'),
    "an input is another": (
        *(TILES, '"A": "x_size", "B": "x_size"', '"B": "x_size", "B": "x_size"'),
    ),
    "a shape that disagrees is let through": (
        *(TILES, '    "demands": [{"shape": "B", "is": ("x",)}],\n', ""),
    ),
    "a shape that disagrees otherwise is let through": (
        *(TILES, '{"shape": "B", "is": ("x",)}', '{"shape": "A", "is": ("x",)}'),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_it_is_not_proved(name: str) -> None:
    program, old, new = WRONG[name]
    assert verify(program, changed(text_of(program), old, new)).verdict is not LayerVerdict.PROVED


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
    assert report.verdict is LayerVerdict.PROVED, report.layers


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
    assert verify(SUM, text).verdict is LayerVerdict.UNKNOWN


@pytest.mark.long
def test_a_text_cut_anywhere_has_an_answer() -> None:
    text = text_of(SUM)
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("def f_kernel"))
    for end in range(at, at + 40):
        cut = "".join(lines[:end] + lines[end + 1 :])
        assert verify(SUM, cut).verdict in LayerVerdict


def test_no_time_is_not_proved() -> None:
    report = verify(SUM, text_of(SUM), seconds=0.0)
    assert report.verdict is LayerVerdict.UNKNOWN
    assert "it takes too long" in {layer.why for layer in report.layers}
