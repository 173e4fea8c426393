"""Formulas of plans: `show` and `parse` are inverse, and what they come to is what Python says."""

from collections.abc import Callable
from random import Random
from types import SimpleNamespace
from typing import Any, get_args

import pytest

from dtpoly.plan.formula import (
    ARGUMENTS,
    Applied,
    Comparison,
    Formula,
    FormulaCompared,
    FormulaExtent,
    FormulaName,
    FormulaNumber,
    FormulaOperation,
    NotAFormulaError,
    Operator,
    Stride,
    Truth,
    holds,
    parse,
    parse_truth,
    show,
    show_truth,
    value_of,
)

SIZES = {"x": 12, "y": 5, "k_2": 1}
SHAPE, STRIDES = (7, 3), (40, 1)


def known(one: FormulaName | FormulaExtent | Stride) -> int:
    match one:
        case FormulaName(name=name):
            return SIZES[name]
        case FormulaExtent(axis=axis):
            return SHAPE[axis]
        case Stride(axis=axis):
            return STRIDES[axis]


def a_formula(random: Random, depth: int) -> Formula:
    match random.randrange(4 if depth == 0 else 6):
        case 0:
            return FormulaNumber(random.choice((-7, -1, 0, 1, 3, 128, 2**40)))
        case 1:
            return FormulaName(random.choice([*SIZES]))
        case 2:
            return FormulaExtent("A", random.randrange(2))
        case 3:
            return Stride("A", random.randrange(2))
        case 4:
            operator: Operator = random.choice(get_args(Operator))
            return FormulaOperation(
                operator, a_formula(random, depth - 1), a_formula(random, depth - 1)
            )
        case _:
            function, count = random.choice([*ARGUMENTS.items()])
            given = (a_formula(random, depth - 1) for _ in range(count or random.randint(2, 3)))
            return Applied(function, tuple(given))


def came_to(ask: Callable[[], Any]) -> Any:
    """Return what comes of a question: nothing is divided by 0."""
    try:
        return ask()
    except ZeroDivisionError:
        return "divided by 0"


def a_truth(random: Random) -> Truth:
    return tuple(
        FormulaCompared(
            random.choice(get_args(Comparison)), a_formula(random, 2), a_formula(random, 2)
        )
        for _ in range(random.randint(1, 3))
    )


@pytest.mark.parametrize("seed", range(300))
def test_what_is_shown_is_parsed_back(seed: int) -> None:
    random = Random(f"formula {seed}")
    formula, truth = a_formula(random, 4), a_truth(random)
    assert parse(show(formula)) == formula
    assert parse_truth(show_truth(truth)) == truth


@pytest.mark.parametrize("seed", range(300))
def test_what_it_comes_to_is_what_python_says(seed: int) -> None:
    random = Random(f"value {seed}")
    formula, truth = a_formula(random, 3), a_truth(random)

    def cdiv(a: int, b: int) -> int:
        return (a + b - 1) // b if b > 0 else -(-a // b)

    def lanes(a: int) -> int:
        return next(1 << n for n in range(4, 99) if 1 << n >= max(a, 16))

    def fit(*given: int) -> int:
        return value_of(Applied("fit", tuple(map(FormulaNumber, given))), known)

    tensor = SimpleNamespace(shape=SHAPE, stride=STRIDES.__getitem__)
    names: dict[str, Any] = {**SIZES, "A": tensor, "cdiv": cdiv, "lanes": lanes, "fit": fit}
    wanted, got = (
        came_to(lambda: [eval(show(formula), names), eval(show_truth(truth), names)]),
        came_to(lambda: [value_of(formula, known), holds(truth, known)]),
    )
    assert got == wanted


@pytest.mark.parametrize("seed", range(100))
def test_the_largest_size_that_fits(seed: int) -> None:
    random = Random(f"fit {seed}")
    extent, low, coefficient = random.randint(0, 9), random.randint(-1, 9), random.choice((1, 2, 3))
    high = low + random.randint(0, 3)
    if random.random() < 0.5:  # it goes down, where its end is inside
        coefficient = -coefficient
    # Index 0 of the label, and as many more as stay inside, one after another.
    wanted = 0
    while wanted < 20 and all(0 <= end + coefficient * wanted < extent for end in (low, high)):
        wanted += 1
    given = tuple(map(FormulaNumber, (extent, low, high, coefficient)))
    assert value_of(Applied("fit", given), known) == wanted


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cdiv(x, 4) * cdiv(y, 2)", 9),
        ("x % 4 + 8 * (y - 1)", 32),
        ("x - (y - 2)", 9),
        ("x // y // 2", 1),
        ("max(A.shape[0] - A.shape[1], -1)", 4),
        ("A.stride(0) % 16", 8),
        ("lanes(x)", 16),
        ("lanes(17 * y)", 128),
        ("fit(10, 0, 2, 3)", 3),
        ("fit(10, 4, 4, -2)", 3),
    ],
)
def test_values(text: str, value: int) -> None:
    assert show(parse(text)) == text
    assert value_of(parse(text), known) == value


@pytest.mark.parametrize(
    "text",
    [
        *("", " x", "x ", "x\n", "x\n+ y", "x; y", "x = 1", "x := 1", "lambda: x", "ё"),
        *("True", "1.0", "1j", "'x'", "b'x'", "None", "...", "f'{x}'", "10**30", "9" * 30),
        *("x ** 2", "x / y", "x @ y", "x << 2", "~x", "+x", "-x", "not x", "- 0", "-True"),
        *("A.shape", "A.shape[x]", "A.shape[-1]", "A.shape[0:1]", "A.shape[True]", "A.size[0]"),
        *("A.stride()", "A.stride(x)", "A.stride(dim=0)", "A.strides(0)", "A.B.shape[0]"),
        *("min(x)", "min()", "cdiv(x)", "lanes(x, y)", "fit(x, y)", "min(*x)", "min(x, key=y)"),
        *("abs(x)", "eval(x)", "__import__('os')", "x()", "x[0]", "(x, y)", "[x]", "{x}"),
        *("x if y else x", "x and y", "x < y", "x or y", "x is y", "await x", "(yield)"),
        *("(" * 300 + "x" + ")" * 300, "x" + " + x" * 2000, "min(" * 99 + "x, y" + ")" * 99),
    ],
)
def test_what_is_no_formula(text: str) -> None:
    with pytest.raises(NotAFormulaError):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        *("x", "x < y < 3", "x in y", "x is y", "not x < y", "x < y or y < x", "(x < y) + 1"),
        *("x < y and y", "x < y and (y < 1 and x < 2)", "True", "x < 'y'", "x ==", ""),
    ],
)
def test_what_is_no_truth(text: str) -> None:
    with pytest.raises(NotAFormulaError):
        parse_truth(text)
