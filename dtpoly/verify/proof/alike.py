"""Refuse a proof in which two different names would become one when it is written down.

isl is asked with the names as they are. A certificate, and the questions to z3, write an underscore
for each character that is neither a letter nor a digit (`a.b` becomes `a_b`). If two numbers got
the same name that way, what is known of one would be taken for known of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.notation import plain
from dtpoly.verify.algebra.whole import Truth, names_of
from dtpoly.verify.plan.held import FunctionReading
from dtpoly.verify.triton.access import Ran


def check_apart(reading: FunctionReading, runs: Sequence[Ran], facts: Truth) -> None:
    """Raise Unread if two sizes, strides, programs, loops or lanes would get the same name."""
    numbers = (one for array in reading.arrays.values() for one in (*array.shape, *array.strides))
    found = names_of(facts).union(*map(names_of, numbers), *map(_names, runs))
    _check(sorted(found))


def _names(ran: Ran) -> frozenset[str]:
    ranges = (*ran.programs.values(), *ran.ranges.values())
    return frozenset((*ran.programs, *ran.ranges)).union(*map(names_of, ranges))


def _check(names: Iterable[str]) -> None:
    known: dict[str, str] = {}
    for one in names:
        other = known.setdefault(plain(one), one)
        if other != one:
            raise Unread(1, f"'{other}' and '{one}', which are one name where a proof is written")
