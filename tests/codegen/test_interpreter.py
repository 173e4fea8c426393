"""Tests what generated files correct in Triton's interpreter, and that memory is watched."""

import importlib
import threading
import warnings
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import FLOATS, DType
from dtpoly.carried.interpreting import dt_interpret
from dtpoly.carried.kept_texts import dt_note_text
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.ring.ring_memory import RingMemory
from tests.codegen.interpreter import interpreted
from tests.codegen.running import imported

# Triton has no types to check against.
interpreter: Any = importlib.import_module("triton.runtime.interpreter")
errors: Any = importlib.import_module("triton.runtime.errors")
HEAD = "import triton\nimport triton.language as tl\n\n\n@triton.jit\n"
COPY = f"""{HEAD}def kernel(a_ptr, b_ptr, first, last, count: tl.constexpr):
    at = first + tl.arange(0, count)
    tl.store(b_ptr + at, tl.load(a_ptr + at, mask=at < last, other=0), mask=at < last)
"""
ADD = f"""{HEAD}def kernel(a_ptr, first, count: tl.constexpr):
    at = first + tl.arange(0, count)
    tl.atomic_add(a_ptr + at, at.to(tl.float32))
"""
CONVERT = f"""{HEAD}def kernel(a_ptr, b_ptr, count: tl.constexpr):
    at = tl.arange(0, count)
    tl.store(b_ptr + at, tl.load(a_ptr + at).to(b_ptr.dtype.element_ty))
"""
LARGEST = f"""{HEAD}def larger(a, b):
    return tl.maximum(a, b, tl.PropagateNan.ALL)


@triton.jit
def later(a, i, b, j):
    return tl.where(b > a, b, a), tl.where(b > a, j, i)


@triton.jit
def kernel(a_ptr, b_ptr, i_ptr, rows: tl.constexpr, columns: tl.constexpr):
    row, column = tl.arange(0, rows), tl.arange(0, columns)
    tile = tl.load(a_ptr + row[:, None] * columns + column[None, :])
    tl.store(b_ptr + row, tl.reduce(tile, 1, larger))
    places = (column + tl.zeros_like(row)[:, None]).to(tl.int32)
    _, at = tl.reduce((tile, places), 1, later)
    tl.store(i_ptr + row, at)
"""
WRAP = f"""{HEAD}def kernel(a_ptr, b_ptr, count: tl.constexpr):
    at = tl.arange(0, count)
    a = tl.load(a_ptr + at)
    tl.store(b_ptr + at, a + a)
"""
LOOP = f"""{HEAD}def kernel(a_ptr, twice, count):
    total = 0
    for _ in tl.range(0, count):
        total = total + tl.where(twice, 2, 1)
    tl.store(a_ptr, total)
"""
DIVIDE = f"""{HEAD}def kernel(a_ptr, b_ptr, count: tl.constexpr):
    at = tl.arange(0, count)
    tl.store(b_ptr + at, tl.load(a_ptr + at) / 0.0)
"""
PRODUCT = f"""{HEAD}def kernel(a_ptr, b_ptr, c_ptr, size: tl.constexpr):
    row, column = tl.arange(0, size)[:, None], tl.arange(0, size)[None, :]
    left, right = tl.load(a_ptr + row * size + column), tl.load(b_ptr + row * size + column)
    tl.store(c_ptr + row * size + column, tl.dot(left, right))
"""


def kernel_of(text: str) -> Any:
    """Return the kernel of a file, of which is known what it was when it was imported."""
    kernel = imported(text).kernel
    dt_note_text(kernel)
    return kernel


def launch(text: str, *arguments: object) -> None:
    dt_interpret(kernel_of(text), 1, arguments, {})


def touch(text: str, *arguments: object, readable: torch.Tensor, writable: torch.Tensor) -> None:
    memory = RingMemory()
    memory.add(readable, is_output=False)
    memory.add(writable, is_output=True)
    with interpreted(memory):
        launch(text, *arguments)


def test_all_elements_may_be_touched() -> None:
    a, b = torch.arange(10.0), torch.zeros(10)
    touch(COPY, a, b, 0, 10, 16, readable=a, writable=b)
    assert torch.equal(a, b)


