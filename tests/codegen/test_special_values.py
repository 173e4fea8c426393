"""Tests emitted kernels on infinities, NaN, and the least and largest numbers.

Bounds of rounding allow anything for some of them; here it is what torch computes.
"""

import itertools
import math

import pytest
import torch

from dtpoly.algorithm.operations import OPERATION
from dtpoly.reference.labelled_operations import ELEMENTWISE
from tests.codegen.calls import module, text
from tests.codegen.elementwise import ONE, THREE, TWO

# Lanes that hold nothing divide 0 by 0, too.
ARITY = dict.fromkeys(ONE, 1) | dict.fromkeys(TWO, 2) | dict.fromkeys(THREE, 3)
FINITE = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1.5, -1.5, 1e-30, 1e30, -1e30)
SPECIAL = (*FINITE, math.inf, -math.inf, math.nan)


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("name", ARITY)
def test_it_is_what_torch_computes(name: str, dtype: torch.dtype) -> None:
    count = ARITY[name]
    few = SPECIAL if count < 3 else (0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)
    rows = torch.tensor(list(itertools.product(few, repeat=count)), dtype=dtype)
    inputs = [one.contiguous() for one in rows.unbind(1)]
    letters = "ABC"[:count]
    arguments = [f"{one}[x]" for one in letters]
    symbol = OPERATION[name].symbol
    call = f"{name}({', '.join(arguments)})"
    if symbol:
        call = f" {symbol} ".join(arguments) if count == 2 else f"{symbol}{arguments[0]}"
    f = module(f"Func f; In {', '.join(letters)}; Var x; f[x] = {call}; f.tensorize(x:0);").f
    got = f(*inputs)
    wanted = ELEMENTWISE[name](*(one.double() for one in inputs)).to(dtype)
    assert got.dtype == wanted.dtype
    if got.dtype.is_floating_point:
        is_right = torch.isclose(got, wanted, rtol=1e-5, atol=1e-30, equal_nan=True)
    else:
        is_right = got == wanted
    wrong = [
        (row, one, two)
        for row, one, two, right in zip(rows, got, wanted, is_right, strict=True)
        if not right
    ]
    assert not wrong


BOTH = "Func f; In A, B; Var x; f[x] = {}(A[x], B[x]); f.tensorize(x:0);"


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_quotients_of_multiples_are_whole(dtype: torch.dtype) -> None:
    few = torch.arange(1, 45, dtype=dtype)
    one, two = (grid.flatten() for grid in torch.meshgrid(few, few, indexing="ij"))
    f = module(BOTH.format("cdiv")).f
    assert torch.equal(f(one * two, two), one)
    assert torch.equal(f(one * two - 1, two), torch.ceil(one - 1 / two.double()).to(dtype))


def test_quotients_are_not_those_of_fast_division() -> None:
    """That is a little off, and rounding up makes it one more; only a GPU has it."""
    assert "tl.ceil(a.to(tl.float64) / b.to(tl.float64))" in text(BOTH.format("cdiv"))


def test_whole_powers_of_whole_numbers_are_exact() -> None:
    few, counts = torch.arange(-39.0, 40).double(), torch.arange(0.0, 21).double()
    one, two = (grid.flatten() for grid in torch.meshgrid(few, counts, indexing="ij"))
    f, wanted = module(BOTH.format("pow")).f, torch.pow(one, two)
    fits = wanted.abs() < 2**53
    assert torch.equal(f(one, two)[fits], wanted[fits])
    largest = torch.tensor([torch.finfo(torch.float64).max], dtype=torch.float64)
    assert torch.equal(f(largest, torch.ones(1).double()), largest)
