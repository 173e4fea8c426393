"""Names of a proof in; Unread, if two of them are one name where a proof is written down.

isl is asked with names as they are. In a certificate, and where z3 is asked, what is no letter and
no digit is an underscore: of two numbers with one name each would be known what is of the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from dtpoly.verify.access import Ran
from dtpoly.verify.held import Wrapper
from dtpoly.verify.notation import plain
from dtpoly.verify.values import Unread
from dtpoly.verify.whole import Truth, names_of


def check_apart(wrapper: Wrapper, runs: Sequence[Ran], facts: Truth) -> None:
    """No two sizes, strides, programs, loops or lanes have one name. Raises Unread."""
    numbers = (one for array in wrapper.arrays.values() for one in (*array.shape, *array.strides))
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
