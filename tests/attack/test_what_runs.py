"""Tests that what is read also runs, whatever Triton refuses in some version or for some types."""

import pytest

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.triton.typed_operations import meaning
from tests.attack.case import Case, Given
from tests.attack.generating import algorithm_of
from tests.attack.reading import read

TENSORS = (Given("A", "f32", ("i",), False), Given("out", "f32", ("i",), True))
DOT = "tl.dot(m, m, {acc}out_dtype={out}, input_precision='ieee')"


def case_with(before: str, value: str, algorithm: str = "") -> Case:
    """Return a kernel that stores a value; `before` is what it does first."""
    text = f"""import triton
import triton.language as tl

# verify: kernel[(1,)](A, out, len(i), FLAG=True)


@triton.jit
def kernel(a_ptr, o_ptr, n, FLAG: tl.constexpr):
    at = tl.arange(0, 16)
    x = tl.load(a_ptr + at, mask=at < n, other=0.0)
    {before}
    tl.store(o_ptr + at, {value}, mask=at < n)
"""
    return Case(text, algorithm or algorithm_of([*TENSORS], {}), TENSORS, {}, ())


NOTHING = "pass"
ACCUMULATED = "acc = x * 0\n    for k in range(0, n, 4):\n        acc += x * {}"
REFUSED = {
    "a size may be 1, which is a constant": (NOTHING, "x * n.to(tl.float32)"),
    "a truth of sizes may be one of Python's": (NOTHING, "x * (n > 3).to(tl.float32)"),
    "a constant is a number of Python's": (NOTHING, "x * (FLAG & FLAG).to(tl.float32)"),
    "a counter is a number in the interpreter": (ACCUMULATED.format("k.to(tl.float32)"), "acc"),
    "methods of functions come with 3.9": (NOTHING, "x.exp()"),
    "another one of them": (NOTHING, "(x * 2).sqrt()"),
}
READ = {
    "a size is cast by its function": (NOTHING, "x * tl.cast(n, tl.float32)"),
    "a truth of sizes, too": (NOTHING, "x * tl.cast(n > 3, tl.int32)"),
    "a program id is a tensor": (NOTHING, "x * tl.program_id(0).to(tl.float32)"),
    "tiles have methods": (NOTHING, "x.to(tl.float64).to(tl.float32)"),
    "a counter is cast by its function": (
        ACCUMULATED.format("tl.cast(k, tl.float32)"),
        "acc",
    ),
    "lanes beside a counter are a tensor": (
        ACCUMULATED.format("(k + at).to(tl.float32)"),
        "acc",
    ),
    "a counter that was cast": (
        "acc = x * 0\n    for k in range(0, n, 4):\n        j = tl.cast(k, tl.int64)\n"
        "        acc += x * j.to(tl.float32)",
        "acc",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_not_read(name: str) -> None:
    with pytest.raises(Unread, match="write tl"):
        read(case_with(*REFUSED[name]))


@pytest.mark.parametrize("name", READ)
def test_it_is_read(name: str) -> None:
    read(case_with(*READ[name]))


def loaded(other: str, declared: str) -> Case:
    """Return a kernel whose input has a declared type, or any type of floats."""
    algorithm = f"In A{declared};\nFunc out;\nRVar i;\nout[i] = A[i];\n"
    case = case_with(NOTHING, "x.to(tl.float32)", algorithm)
    text = case.text.replace("other=0.0", f"other={other}")
    return Case(text, algorithm, TENSORS, {}, ())


@pytest.mark.parametrize("declared", [": f8e4m3", ": f8e5m2"])
@pytest.mark.parametrize("other", ["0", "n", "True"])
def test_a_whole_number_is_not_put_beside_floats_of_8_bits(other: str, declared: str) -> None:
    with pytest.raises(Unread, match="which Triton refuses"):
        read(loaded(other, declared))


def test_nor_where_callers_may_give_floats_of_8_bits() -> None:
    given = kinds.stored(frozenset(("A",)))
    with pytest.raises(Unread, match="which Triton refuses"):
        meaning("load other", (given, "int"), 1)
    assert meaning("load other", (given, "float"), 1).kind == given


def test_a_type_that_holds_no_floats_is_not_known() -> None:
    given = kinds.stored(frozenset(("A", "tl.int32")))
    with pytest.raises(Unread, match="of which a type is not known"):
        meaning("store", (given, "tl.float32"), 1)


@pytest.mark.parametrize("declared", [": f32", ": f16"])
@pytest.mark.parametrize("other", ["0", "n", "True"])
def test_a_whole_number_is_put_beside_other_floats(other: str, declared: str) -> None:
    read(loaded(other, declared))


def product(out: str, acc: str) -> Case:
    """Return a product of matrices, onto something."""
    tensors = (Given("A", "f32", ("i", "j"), False), Given("out", "f32", ("i", "j"), True))
    text = f"""import triton
import triton.language as tl

# verify: kernel[(1,)](A, out, len(j))
# assume: len(i) == 16, len(j) == 16


@triton.jit
def kernel(a_ptr, o_ptr, n):
    at = tl.arange(0, 16)
    m = tl.load(a_ptr + at[:, None] * n + at[None, :])
    acc = tl.zeros((16, 16), dtype=tl.float32)
    tl.store(o_ptr + at[:, None] * n + at[None, :], {DOT.format(acc=acc, out=out)})
"""
    return Case(text, algorithm_of([*tensors], {}), tensors, {}, ())


def test_a_product_has_the_type_of_what_it_is_added_to() -> None:
    read(product("tl.float32", "acc, "))
    with pytest.raises(Unread, match="Triton refuses it"):
        read(product("tl.float16", "acc, "))
