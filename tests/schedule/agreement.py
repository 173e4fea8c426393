"""Compares what isl and the oracle say of a case; raises AssertionError if they disagree."""

from collections.abc import Mapping
from dataclasses import replace

import islpy as isl

from dtpoly.algorithm.show import show
from dtpoly.poly.dependences import dependences
from dtpoly.poly.model import Role, Statement, by_name
from dtpoly.poly.order import ViolationKind
from dtpoly.poly.relate import read_pairs
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import found, judge_state
from dtpoly.schedule.state import State
from dtpoly.schedule.verdict import Verdict, Violation
from tests.oracle.cases import Case, kind_of
from tests.oracle.run import judge_schedule
from tests.schedule.user_primitives import USER

LEGAL = "legal"
# Witnesses are run at sizes up to this; none that came up needed more.
LARGEST = 40
# How many more indices each label has where the oracle is asked once more.
FURTHER = 3


def scheduled(case: Case) -> State:
    """The state that a case's directives lead to."""
    state = resolve(case.program, bind(case.program.directives, USER).primitives)
    statements = tuple(_in_order(one, case) for one in state.model.statements)
    return replace(state, model=replace(state.model, statements=statements))


def _in_order(statement: Statement, case: Case) -> Statement:
    """A step of an ordered reduction is a statement like any other: pairs of steps depend."""
    is_step = statement.role is Role.UPDATE and not statement.is_atomic
    if is_step and statement.func in case.ordered:
        return replace(statement, role=Role.VALUE)
    return statement


def agreed(case: Case) -> Verdict:
    """isl's verdict for all sizes, after every comparison that the oracle can make.

    What is illegal at the case's sizes is refused, and in the same way; what is legal there is
    refused at other sizes only. Each witness is illegal at its own sizes, and in the same way.
    """
    state = scheduled(case)
    verdict = judge_state(state)
    # A copy that lacks what is read is a fault of what makes copies.
    kinds = {violation.kind for violation in verdict.violations}
    assert ViolationKind.UNWRITTEN not in kinds, f"{verdict.violations}:\n{show(case.program)}"
    expected = kind_of(case.judged())
    if expected != LEGAL and not _is_open(state, case.sizes):
        assert not verdict.is_legal, f"isl accepts what {_told(case, expected)}"
    same_at(case, state, case.sizes, expected)
    for violation in verdict.violations:
        sizes = dict(violation.witness.sizes)
        assert max(sizes.values(), default=0) <= LARGEST
        expected = kind_of(judge_schedule(case.program, sizes, ordered=case.ordered))
        if expected == LEGAL and _begins_before_all(violation):
            sizes = {label: size + FURTHER for label, size in sizes.items()}
            expected = kind_of(judge_schedule(case.program, sizes, ordered=case.ordered))
        if not _is_open(state, sizes):
            assert expected != LEGAL, f"isl refuses what {_told(case, expected)}: {violation}"
            same_at(case, state, sizes, expected)
    return verdict


def _begins_before_all(violation: Violation) -> bool:
    """Return whether a loop of the example has a negative index.

    The loops of a copy begin where the formula for what is needed does, which may be before the
    first index; the oracle's begin at the first index that is needed. So one has an iteration more
    there. At larger sizes, in a later iteration of the reader, both have it.
    """
    places = (violation.witness.source.place, violation.witness.target.place)
    loops = [index for place in places if place is not None for index in place.loops.values()]
    return min(loops, default=0) < 0


def same_at(case: Case, state: State, sizes: Mapping[str, int], expected: str) -> None:
    """isl finds at some sizes what the oracle found there.

    What is not computed ends isl's search. The oracle may meet a read of it first, which it says
    comes too early.
    """
    if _is_open(state, sizes):
        return
    there = at_sizes(state, sizes)
    kinds = {str(one.kind) for one in found(there, dependences(there.model))}
    if expected == LEGAL:
        assert not kinds, f"isl finds {kinds} at {sizes} where {_told(case, expected)}"
    elif kinds != {str(ViolationKind.LOST)} or expected != str(ViolationKind.LATE):
        assert expected in kinds, f"isl finds {kinds} at {sizes} where {_told(case, expected)}"


def _is_open(state: State, sizes: Mapping[str, int]) -> bool:
    """Return whether the specification leaves open what is illegal at some sizes.

    After a fusion that is refused, what else is fused where is a matter of taste: that shows
    where the refusal itself has no instances.
    """
    context = at_sizes(state, sizes).model.context
    values, known = by_name(state.lifted), by_name(state.model)
    return any(
        read_pairs(values[fusion.func], known[name], context).is_empty()
        for fusion in state.fusions
        for name in fusion.outside
    )


def at_sizes(state: State, sizes: Mapping[str, int]) -> State:
    """The state with nothing said of other sizes."""
    context = state.model.context
    for label, param in state.model.size_of.items():
        position = context.find_dim_by_name(isl.dim_type.param, param)
        only = isl.Set.universe(context.get_space()).fix_val(
            isl.dim_type.param, position, sizes[label]
        )
        context = context & only
    assert not context.is_empty(), sizes
    return replace(state, model=replace(state.model, context=context))


def _told(case: Case, expected: str) -> str:
    return f"the oracle calls '{expected}':\n{case.sizes} {set(case.ordered)}\n{show(case.program)}"
