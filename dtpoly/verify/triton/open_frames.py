"""Values that an inner loop keeps in a frame, while an outer loop still carries them (lemma 13).

An inner loop begins with a value x and a running maximum m of which nothing is known but that the
outer loop carries them. What it leaves is written with the two in it: `x * exp(k * (M - m))`, and
the sum of the inner loop in the frame of M. For the outer loop that is one step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from dtpoly.verify.algebra.frame_terms import EXTREME, INFINITIES, is_written_number
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.powers_of_two import in_base_e
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
from dtpoly.verify.triton.frame_exponents import FrameSymbols, has_symbol

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


def unwrapped(new: Term, me: Carried) -> tuple[Term, list[Term]]:
    """Return a value in which what inner loops left of x is written out, and what it needs.

    It needs nothing where no inner loop left anything. What is written out is right where the
    running maxima are finite, from the start of this loop on.
    """
    needs: list[Term] = []
    done: dict[Term, Term] = {}

    def go(one: Term) -> Term:
        if one not in done:
            parts = tuple(map(go, children(one)))
            is_kept = isinstance(one, AppliedOperation) and one.operation == RUNNING
            if is_kept and OPEN in parts[1:] and me in walk(one):
                needs.extend(children(one)[1:])
                done[one] = parts[0]
            else:
                done[one] = rebuilt(one, parts)
        return done[one]

    return go(new), needs


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


def powers_in(
    framing: Framing, value: Term, frames: Mapping[Term, Term]
) -> Mapping[Term, Fraction] | None:
    """Return the power of each frame in an open value; None if it is in other frames, too.

    `frames` are what the running maxima are in it, each with the symbol that stands for it.
    """
    for one, symbol in frames.items():
        value = swapped(value, one, symbol)
    found = framing.value(in_base_e(value) or value)
    is_in_these = not found.over and not has_symbol(found.body)
    return dict(found.powers) if is_in_these and all(map(has_symbol, found.powers)) else None


def moved(
    framing: Framing,
    start: Term,
    factor: Term,
    ways: Mapping[FrameSymbols, tuple[Term, Term]],
    powers: Mapping[Term, Fraction],
) -> Term | None:
    """Return an open value in other frames, or None if it is in none that is known.

    `factor` is the correction of an iteration, with symbols for the maxima before and after it.
    `ways` say what the maxima are before and after the loop.
    """
    if isinstance(start, Carried):
        for symbol, (begun, ended) in ways.items():
            if not isinstance(begun, Carried) or begun.loop != start.loop:
                return None
            factor = swapped(swapped(factor, symbol.old, begun), symbol.new, ended)
        return AppliedOperation("mul", (start, factor))
    value = children(start)[0]
    frames: dict[Term, Term] = {begun: symbol.new for symbol, (begun, _) in ways.items()}
    if powers_in(framing, value, frames) != dict(powers):
        return None
    for begun, ended in ways.values():
        value = swapped(value, begun, ended)
    return value
