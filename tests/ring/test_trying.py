"""Running in the ring: what differs, what reaches outside, what races, what does not run."""

import time
from collections.abc import Mapping
from math import prod

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.ring.interpreter import in_ring
from dtpoly.ring.small_sizes import few_sizes
from dtpoly.ring.trying import Equal, NotRun, WrongTrial, tried
from tests.verify.texts import ROOT, changed, program_of, text_of, written

SUM = written("Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.compile();")
SWISH = program_of(ROOT / "tests/data/thesis/listing_3_14_swish_partly_fused.dt")
LOAD = "A_value = tl.load(A_at_x + k * A_stride_1).to(real)"
BARRIER = "            tl.debug_barrier()\n            tl.store"

# What is done to which function, and what is told of it.
WRONG: dict[str, tuple[Program, str, str, str]] = {
    "an element is summed twice": (
        *(SUM, "f_acc += A_value", "f_acc += A_value + A_value"),
        "1 elements are others, first f[0]",
    ),
    "a stride is missing": (*(SUM, "k * A_stride_1", "k"), "read outside of every tensor"),
    "a stride is halved": (
        *(SUM, "x * A_stride_0", "x * (A_stride_0 // 2)"),
        "elements are others, first f[1]",
    ),
    "it goes on too long": (
        *(SUM, "tl.range(0, k_size)", "tl.range(0, k_size + 1)"),
        "read outside of every tensor",
    ),
    "it stores to an input": (
        *(SUM, "tl.store(f_ptr +", "tl.store(A_ptr +"),
        "written outside of every tensor",
    ),
    "it stores nothing": (
        *(SUM, "tl.store(f_ptr + x * f_stride_0, f_acc)", "pass"),
        "1 elements are others, first f[0]",
    ),
    "a barrier is missing": (*(SWISH, BARRIER, "            tl.store"), "nothing orders the two"),
    "the result has another shape": (
        *(SUM, '"f": {"shape": ("x",)', '"f": {"shape": ("x + 1",)'),
        "1 elements are others, first f[0]",
    ),
}


def run(program: Program, text: str) -> Equal | WrongTrial | NotRun:
    return tried(program, text, program.funcs[-1].name, 60)


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_is_seen(name: str) -> None:
    program, old, new, what = WRONG[name]
    found = run(program, changed(text_of(program), old, new))
    assert isinstance(found, WrongTrial)
    assert what in found.what
    assert dict(found.sizes)


def test_what_is_right_is_equal_at_all_sizes() -> None:
    begun: list[Mapping[str, int]] = []
    found = tried(SUM, text_of(SUM), "f", 5, [{"x": 9, "k": 1}, {"x": 1, "k": 2**31}], begun.append)
    assert found == Equal(tuple(begun))
    assert len(begun) == 7
    assert begun[-1] == {"x": 9, "k": 1}


def test_the_logarithm_of_no_element_is_infinite() -> None:
    """A running maximum begins with a number, and the algorithm's with -inf: the sum is 0."""
    given = written(
        "Func f, top; In A; Var x; RVar k in [0, x); top[x] = rmax(A[k], k);"
        "f[x] = log(rsum(exp(A[k] - reshape(top[x], x, 1)), k)) + top[x];"
        "top.online(f, k); f.block(x:1); f.tensorize(k:4); f.compile();"
    )
    assert isinstance(run(given, text_of(given)), Equal)


def test_the_line_is_that_of_the_file() -> None:
    program = program_of(ROOT / "examples/softmax.dt")
    text = changed(text_of(program), "y_mask = y < y_size", "y_mask = y < y_size + 1")
    found = run(program, text)
    assert isinstance(found, WrongTrial)
    assert "A_tile = tl.load(" in text.splitlines()[found.line - 1]


@pytest.mark.parametrize("new", ["no_such_name", "tl.sum(k_size, 7)"])
def test_what_does_not_run_says_so(new: str) -> None:
    found = run(SUM, changed(text_of(SUM), LOAD, f"A_value = {new}"))
    assert isinstance(found, NotRun)
    assert found.why.startswith("it does not run at x = 1, k = 1: ")


@pytest.mark.long
def test_a_comparison_as_a_float() -> None:
    program = written("Func f; Var x; In A; f[x] = cast(A[x] != 2.0, f32) * A[x]; f.compile();")
    assert isinstance(run(program, text_of(program)), Equal)


def test_a_whole_number_that_a_float_rounds() -> None:
    text = "Func f; Var x; In A; f[x] = where(A[x] > 0, A[x], 9223372036854775807); f.compile();"
    program = written(text)
    assert run(program, text_of(program)) == NotRun(
        "the ring has no words for a whole number that a float rounds"
    )


def test_a_program_without_words_in_the_ring() -> None:
    program = written("Func f; Var x; In A; f[x] = A[x] + program_id(0); f.compile();")
    assert run(program, text_of(program)) == NotRun("the ring has no words for program_id")


def test_lines_stay_where_they_are() -> None:
    program = program_of(ROOT / "tests/data/thesis/listing_4_01_geglu.dt")
    text = text_of(program)
    made = in_ring(text)
    assert made.count("\n") == text.count("\n")
    for one, other in zip(text.splitlines(), made.splitlines(), strict=True):
        assert one.startswith(("def ", "@")) is other.startswith(("def ", "@"))


ALIKE = "Func f; In A, W; Var x, y; f[x, y] = A[x, y] + reshape(W[x], x, 1) + W[y]; f.compile();"


@pytest.mark.long
def test_labels_of_one_size_are_not_both_large() -> None:
    """Of a block of 1024 rows there would be a million elements, one after another."""
    program = written(f"{ALIKE} f.block(x:1024);")
    found = run(program, text_of(program))
    assert isinstance(found, Equal)
    assert max(sizes["x"] for sizes in found.sizes) < 100


def test_sizes_that_no_call_has_say_nothing() -> None:
    program = written(ALIKE)
    found = tried(program, text_of(program), "f", 5, [{"x": 2, "y": 3}])
    assert isinstance(found, Equal)
    assert {"x": 2, "y": 3} not in found.sizes


def test_a_run_that_takes_long_is_stopped() -> None:
    text = (
        "Func f, t; In A; Var x, y; RVar k; t[x, y] = rsum(A[x, y, k], k); f[x, y] = t[x, y] + 1;"
        "f.block(x:64, y:64); t.block(x:64, y:64); f.compile();"
    )
    program = written(text)
    began = time.thread_time()
    found = tried(program, text_of(program), "f", 0.5)
    assert time.thread_time() - began < 10
    assert isinstance(found, Equal)
    largest = max(prod(one.values()) for one in found.sizes)
    assert largest < max(prod(one.values()) for one in few_sizes(program))
