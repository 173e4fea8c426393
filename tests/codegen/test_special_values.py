"""What emitted kernels make of infinities, of no number and of the least and largest ones.

Bounds of rounding allow anything for some of them; here it is what torch computes.
"""

import itertools
import math
import warnings

import pytest
import torch

from dtpoly.algorithm.operations import OPERATION
from dtpoly.reference.operations import ELEMENTWISE
from tests.codegen.elementwise import ONE, THREE, TWO
from tests.codegen.wrappers import module

ARITY = dict.fromkeys(ONE, 1) | dict.fromkeys(TWO, 2) | dict.fromkeys(THREE, 3)
FINITE = (0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, 1.5, -1.5, 1e-30, 1e30, -1e30)
SPECIAL = (*FINITE, math.inf, -math.inf, math.nan)


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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        got = f(*inputs)
    wanted = ELEMENTWISE[name](*(one.double() for one in inputs)).to(dtype)
    assert got.dtype == wanted.dtype
    if got.dtype.is_floating_point:
        is_right = torch.isclose(got, wanted, rtol=1e-5, atol=1e-30, equal_nan=True)
    else:
        is_right = got == wanted
    wrong = [
        ([one[at].item() for one in inputs], got[at].item(), wanted[at].item())
        for at in (~is_right).nonzero().flatten().tolist()
    ]
    assert not wrong
