"""Reads of private copies and partial results that no statement fills are found."""

from dataclasses import replace

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.order import ViolationKind
from dtpoly.poly.unwritten import never_written
from dtpoly.schedule.applied_directives import scheduled
from dtpoly.schedule.legality import judge_state
from dtpoly.schedule.state import State
from dtpoly.source import Source
from tests.schedule.folded import hollow
from tests.schedule.told import SUM, TWO

SHIFTED = """
Func f, g; In A; Var x, u;
g[u] = A[u]; f[x] = g[x] + g[x + 1];
f.compile(); g.fuse_at(f, x, recompute);
"""


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def readers(state: State) -> list[tuple[str, str]]:
    found = never_written(state.lifted, state.model)
    return [(one.dependence.source, one.dependence.array) for one in found]


@pytest.mark.parametrize(
    "text",
    [
        TWO + "f.block(x:3); f.tensorize(y:2); g.fuse_at(f, x);",
        SHIFTED + "f.block(x:4);",
        SUM + "total.block(k:4);",
    ],
)
def test_what_a_schedule_reads_is_computed(text: str) -> None:
    assert readers(scheduled(program(text), DIRECTIVES)) == []


def test_a_copy_that_lacks_an_element() -> None:
    state = hollow(program(TWO + "f.block(x:3); g.fuse_at(f, x);"), "g", "y")
    assert readers(state) == [("f", "g@f")]
    (violation,) = judge_state(state).violations
    assert violation.kind is ViolationKind.UNWRITTEN
    assert dict(violation.witness.target.indices) == {"x": 0, "y": 0}
    assert str(violation).startswith("reads what nothing writes: at x = 1, y = 1, f[0, 0] in")


def test_what_lies_beyond_the_end_is_not_missing() -> None:
    """The padding is read there."""
    text = SHIFTED.replace("g[x + 1]", "pad(g, 0)[x - 1]")
    assert readers(scheduled(program(text), DIRECTIVES)) == []
    state = hollow(program(text), "g", "u")
    (violation,) = judge_state(state).violations
    assert dict(violation.witness.sizes) == {"x": 1, "u": 1}
    assert dict(violation.witness.target.indices) == {"x": 0}


def test_a_partial_result_that_is_missing() -> None:
    state = scheduled(program(SUM + "total.block(k:4);"), DIRECTIVES)
    statements = tuple(
        replace(one, domain=one.domain.subtract(one.domain.lexmin()))
        if one.name.endswith(".partial")
        else one
        for one in state.model.statements
    )
    state = replace(state, model=state.model.with_statements(statements))
    assert readers(state) == [("total.k.update", "total.k.partial")]
