"""Take what an iteration sets apart: the variable as it was, the operation, and what comes in."""

from __future__ import annotations

from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.recurrences import JOINED, step_of
from dtpoly.verify.algebra.terms import AppliedOperation, Carried, Choose, Pair, Term, choose
from dtpoly.verify.algebra.whole import Whole, negation
from dtpoly.verify.triton.list_calls import carried_list

Pieces = tuple[tuple[str, ...], str, list[Term]]


def pieces_of(term: Term, loop: str, lanes: tuple[Whole, ...]) -> Pieces | None:
    """Take `old op a op b` apart into the variables of old, op, and [a, b]; None for others."""
    match term:
        case AppliedOperation(operation=operation, operands=(left, right)) if operation in IDENTITY:
            for old, new in ((left, right), (right, left)):
                variables = _old(old, loop, lanes)
                if variables is not None:
                    return variables, operation, [new]
                inner = pieces_of(old, loop, lanes)
                if inner is not None and inner[1] == operation:
                    return inner[0], operation, [*inner[2], new]
            return None
        case Choose(condition=condition, yes=yes, no=no):
            sides = ((condition, yes, no), (negation(condition), no, yes))
            for where, other, stays in sides:
                inner = pieces_of(other, loop, lanes)
                if inner is not None and _old(stays, loop, lanes) == inner[0]:
                    variables, operation, pieces = inner
                    nothing = IDENTITY[operation]
                    return variables, operation, [choose(where, one, nothing) for one in pieces]
            return None
        case _:
            return None


def step_with(term: Term, loop: str, lanes: tuple[Whole, ...]) -> Pieces | None:
    """Take `factor * old + added` apart into the variable of old, the step, and its operation."""
    for before, step in step_of(term):
        variables = _old(before, loop, lanes)
        if variables is not None:
            return variables, JOINED, [step]
    return None


def _old(term: Term, loop: str, lanes: tuple[Whole, ...]) -> tuple[str, ...] | None:
    match term:
        case Carried(variable=variable, loop=of, lanes=at) if of == loop and at == lanes:
            return (variable,)
        case Pair(value=Carried() as value, place=Carried() as place):
            both_of = (value, place)
            if all(one.loop == loop and one.lanes == lanes for one in both_of):
                return (value.variable, place.variable)
            return None
        case _:
            return carried_list(term, loop, lanes)
