"""Dependences by composition are those that isl's flow analysis finds."""

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.dependences import DependenceKind, dependences
from dtpoly.poly.flow import flow_analysis
from dtpoly.poly.lift import lift
from dtpoly.poly.model import Model
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.source import Source
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.schedules import program
from tests.schedule.told import SUM, TWO, read
from tests.test_thesis import DATA, LISTINGS


def assert_same(model: Model) -> None:
    found = {(d.kind, d.array, d.source, d.target): d.relation for d in dependences(model)}
    exact = {(d.kind, d.array, d.source, d.target): d.relation for d in flow_analysis(model)}
    assert found.keys() == exact.keys()
    for key, relation in found.items():
        assert relation.is_equal(exact[key]), key


@pytest.mark.parametrize("listing", [name for name in LISTINGS if name.startswith("listing")])
def test_of_the_thesis(listing: str) -> None:
    path = DATA / f"{listing}.dt"
    loaded = load(Source(path.name, path.read_text()))
    assert_same(resolve(loaded, bind(loaded.directives, DIRECTIVES).primitives).model)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(25))
def test_of_random_programs(seed: int) -> None:
    made = program(seeded(seed), Limits(funcs=3))
    assert_same(lift(made))
    assert_same(resolve(made, bind(made.directives, DIRECTIVES).primitives).model)


def test_in_words() -> None:
    (flow,) = dependences(lift(read(TWO)))
    assert str(flow) == "f reads what g wrote to g"
    steps = [d for d in dependences(lift(read(SUM))) if d.kind is DependenceKind.REDUCTION]
    assert [str(d) for d in steps] == ["total.k.update adds to total.k, in any order"]
