"""Find where frames are taken out of exponentials in a term: there a frame has to be finite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_terms import ZERO, is_taken_away
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.masked_quotients import is_nan_of_nothing
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.sums_of_algorithm import is_for_sum_of_algorithm
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Choose,
    Stored,
    Term,
    Total,
    children,
    choose,
    renamed,
    renamed_case,
)
from dtpoly.verify.algebra.whole import TRUE, Truth, both, negation


@dataclass(frozen=True, slots=True)
class FrameUse:
    """A frame that is used on a set of points: m in `exp(power * m + rest)`.

    If the exponential stands in sums, `bound` and `domain` are those of the sums, `masks` is under
    which conditions it stands there, `tests` are those of data that hold there, and `outside` is
    the set around the sums.
    """

    frame: Term
    where: Region
    power: Fraction = Fraction(0)
    rest: tuple[tuple[Fraction, Term], ...] = ()
    bound: tuple[str, ...] = ()
    domain: Truth = TRUE
    masks: Truth = TRUE
    tests: tuple[Term, ...] = ()
    outside: Region | None = None
    # Whether the frame is in a product that is a nan where the frame is infinite.
    is_nan: bool = False


def uses(
    run: ProofRun,
    framing: Framing,
    term: Term,
    where: Region,
    sums: FrameUse | None = None,
) -> Iterator[FrameUse]:
    """Yield where frames are taken out of exponentials in a term; `sums` has the sums around it.

    A divisor that is taken out of a sum may be 0 where nothing is summed, and 0 / 0 is not 0. So a
    maximum over what is summed must be finite there, as that of a frame: something is summed.
    """
    found = _in_term(run, framing, term, where, sums)
    if is_nan_of_nothing(framing, term):
        yield from (replace(one, is_nan=True) for one in found)
    else:
        yield from found


def _in_term(  # noqa: C901  # one case for each kind of term
    run: ProofRun, framing: Framing, term: Term, where: Region, sums: FrameUse | None
) -> Iterator[FrameUse]:
    match term:
        case AppliedOperation(operation=operation, operands=(_, *needs)) if operation == RUNNING:
            for one in needs:
                if not is_for_sum_of_algorithm(one):
                    yield FrameUse(one, where)
        case AppliedOperation(operation="exp", operands=(Choose() as a,)):
            sides = (AppliedOperation("exp", (side,)) for side in (a.yes, a.no))
            yield from uses(run, framing, choose(a.condition, *sides), where, sums)
        case AppliedOperation(operation="exp", operands=(a,)):
            around = sums or FrameUse(a, where)
            yield from _in_exponent(framing, a, replace(around, where=where))
            for one in children(term):
                yield from uses(run, framing, one, where)
        case Choose(condition=condition, yes=yes, no=no):
            holds = set_of(condition)
            ways = (
                (where.intersect(holds), condition, yes),
                (where.subtract(holds), negation(condition), no),
            )
            for inside, truth, side in ways:
                if not run.is_empty(inside):
                    within = None if sums is None else replace(sums, masks=both(sums.masks, truth))
                    yield from uses(run, framing, side, inside, within)
        case AppliedOperation(operation="where", operands=(test, yes, no)) if sums is not None:
            yield from uses(run, framing, test, where)
            yield from uses(run, framing, yes, where, _also_tested(sums, test))
            yield from uses(run, framing, no, where, sums)
        case Total(operation=operation):
            new = renamed(run, term)
            inside = where.intersect(set_of(new.domain))
            outer = sums or FrameUse(term, where, outside=where)
            within = _narrowed(outer, new.bound, new.domain) if operation == "add" else None
            if operation == "add" and framing.divisors(new.body, new.bound):
                yield FrameUse(Total("maximum", new.bound, new.domain, ZERO), where)
            yield from uses(run, framing, new.body, inside, within)
        case Stored(cases=stored):
            for _, condition, value in (renamed_case(run, one) for one in stored):
                yield from uses(run, framing, value, where.intersect(set_of(condition)))
        case AppliedOperation(operation="div", operands=(a, b)):
            yield from uses(run, framing, a, where, sums)
            yield from uses(run, framing, b, where)
        case _:
            is_through = split(term)[0] or (
                isinstance(term, AppliedOperation)
                and term.operation in ("add", "sub", "neg", "mul")
            )
            if isinstance(term, AppliedOperation) and term.operation in ("add", "sub"):
                yield from (FrameUse(one, where) for one in framing.beside_nothing(term))
            for one in children(term):
                yield from uses(run, framing, one, where, sums if is_through else None)


def _in_exponent(framing: Framing, exponent: Term, around: FrameUse) -> Iterator[FrameUse]:
    """Yield the frames of an exponent; what is beside the frame that is subtracted is its x.

    A frame that is added is such an x, too: where lanes or parts are put together, each has its own
    frame, and the one of all of them is subtracted. It must only be finite.
    """
    found = framing.exponent(exponent)
    frames = found.frames
    taken = [one for one, power in frames.items() if is_taken_away(one, power)]
    for frame, power in frames.items():
        others = [(p, one) for one, p in frames.items() if one != frame]
        if len(taken) == 1 and frame != taken[0]:
            yield replace(around, frame=frame, power=Fraction(0))
        else:
            rest = (*found.rest, *others)
            yield replace(around, frame=frame, power=power, rest=rest)


def _also_tested(sums: FrameUse, test: Term) -> FrameUse:
    return replace(sums, tests=tuple(dict.fromkeys((*sums.tests, test))))


def _narrowed(sums: FrameUse, bound: tuple[str, ...], domain: Truth) -> FrameUse:
    return replace(sums, bound=(*sums.bound, *bound), domain=both(sums.domain, domain))
