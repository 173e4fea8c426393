"""Maxima over two labels, and sums that several maxima bring up to date, compute what they say."""

from functools import cache
from math import prod
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.source import Source
from tests.codegen.frame_programs import FRAMED, sizes_of
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.running import compared, imported
from tests.codegen.test_online import RECIPES
from tests.verify.texts import text_of

SOME = ((1, 0), (2, 17), (3, 33))


@cache
def program(name: str) -> Program:
    return load(Source(f"{name}.dt", FRAMED[name]))


@cache
def module(name: str) -> Any:
    return imported(text_of(program(name)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", FRAMED)
def test_at_some_sizes(name: str) -> None:
    of = program(name)
    recipe = Recipe(1, DType.F32, Layout.SLICED, Data.ASCENDING)
    for few, columns in SOME:
        known = {"x": few, "y": columns, "z": few, "w": 2}
        sizes = {label.name: known[label.name] for label in of.labels}
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", FRAMED)
def test_at_the_sizes_around_each_tile(name: str, recipe: Recipe) -> None:
    of = program(name)
    for sizes in sizes_of(of):
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


def test_as_torch_sums_exponentials() -> None:
    for sizes in ((3, 5, 17), (2, 0, 4), (2, 3, 0), (4, 2, 32)):
        given = torch.arange(prod(sizes), dtype=torch.float64).reshape(sizes).sin() * 300
        found = module("two labels, tiles of both").f(given)
        torch.testing.assert_close(found, given.flatten(1).logsumexp(1))
    for rows, columns in ((3, 0), (3, 16), (2, 53)):
        place = torch.arange(rows * columns, dtype=torch.float64).reshape(rows, columns)
        one, other = place.cos() * 30, place.sin() * 300
        found = module("two frames, a product of exponentials").f(one, other)
        torch.testing.assert_close(found, (one + other).logsumexp(1))


def test_what_is_no_number() -> None:
    """A NaN and an infinity of a row go on into its result, and into no other."""
    A = torch.zeros(4, 3, 20)
    A[0, 1, 3], A[1, 2, 18], A[2] = float("nan"), float("inf"), float("-inf")
    found = module("two labels, the largest, too").f(A)
    assert found[0][:2].isnan().all()
    assert found[1][0].isnan()
    assert found[1][1:3].tolist() == [float("inf"), float("-inf")]
    torch.testing.assert_close(found[0][3], torch.tensor(60.0).log())