@pytest.mark.parametrize(("first", "last"), [(0, 11), (-1, 10)])
def test_an_overrun_by_one_element_is_seen(first: int, last: int) -> None:
    room = torch.arange(12.0)
    a, b = room[1:11], torch.zeros(12)[1:11]
    with pytest.raises(errors.InterpreterError, match="1 elements read outside of every tensor"):
        touch(COPY, a, b, first, last, 16, readable=a, writable=b)
    whole = torch.zeros(12)
    with pytest.raises(errors.InterpreterError, match="1 elements written outside of every tensor"):
        touch(COPY, room[1:], whole[1:], first, last, 16, readable=room, writable=whole[1:11])


def test_what_lies_between_elements_is_outside() -> None:
    a, b = torch.arange(20.0), torch.zeros(20)
    with pytest.raises(errors.InterpreterError, match="5 elements read outside"):
        touch(COPY, a, b, 0, 10, 16, readable=a[::2], writable=b)


def test_an_input_may_not_be_written() -> None:
    a, b = torch.arange(10.0), torch.zeros(10)
    with pytest.raises(errors.InterpreterError, match="10 elements written outside"):
        touch(COPY, a, b, 0, 10, 16, readable=a, writable=torch.zeros(1))
    with pytest.raises(errors.InterpreterError, match="4 elements written outside"):
        touch(ADD, a, 0, 4, readable=a, writable=torch.zeros(1))


VALUES = torch.tensor(
    [0.0, 1, -1, 1.9999, 3.9999, -1.9375, 0.3, 448, 1e-3, 7.5e-4, 240, 1.0625, 1.1875, 2**-9]
)


@pytest.mark.parametrize("target", FLOATS, ids=str)
@pytest.mark.parametrize("source", FLOATS, ids=str)
def test_conversions_round_as_those_of_torch(source: DType, target: DType) -> None:
    given = VALUES.to(TORCH_DTYPE[source])[:8]
    got = torch.zeros(8, dtype=TORCH_DTYPE[target])
    touch(CONVERT, given, got, 8, readable=given, writable=got)
    expected = given.double().to(TORCH_DTYPE[target])
    assert torch.equal(got.double().nan_to_num(7.0), expected.double().nan_to_num(7.0))


@pytest.mark.parametrize("target", ["bfloat16", "float8_e4m3fn"])
def test_conversions_of_whole_numbers(target: str) -> None:
    given = torch.tensor([2, -3, 0, 7], dtype=torch.int16)
    if target == "bfloat16":
        got = torch.zeros(4, dtype=torch.bfloat16)
        touch(CONVERT, given, got, 4, readable=given, writable=got)
        assert torch.equal(got.float(), given.float())
    back = torch.zeros(4, dtype=torch.float32)
    small = given.to(getattr(torch, target))
    touch(CONVERT, small, back, 4, readable=small, writable=back)
    assert torch.equal(back, given.float())


def test_reductions_by_halves() -> None:
    given = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    given[2, 5] = torch.nan
    best, at = torch.zeros(4), torch.zeros(4, dtype=torch.int32)
    memory = RingMemory()
    for tensor in (given, best, at):
        memory.add(tensor, is_output=True)
    with interpreted(memory):
        launch(LARGEST, given, best, at, 4, 16)
    assert torch.equal(best.nan_to_num(9.0), given.amax(1).nan_to_num(9.0))
    assert torch.equal(at[[0, 1, 3]], given.argmax(1)[[0, 1, 3]].int())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_products_of_matrices(dtype: torch.dtype) -> None:
    left, right = torch.randn(2, 16, 16, generator=torch.Generator().manual_seed(0)).to(dtype)
    got = torch.zeros(16, 16)
    memory = RingMemory()
    for tensor in (left, right, got):
        memory.add(tensor, is_output=True)
    with interpreted(memory):
        launch(PRODUCT, left, right, got, 16)
    torch.testing.assert_close(got, left.float() @ right.float(), rtol=1e-5, atol=1e-5)


