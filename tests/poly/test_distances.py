"""Distances of dependences, against all pairs of instances at small sizes."""

import islpy as isl
import pytest

from dtpoly.poly.dependences import Dependence, dependences
from dtpoly.poly.distances import distances
from dtpoly.poly.lift import lift
from dtpoly.poly.model import Model, by_name
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import seeded
from tests.generation.extents import label_sizes
from tests.schedule.told import read

HEAD = "Func f, g; In A; Var x, y; RVar k; g[x, y] = exp(A[x, y]);"


def pairs(model: Model, relation: isl.Map, sizes: dict[str, int]) -> list[tuple[int, ...]]:
    """The dims of each source, then those of its target."""
    of = relation.wrap()
    for label, param in model.size_of.items():
        position = of.find_dim_by_name(isl.dim_type.param, param)
        of = of.fix_val(isl.dim_type.param, position, sizes[label])
    of = of.project_out(isl.dim_type.param, 0, of.dim(isl.dim_type.param))
    found: list[isl.Point] = []
    of.foreach_point(found.append)
    count = of.dim(isl.dim_type.set)
    return [
        tuple(one.get_coordinate_val(isl.dim_type.set, at).to_python() for at in range(count))
        for one in found
    ]


def found(model: Model, one: Dependence) -> dict[str, tuple[int, int]]:
    known = by_name(model)
    return distances(one.relation, known[one.source], known[one.target])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("g[x, y]", {"x": (0, 0), "y": (0, 0)}),
        ("pad(g, 0)[x + 2, y]", {"x": (-2, -2), "y": (0, 0)}),
        ("pad(g, 0)[x - 1, y] + g[x, y] + pad(g, 0)[x + 3, y]", {"x": (-3, 1), "y": (0, 0)}),
        ("pad(g, 0)[2 * x, y]", {"y": (0, 0)}),
        ("rsum(g[x, k], k) * A[x, y]", {"x": (0, 0)}),
    ],
)
def test_of_one_func_on_another(body: str, expected: dict[str, tuple[int, int]]) -> None:
    model = lift(read(f"{HEAD} f[x, y] = {body}; f.compile();"))
    (flow,) = [one for one in dependences(model) if one.array == "g"]
    assert found(model, flow) == expected


@pytest.mark.parametrize("seed", range(30))
def test_every_pair_is_within_its_distance(seed: int) -> None:
    choose = seeded(seed)
    made = algorithm(choose, Limits(funcs=3, rank=2))
    model = lift(made)
    sizes = label_sizes(choose, made, 2, 3)
    known = by_name(model)
    for one in dependences(model):
        source, target = known[one.source], known[one.target]
        bounds = found(model, one)
        assert set(bounds) <= set(source.labels) & set(target.labels)
        for values in pairs(model, one.relation, sizes):
            before = dict(zip(source.labels, values, strict=False))
            after = dict(zip(target.labels, values[len(source.labels) :], strict=True))
            for label, (low, high) in bounds.items():
                assert low <= after[label] - before[label] <= high
