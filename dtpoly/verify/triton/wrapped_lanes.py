"""Read remainders by a size, with which kernels keep lanes beyond the end inside of a tensor.

`i % size` is i where i is from 0 to size - 1. Elsewhere it is read as some unknown index below the
size. An access must be inside of its tensor for each such index, and the value that is loaded there
is not defined. That is less than is known about a remainder, so it may be used in the address of a
load and nowhere else.
"""

from __future__ import annotations

from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import PointerValue, Unread
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import names
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Either,
    Floor,
    Truth,
    Whole,
    both,
    either,
    name,
    names_of,
    negation,
    number,
    within,
)
from dtpoly.verify.triton.access import Dividend
from dtpoly.verify.triton.domains import ranged
from dtpoly.verify.triton.kernel_state import KernelState

MARK = "wrapped"


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """An offset in two cases: `inside` where nothing is beyond the end, and `outside` elsewhere.

    `where` is the condition that nothing is beyond the end.
    """

    inside: Whole
    where: Truth
    outside: Whole


def remainder(state: KernelState, value: Whole, size: Whole, line: int) -> Whole:
    """Return `value % size` for a size that is no constant.

    Where each program and lane is known to have a value from 0 to size - 1, that is the value.
    """
    if _is_inside(state, value, size):
        return value
    beyond = state.run.fresh(MARK)
    state.run.assume(Lemma.WRAPPED, beyond, value, size)
    state.ranges[beyond] = within(number(0), name(beyond), size)
    state.wraps[beyond] = line
    # A program runs here, so the size must not be 0; otherwise this divides by 0.
    there = both(state.here(), *state.digits.ranges.values())
    state.divided.append(Dividend(value, None, state.here(), line))
    state.divided.append(Dividend(size - 1, None, there, line))
    inside = within(number(0), value, size)
    if inside == FALSE:
        raise Unread(line, "a remainder of a number below 0")
    return either(inside, value, name(beyond))


def _is_inside(state: KernelState, value: Whole, size: Whole) -> bool:
    """Return whether a number is known to be from 0 to size - 1 wherever it is computed."""
    return _holds(state, within(number(0), value, size), TRUE)


def _holds(state: KernelState, claim: Truth, where: Truth) -> bool:
    """Return whether a condition is known to hold here where another one does."""
    there = both(state.facts, state.here(), where, negation(claim))
    if not is_affine(there):
        return False
    ranges = ranged(state.digits.ranges, state.ranges, names_of(there))
    if not is_affine(ranges):
        return False
    state.run.about(state.line, "takes the remainder of a number that is below the divisor")
    return state.run.is_empty(set_of(both(there, ranges)))


def under_mask(state: KernelState, address: PointerValue, where: Truth) -> PointerValue:
    """Return an address without the remainders that change nothing where a mask lets through.

    With `at % size` and the mask `at < size`, the address is used only where it is at `at`.
    """
    if state.trials or not (names_of(address.offset) & state.wraps.keys()):
        return address
    return replace(
        address,
        offset=_settled(state, address.offset, where),
        parts=tuple(_settled(state, one, where) for one in address.parts),
    )


def _settled(state: KernelState, of: Whole, where: Truth) -> Whole:
    total = number(0)
    for monomial, coefficient in of.terms:
        product = number(coefficient)
        for atom in monomial:
            one = Whole((((atom,), 1),))
            if isinstance(atom, Either) and _is_wrap(state, atom.no):
                one = atom.yes if _holds(state, atom.condition, where) else one
            product = product * one
        total = total + product
    return total


def quotient(state: KernelState, of: Whole, by: int) -> Whole | None:
    """Return the quotient of a remainder by a size as a choice; None if it is something else."""
    match of.terms:
        case ((((Either() as choice),), 1),) if _is_wrap(state, choice.no):
            return either(choice.condition, choice.yes.floor(by), choice.no.floor(by))
        case _:
            return None


def unwrapped(state: KernelState, offset: Whole) -> Unwrapped:
    """Return an offset without remainders."""
    inside, outside, where = number(0), number(0), TRUE
    for monomial, coefficient in offset.terms:
        first, second = number(coefficient), number(coefficient)
        for atom in monomial:
            match atom:
                case Either(condition=condition, yes=yes, no=no) if _is_wrap(state, no):
                    where = both(where, condition)
                    first, second = first * yes, second * no
                case _:
                    one = Whole((((atom,), 1),))
                    first, second = first * one, second * one
        inside, outside = inside + first, outside + second
    return Unwrapped(inside, where, outside)


def beyond(of: Unwrapped) -> Truth:
    """Return the condition that something is beyond the end."""
    return negation(of.where)


def _is_wrap(state: KernelState, of: Whole) -> bool:
    """Return whether a number is an unknown index below a size, or a quotient of one.

    It may be all that the remainder, or its quotient, can be, also where nothing is beyond the end.
    """
    match of.terms:
        case (((Floor(operand=operand),), 1),):
            return operand.plain in state.wraps
        case _:
            return of.plain in state.wraps


def check(state: KernelState) -> None:
    """Refuse a remainder by a size that is used for more than to load. Raises Unread."""
    wraps = state.wraps
    for one, range_of in state.ranges.items():
        if one not in wraps and (found := names_of(range_of).intersection(wraps)):
            raise Unread(wraps[min(found)], "a remainder by a size, that decides how often")
    for access in state.accesses:
        used = names_of(access.where)
        if access.value is not None:
            used |= names(access.value)
        if access.kind != "load":
            used = used.union(*map(names_of, access.indices))
        if found := used.intersection(wraps):
            what = "a remainder by a size, that decides more than what is loaded"
            raise Unread(wraps[min(found)], what)
