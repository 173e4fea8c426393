"""Parts that memory combines, of floats that are no numbers, infinite, or nothing with a sign."""

from itertools import product
from math import inf, nan

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.labelled_values import TORCH_DTYPE
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Inputs
from tests.codegen.running import compared, imported
from tests.schedule.told import read

SPECIAL = (nan, -nan, inf, -inf, 0.0, -0.0, 1.0, -1.0)


@pytest.mark.sampled
@pytest.mark.parametrize("operation", ["rmax", "rmin"])
@pytest.mark.parametrize(("given", "kept"), [("f32", "f32"), ("f64", "f64"), ("f64", "f32")])
def test_every_special_value_meets_every_other_one(given: str, kept: str, operation: str) -> None:
    program = read(
        f"Func f: {kept}; In A: {given}; Var x; RVar k; f[x] = {operation}(A[x, k], k);"
        "f.compile(); f.block(k:2, x:16); f.atomic(k); f.tensorize(x:16);"
    )
    # Of each row the first two are one part.
    rows = [(first, first, second) for first, second in product(SPECIAL, SPECIAL)]
    values = torch.tensor(rows, dtype=TORCH_DTYPE[DType(given)])
    module = imported(code_of(judge(program, DIRECTIVES).scheduled).text)
    inputs: Inputs = {"A": values}
    sizes = {"x": len(rows), "k": 3}
    assert compared(module, program, ("f",), inputs, sizes).known == len(rows)
    wanted = (values.amax if operation == "rmax" else values.amin)(1)
    found = torch.as_tensor(module.f(values)).to(wanted.dtype)
    assert torch.equal(found.isnan(), wanted.isnan())
    assert torch.equal(found.nan_to_num(2.0), wanted.nan_to_num(2.0))


def test_whole_numbers_are_combined_as_they_are() -> None:
    program = read(
        "Func f; In A: i32; RVar k; f[] = rmax(A[k], k); f.compile(); f.block(k:2); f.atomic(k);"
    )
    assert "dt_nan" not in code_of(judge(program, DIRECTIVES).scheduled).text
