"""Formulas of plans come to the same in the runtime and in the compiler."""

from random import Random
from types import SimpleNamespace
from typing import Any

import pytest

from dtpoly.carried.values import dt_terms, dt_value
from dtpoly.plan.formula import (
    FormulaExtent,
    FormulaName,
    Stride,
    holds,
    parse,
    show,
    show_truth,
    value_of,
)
from tests.plan.test_formula import SHAPE, SIZES, STRIDES, a_formula, a_truth, came_to, known

TENSOR = SimpleNamespace(shape=SHAPE, stride=STRIDES.__getitem__)


@pytest.mark.parametrize("seed", range(200))
def test_random_formulas(seed: int) -> None:
    random = Random(f"runtime {seed}")
    formula, truth = a_formula(random, 4), a_truth(random)
    names: dict[str, Any] = {**SIZES, "A": TENSOR}
    wanted = came_to(lambda: [value_of(formula, known), holds(truth, known)])
    got = came_to(lambda: [dt_value(show(formula), names), dt_value(show_truth(truth), names)])
    assert got == wanted


@pytest.mark.parametrize("name", ["min", "max", "cdiv", "lanes", "fit", "abs", "A_lanes"])
def test_a_label_may_be_called_as_a_function_is(name: str) -> None:
    sizes = {name: 5, "x": 3}

    def size(one: FormulaName | FormulaExtent | Stride) -> int:
        assert isinstance(one, FormulaName)
        return sizes[one.name]

    for text in (f"min({name}, x)", f"cdiv({name}, 2) + max(x, {name})", f"lanes(lanes({name}))"):
        assert dt_value(text, dict[str, Any](sizes)) == value_of(parse(text), size)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A", ["A"]),
        ("promoted", ["promoted"]),
        ("promoted(A, B, f32)", ["A", "B", "f32"]),
        ("type(real)", ["real"]),
        ("max(x - cdiv(y, 2), A.shape[0])", ["x", "y", "2", "A", "shape", "0"]),
    ],
)
def test_names_in_a_text(text: str, names: list[str]) -> None:
    assert dt_terms(text) == names
