"""Values that an inner loop keeps in a frame, while an outer loop still carries them (lemma 13).

An inner loop begins with a value x and a running maximum m of which nothing is known but that the
outer loop carries them. What it leaves is written with the two in it: `x * exp(k * (M - m))`, and
the sum of the inner loop in the frame of M. For the outer loop that is one step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dtpoly.verify.algebra.frame_terms import EXTREME, INFINITIES, inward, is_written_number
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Carried,
    Choose,
    Literal,
    Term,
    children,
    rebuilt,
    swapped,
    walk,
)


# What an open value needs: that it is closed, so that nobody takes it for a value before that.
OPEN = AppliedOperation("open", (Literal("nan"),))


def is_open(value: Term, me: Carried) -> bool:
    """Return whether a value is what an outer loop carries of x, or what an inner loop left."""
    match value:
        case Carried(variable=variable, loop=loop):
            return variable == me.variable and loop != me.loop
        case AppliedOperation(operation=operation, operands=(_, *needs)) if operation == RUNNING:
            return OPEN in needs
        case _:
            return False


def unwrapped(new: Term) -> tuple[Term, list[Term] | None]:
    """Return a value in which what inner loops left open is written out, and what it needs.

    The second is None where no inner loop left anything. What is written out is right where the
    running maxima are finite, from the start of this loop on.
    """
    needs: list[Term] = []
    done: dict[Term, Term] = {}

    def go(one: Term) -> Term:
        if one not in done:
            parts = tuple(map(go, children(one)))
            if isinstance(one, AppliedOperation) and one.operation == RUNNING and OPEN in parts[1:]:
                needs.extend(one.operands[1:])
                done[one] = parts[0]
            else:
                done[one] = rebuilt(one, parts)
        return done[one]

    found = go(new)
    return found, None if found == new else needs


def starts_finite(start: Term) -> bool:
    """Return whether a running maximum starts with a finite number, or with more than one.

    So it is finite in each iteration, since it only grows.
    """
    match start:
        case Literal():
            return start not in INFINITIES and is_written_number(start)
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            return any(map(starts_finite, operands))
        case Choose(yes=yes, no=no):
            return starts_finite(yes) and starts_finite(no)
        case _:
            return False


def moved(
    framing: Framing,
    start: Term,
    factor: Term,
    begun: Mapping[Term, Term],
    ended: Mapping[Term, Term],
    powers: Mapping[Term, Fraction],
) -> Term | None:
    """Return an open value in other frames, or None if it is in none that is known.

    `factor` is the correction of an iteration, with symbols for the maxima before and after it:
    `begun` and `ended` say what the maxima are before and after the loop.
    """
    if isinstance(start, Carried):
        begins = all(
            isinstance(one, Carried) and one.loop == start.loop for one in begun.values()
        )
        if not begins:
            return None
        for symbol, one in (*begun.items(), *ended.items()):
            factor = swapped(factor, symbol, one)
        return AppliedOperation("mul", (start, factor))
    if not (isinstance(start, AppliedOperation) and start.operation == RUNNING):
        return None
    value = start.operands[0]
    began = framing.value(value)
    frames = {
        inward(old): power for old, power in zip(begun.values(), powers.values(), strict=True)
    }
    if began.over or dict(began.powers) != frames:
        return None
    if any(one in frames or one in begun.values() for one in walk(began.body)):
        return None
    for old, end in zip(begun.values(), ended.values(), strict=True):
        value = swapped(value, old, end)
    return value