def test_atomic_sums_of_bfloat16() -> None:
    sums = torch.full((8,), 256, dtype=torch.bfloat16)
    touch(ADD.replace("float32", "bfloat16"), sums, 0, 8, readable=sums, writable=sums)
    # Above 256 there are only even numbers.
    expected = torch.tensor([256, 256, 258, 260, 260, 260, 262, 264])
    assert torch.equal(sums, expected.bfloat16())


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2])
def test_a_product_is_wrong_where_nothing_is_mended(dtype: torch.dtype) -> None:
    """If Triton computes these itself, the mending can be removed."""
    ones, got = torch.ones(16, 16).to(dtype), torch.zeros(16, 16)
    launch(PRODUCT, ones, ones, got, 16)
    assert torch.equal(got, torch.full((16, 16), 16.0))
    if dtype is torch.bfloat16:
        imported(PRODUCT).kernel[(1,)](ones, ones, got, 16)
        assert not torch.equal(got, torch.full((16, 16), 16.0))


def test_extremes_of_narrow_floats() -> None:
    given = torch.tensor([torch.inf, -torch.inf, torch.nan, 57344, -57344, 2**-16, 0.0, -0.0])
    for source in (torch.float8_e5m2, torch.bfloat16):
        small = given.to(source)
        got = torch.zeros(8)
        launch(CONVERT, small, got, 8)
        assert torch.equal(got.nan_to_num(7.0), small.float().nan_to_num(7.0))


def test_whole_numbers_wrap() -> None:
    given, got = torch.tensor([2**31 - 1, -(2**31)], dtype=torch.int32), torch.zeros(2).int()
    launch(WRAP, given, got, 2)
    assert torch.equal(got, given + given)


def test_a_kernel_is_given_a_bool_and_loops_so_often() -> None:
    got = torch.zeros(2, dtype=torch.int32)
    launch(LOOP, got, True, 3)
    launch(LOOP, got[1:], False, 3)
    assert torch.equal(got, torch.tensor([6, 3], dtype=torch.int32))


def test_numpy_warns_of_nothing() -> None:
    got = torch.zeros(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        launch(DIVIDE, torch.tensor([1.0, 0.0]), got, 2)
    assert got[0] == torch.inf
    assert got[1].isnan()


def test_several_threads() -> None:
    """Each of them would take Triton's functions from under another one that still runs."""
    given = torch.randn(4, 16, generator=torch.Generator().manual_seed(0))
    wrong = list[object]()

    def work() -> None:
        try:
            for _ in range(5):
                best, at = torch.zeros(4), torch.zeros(4, dtype=torch.int32)
                launch(LARGEST, given, best, at, 4, 16)
                if not torch.equal(best, given.amax(1)):
                    wrong.append(best)
        except errors.InterpreterError as error:
            wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def state() -> dict[str, object]:
    """Return all that the mending may change."""
    one, reductions = interpreter.interpreter_builder, interpreter.ReduceOps
    kinds: dict[str, object] = {**vars(interpreter.InterpreterBuilder), **vars(reductions)}
    names = ("_implicit_cvt", "_patch_lang_tensor")
    return {**kinds, "options": one.options} | {name: vars(interpreter)[name] for name in names}


def test_nothing_is_left_behind() -> None:
    before, seen = state(), list[dict[str, object]]()
    kernel = kernel_of(COPY)

    def look(*_: object) -> None:
        seen.append(state())

    kernel.add_pre_run_hook(look)
    try:
        dt_interpret(kernel, 1, (torch.arange(10.0), torch.zeros(10), 0, 10, 16), {})
    finally:
        kernel.pre_run_hooks.clear()
    assert state() == before
    changed = {name for name, value in seen[0].items() if value is not before[name]}
    assert changed == {
        *("cast_impl", "create_fp_to_fp", "create_dot", "create_atomic_rmw", "generic_reduce"),
        *("_implicit_cvt", "_patch_lang_tensor", "options"),
    }


def test_memory_is_watched_for_a_while() -> None:
    builder: object = interpreter.interpreter_builder
    kept = vars(builder).copy()
    with interpreted(RingMemory()):
        assert vars(interpreter.interpreter_builder) != kept
    assert vars(interpreter.interpreter_builder) == kept


def test_nothing_is_left_behind_by_a_failure() -> None:
    before = state()
    with pytest.raises(errors.InterpreterError):
        launch(COPY, torch.zeros(1), None, 0, 10, 16)
    assert state() == before
