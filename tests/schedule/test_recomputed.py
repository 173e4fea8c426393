"""Tests counts of recomputed instances against counting at small sizes."""

import islpy as isl
import pytest

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.explained_directives import explain
from dtpoly.schedule.legality import judge
from dtpoly.schedule.recomputed import recomputed
from dtpoly.schedule.state import Fusion, State
from tests.oracle.cases import Case, case
from tests.schedule.told import TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER

NORM = (
    "Func f; In X; Var x, y; RVar k; f.compile();"
    "f[x, y] = X[x, y] * rsqrt(rsum(X[x, k] * X[x, k], k));"
)
STENCIL = "Func f, g; In A; Var x, u; g[u] = exp(A[u]); f[x] = g[x] + g[x + 2]; f.compile();"


N = TWO_PRODUCTS + "mm.fuse_at(_2mm, n, recompute);"
AGAIN = {
    "programs": (TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2, n:4);", "ceil(n / 4)"),
    "a loop": (N + "_2mm.tensorize(n:4);", "ceil(n / 4)"),
    "programs and a loop": (N + "_2mm.block(n:8); _2mm.tensorize(n:4);", "ceil(n / 8) * 2"),
    "split loops": (N + "_2mm.split(n:ni/4);", "ceil(n / 4)"),
    "a reduction": (NORM + "f.block(x:4, y:64);", "ceil(y / 64)"),
    "overlapping tiles": (STENCIL + "g.fuse_at(f, x, recompute); f.tensorize(x:4);", "6 / 4"),
    "overlapping blocks": (STENCIL + "g.fuse_at(f, x); f.block(x:8); f.tensorize(x:0);", "10 / 8"),
}


@pytest.mark.parametrize("name", AGAIN)
def test_formulas(name: str) -> None:
    text, formula = AGAIN[name]
    state = judge(read(text), DIRECTIVES).scheduled
    (one,) = recomputed(state)
    assert str(one.count) == formula
    few = {label: 16 for label in state.model.size_of}
    sizes = {"x": 64, "u": 66} if "u" in few else few
    assert one.count is not None
    # At the ends nothing overlaps.
    assert most(state.fusions[0], state, sizes) == pytest.approx(one.count.at(sizes), rel=0.1)


def test_a_count_needs_its_sizes() -> None:
    (one,) = recomputed(judge(read(AGAIN["programs"][0]), DIRECTIVES).scheduled)
    assert one.count is not None
    assert (one.count.at({"n": 9}), one.count.at({"m": 9})) == (3, None)


def times(statement: Statement, model: Model, sizes: dict[str, int]) -> float:
    """Return how often an instance of a copy is computed, on average."""
    domain = statement.domain.intersect_params(model.context)
    for label, param in model.size_of.items():
        at = domain.find_dim_by_name(isl.dim_type.param, param)
        if at >= 0:
            domain = domain.fix_val(isl.dim_type.param, at, isl.Val(sizes[label]))
    distinct = domain.project_out(isl.dim_type.set, 0, len(statement.copies))
    return points(domain) / max(points(distinct), 1)


def points(domain: isl.Set) -> int:
    found: list[isl.Point] = []
    params = domain.dim(isl.dim_type.param)
    domain.project_out(isl.dim_type.param, 0, params).foreach_point(found.append)
    return len(found)


def most(fusion: Fusion, state: State, sizes: dict[str, int]) -> float:
    """Return how often an instance is computed, of the statement of a copy with the most."""
    known = by_name(state.model)
    return max((times(known[name], state.model, sizes) for name in fusion.copies), default=0)


def check(chosen: Case) -> None:
    verdict = judge(chosen.program, USER)
    if any(one.kind is ViolationKind.LOST for one in verdict.violations):
        return
    state = verdict.scheduled
    told = {(one.func, one.kernel, one.is_reduction): one for one in recomputed(state)}
    for fusion in state.fusions:
        one = told.get((fusion.func, fusion.kernel, not fusion.label))
        actual = most(fusion, state, dict(chosen.sizes))
        if one is None:
            assert actual <= 1, fusion
        elif one.count is not None:
            said = one.count.at(chosen.sizes)
            assert said is not None
            assert actual <= said, (fusion, str(one.count))


@pytest.mark.parametrize("seed", range(0, 20, 10))
def test_of_random_schedules(seed: int) -> None:
    for number in range(seed, seed + 10):
        check(case(number))


@pytest.mark.long
@pytest.mark.parametrize("first", range(20, 700, 170))
def test_of_many_random_schedules(first: int) -> None:
    for number in range(first, first + 170):
        check(case(number))


def explained(numbers: range) -> None:
    for number in numbers:
        program = case(number).program
        told = explain(program, judge(program, USER), USER)
        assert len(told.directives) == len(program.directives)
        assert all(one.needed == "" for one in told.directives)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(0, 20, 10))
def test_a_random_schedule_is_explained(seed: int) -> None:
    explained(range(seed, seed + 10))


@pytest.mark.long
@pytest.mark.parametrize("first", range(20, 200, 60))
def test_many_random_schedules_are_explained(first: int) -> None:
    explained(range(first, first + 60))


def test_what_is_irregular_has_no_number() -> None:
    text = STENCIL.replace("g[x + 2]", "g[2 * x]") + "g.fuse_at(f, x, recompute);"
    (one,) = recomputed(judge(read(text), DIRECTIVES).scheduled)
    assert one.count is None
    assert one.what == "'g'"
