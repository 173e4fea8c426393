"""Sums of squared deviations go on with the mean so far, and lose no digits."""

from functools import cache
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Data, Layout, Recipe
from tests.codegen.mean_programs import OF_MEANS, REFUSED_MEANS, drawn
from tests.codegen.running import compared, imported
from tests.codegen.test_online import RECIPES, sizes_around_tiles
from tests.verify.texts import text_of

SOME = ((1, 0), (2, 15), (3, 17))


@cache
def program(name: str) -> Program:
    return load(Source("f.dt", OF_MEANS[name]))


@cache
def module(name: str) -> Any:
    return imported(text_of(program(name)))


@pytest.mark.sampled
@pytest.mark.parametrize("name", OF_MEANS)
def test_at_some_sizes(name: str) -> None:
    of = program(name)
    recipe = Recipe(1, DType.F32, Layout.SLICED, Data.ASCENDING)
    for rows, columns in SOME:
        sizes = {label.name: {"x": rows, "y": columns}[label.name] for label in of.labels}
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(40))
def test_random_sums_are_proved_and_right(seed: int) -> None:
    given = drawn(seed)
    of = load(Source("f.dt", given))
    text = text_of(of)
    assert verify(of, text, seconds=60).verdict is LayerVerdict.PROVED
    for kept, summed in ((1, 1), (3, 17), (2, 35)):
        reduced = "y" if "RVar y" in given else "x"
        sizes = {one.name: summed if one.name == reduced else kept for one in of.labels}
        compared(imported(text), of, ("f",), RECIPES[seed % 4].inputs(of, sizes), sizes)


@pytest.mark.long
@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@pytest.mark.parametrize("name", OF_MEANS)
def test_at_the_sizes_around_each_tile(name: str, recipe: Recipe) -> None:
    of = program(name)
    for sizes in sizes_around_tiles(of):
        compared(module(name), of, ("f",), recipe.inputs(of, sizes), sizes)


def test_rows_are_read_once() -> None:
    text = text_of(program("variance"))
    assert text.count("= tl.load(") == 2  # in the loop over whole tiles, and in the tail
    assert text.count("in tl.range(") == 1
    assert text_of(program("a layer normalization")).count("in tl.range(") == 2


@pytest.mark.parametrize("far", [0.0, 1e4, -1e6])
def test_a_mean_far_from_0_costs_no_digits(far: float) -> None:
    """A sum of squares less the square of a sum would have no digit right here."""
    A = torch.randn(3, 1000, generator=torch.Generator().manual_seed(1)) + far
    found = module("variance").f(A)
    wanted = A.double().var(1, correction=0)
    torch.testing.assert_close(found.double(), wanted, rtol=1e-2, atol=0)
    raw = A.pow(2).mean(1) - A.mean(1).pow(2)
    is_lost = (raw.double() - wanted).abs() > 0.1 * wanted
    assert is_lost.all() or abs(far) < 1e4


@pytest.mark.parametrize("far", [0.0, 1e3, -1e4])
@pytest.mark.parametrize(("name", "power"), [("a third central moment", 3), ("a kurtosis", 4)])
def test_moments_far_from_0_cost_no_digits(name: str, power: int, far: float) -> None:
    """They are those that two walks find, but for rounding of the elements themselves."""
    A = torch.rand(3, 1000, generator=torch.Generator().manual_seed(1)).pow(3) * 8 + far
    rest = A.double() - A.double().mean(1, keepdim=True)
    wanted = rest.pow(power).mean(1)
    if power == 4:
        wanted = wanted / (rest.pow(2).mean(1) + 0.1).pow(2)
    torch.testing.assert_close(module(name).f(A).double(), wanted, rtol=1e-2, atol=0)


def test_rows_as_torch_norms_them() -> None:
    A = torch.randn(4, 53, generator=torch.Generator().manual_seed(2)) * 3 + 7
    found = module("a layer normalization").f(A)
    torch.testing.assert_close(found, torch.nn.functional.layer_norm(A, (53,), eps=0.1))
    deviation, mean = module("standard deviation and mean").f(A)
    torch.testing.assert_close(deviation, A.std(1))
    torch.testing.assert_close(mean, A.mean(1))


def test_what_is_no_number() -> None:
    """A row with a NaN or an infinity has a NaN, as in the algorithm; others are as they are."""
    A = torch.ones(4, 40)
    A[0, 3], A[1, 0], A[2, 35] = float("nan"), float("inf"), float("-inf")
    found = module("variance").f(A)
    assert found[:3].isnan().all()
    assert found[3] == 0
    assert module("variance").f(A[:, :0]).isnan().all()


@pytest.mark.sampled
@pytest.mark.parametrize("name", REFUSED_MEANS)
def test_refused(name: str) -> None:
    given, why = REFUSED_MEANS[name]
    verdict = judge(load(Source("f.dt", given)), DIRECTIVES)
    assert verdict.is_legal, str(verdict)
    with pytest.raises(DtpolyError) as caught:
        code_of(verdict.scheduled)
    (found,) = caught.value.diagnostics
    assert found.code == "DT307"
    assert any(why in note.text for note in found.notes), found.notes
