"""Lists that skip tiles and lists that are one, by the text, the numbers and the verdict."""

from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported
from tests.codegen.test_lists import FLOATS, SCHEDULES, WHOLES, check, listed, program, text_of

# Rows that end before, at and behind the end of a tile of 16, and rows shorter than the list.
LENGTHS = (0, 1, 3, 15, 16, 17, 31, 32, 33, 53)


def rows_in_order(many: int, dtype: torch.dtype) -> Iterator[torch.Tensor]:
    """Yield rows of which all, few, or no elements enter a list behind the first tile."""
    along = torch.arange(many).repeat(3, 1)
    yield along.to(dtype)
    yield (-along if dtype.is_floating_point else 100 - along).to(dtype)
    yield torch.full((3, many), 7).to(dtype)
    yield (along // 5 % 3).to(dtype)
    yield torch.stack([(along[0] + row * many // 3) % max(many, 1) for row in range(3)]).to(dtype)
    if dtype.is_floating_point:
        yield along.to(dtype).masked_fill(along % 7 == 6, torch.nan)
        yield -along.to(dtype).masked_fill(along % 11 == 10, torch.nan)
        yield torch.full((3, many), -torch.inf).to(dtype)
        yield torch.full((3, many), torch.nan).to(dtype)
        yield torch.where(along == many - 1, 1.0, -torch.inf).to(dtype)
        yield -along.to(dtype).masked_fill(along == 20, torch.inf)


@pytest.mark.long
@pytest.mark.parametrize("schedule", [one for one in SCHEDULES if one != "loops"])
@pytest.mark.parametrize("many", LENGTHS)
def test_rows_in_order(schedule: str, many: int) -> None:
    for rows in rows_in_order(many, torch.float32):
        check(program(schedule), rows, 4)


@pytest.mark.long
@pytest.mark.parametrize("dtype", FLOATS)
def test_floats_in_order(dtype: torch.dtype) -> None:
    for many in (17, 53):
        for rows in rows_in_order(many, dtype):
            check(program("tiles"), rows, 4)


@pytest.mark.long
@pytest.mark.parametrize("dtype", WHOLES)
def test_whole_numbers_in_order(dtype: str) -> None:
    of = program("tiles", 3, dtype)
    for many in (2, 17, 53):
        for rows in rows_in_order(many, WHOLES[dtype]):
            check(of, rows, 3)


def test_one_list_for_values_and_indices() -> None:
    """A tile is taken into one list, and only where something of it may enter."""
    text = text_of(program("tiles"))
    kernel = text[text.index("def value_kernel(") : text.index("value_plan = {")]
    assert kernel.count("= dt_list(") == 2  # in the loop, and for the rest
    assert kernel.count("if tl.max((~(") == 2
    one = text_of(program("one tile"))
    kernel = one[one.index("def value_kernel(") : one.index("value_plan = {")]
    assert kernel.count("= dt_list(") == 1
    assert "if tl.max(" not in kernel  # the first tile always enters


SCHEDULE = """\
value.block(x:2); value.tensorize(x:0, j:0, k:16); index.fuse_at(value, x); value.compile(index);
"""
# What looks like one list and is not: other numbers, another length of the list.
APART = {
    "other numbers": "index[x, j] = rargtopk(-A[x, k], k, j);",
    "other rows": "index[x, j] = rargtopk(A[x, k] * 2, k, j);",
    "a zero with a sign": "index[x, j] = rargtopk(A[x, k] * (0.0 - 1), k, j);",
}


@cache
def apart(name: str) -> Program:
    head = "Func value, index; In A; Var x, j: 4; RVar k;\nvalue[x, j] = rtopk(A[x, k], k, j);\n"
    return load(Source("test.dt", f"{head}{APART[name]}\n{SCHEDULE}"))


@pytest.mark.long
@pytest.mark.parametrize("name", APART)
def test_other_lists_stay_apart(name: str) -> None:
    of = apart(name)
    text = text_of(of)
    assert text.count("= dt_list(") == 4
    assert verify(of, text).verdict is LayerVerdict.PROVED
    module: Any = imported(text)
    for rows in rows_in_order(37, torch.float32):
        value, index = module.value(rows)
        factor = 2 if name == "other rows" else -1
        assert torch.equal(index, listed(rows * factor, 4)[1])
        assert torch.allclose(value, listed(rows, 4)[0], 0, 0, equal_nan=True)


def test_lists_of_two_lengths_stay_apart() -> None:
    text = """\
Func value, index; In A; Var x, j: 4, i: 2; RVar k;
value[x, j] = rtopk(A[x, k], k, j);
index[x, i] = rargtopk(A[x, k], k, i);
value.block(x:2); value.tensorize(x:0, j:0, k:16, i:2); index.fuse_at(value, x);
value.compile(index);
"""
    of = load(Source("test.dt", text))
    made = text_of(of)
    assert made.count("= dt_list(") == 4
    module: Any = imported(made)
    rows = next(rows_in_order(17, torch.float32))
    value, index = module.value(rows)
    assert torch.equal(index, listed(rows, 2)[1])
    assert torch.allclose(value, listed(rows, 4)[0], 0, 0, equal_nan=True)
