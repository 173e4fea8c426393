"""The order check itself, on dependences that no Program has."""

from dataclasses import replace

import islpy as isl

from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.model import by_name
from dtpoly.poly.order import ViolationKind, broken
from dtpoly.poly.witness import first_pair
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from tests.schedule.told import SUM, TWO, read


def scan(state: State) -> Dependence:
    """Each step of a reduction needs the step before it."""
    update = by_name(state.model)["total.k.update"]
    space = update.domain.get_space()
    order = isl.Map.lex_lt(space).equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)
    relation = order.intersect_domain(update.domain).intersect_range(update.domain)
    return Dependence(DependenceKind.FLOW, "total.k", update.name, update.name, relation)


def kinds(directives: str) -> list[ViolationKind]:
    program = read(SUM + directives)
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    ways = {path.statement: path for path in paths(state.kernels)}
    return [one.kind for one in broken(state.model, ways, (scan(state),))]


def test_a_loop_keeps_the_order() -> None:
    assert kinds("") == []
    assert kinds("total.split(k:ki/4); total.tensorize(x:4);") == []


def test_lanes_race() -> None:
    assert kinds("total.tensorize(k:4);") == [ViolationKind.RACE]


def test_a_strided_loop_is_too_late() -> None:
    found = kinds("total.split(k:ki/4); total.reorder(ki, k);")
    assert found == [ViolationKind.LATE]


def test_programs_cross() -> None:
    program = read(SUM + "total.block(x:4);")
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    one = scan(state)
    update = by_name(state.model)["total.k.update"]
    across = isl.Map.lex_lt(update.domain.get_space())
    across = across.intersect_domain(update.domain).intersect_range(update.domain)
    ways = {path.statement: path for path in paths(state.kernels)}
    (found,) = broken(state.model, ways, (replace(one, relation=across),))
    assert found.kind is ViolationKind.CROSSES
    steps = replace(one, relation=across, kind=DependenceKind.REDUCTION)
    assert [b.kind for b in broken(state.model, ways, (steps,))] == [ViolationKind.CROSSES]
    pair = first_pair(state.model, found.pairs)
    assert (pair.sizes, pair.source, pair.target) == ({"N_x": 5, "N_k": 1}, (0, 0), (4, 0))


def test_the_first_pair_may_be_far() -> None:
    """As with large numbers in indices."""
    text = "[N_x, N_k] -> { [x] -> [x + 70000] : 0 <= x and x + 70000 < N_x and N_k >= 0 }"
    pair = first_pair(resolve(read(SUM), ()).model, isl.Map(text))
    assert (pair.sizes, pair.source, pair.target) == ({"N_x": 70001, "N_k": 1}, (0,), (70000,))


def test_a_kernel_that_runs_later_is_too_late() -> None:
    program = read(TWO)
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    ways = {path.statement: path for path in paths(state.kernels[::-1])}
    found = broken(state.model, ways, dependences(state.model))
    assert [(one.dependence.source, one.kind) for one in found] == [("g", ViolationKind.LATE)]


def test_all_dependences_of_two_statements_count() -> None:
    program = read(SUM + "total.tensorize(k:4);")
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    ways = {path.statement: path for path in paths(state.kernels)}
    racing = scan(state)
    none = replace(racing, kind=DependenceKind.ANTI, relation=racing.relation - racing.relation)
    assert [one.kind for one in broken(state.model, ways, (none, racing))] == [ViolationKind.RACE]


def test_reduction_pairs_may_come_in_any_order_in_one_program() -> None:
    program = read(SUM + "total.split(k:ki/4); total.reorder(ki, k); total.tensorize(ki:2);")
    state = resolve(program, bind(program.directives, DIRECTIVES).primitives)
    ways = {path.statement: path for path in paths(state.kernels)}
    steps = replace(scan(state), kind=DependenceKind.REDUCTION)
    assert not list(broken(state.model, ways, (steps,)))
