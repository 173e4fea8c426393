"""Read the text of a certificate into claims; refuse, with a reason, any text that is none.

The text may come from anyone. So it may have any length, depth and content, and whatever it is, the
reader ends with claims or with a MalformedError.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import NoReturn, cast

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.notation import plain
from dtpoly.verify.algebra.regions import Region, Without
from dtpoly.verify.algebra.set_table import SetTable
from dtpoly.verify.algebra.whole import Whole, name, number

MOST_CHARACTERS = 2**26
MOST_DEPTH = 50
# The witnesses of a function may consist of at most this many lists, because we look at each list.
MOST_LISTS = 20_000
NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")  # of a set
Object = dict[str, object]


class MalformedError(Exception):
    """The text is not a certificate; the message says why."""


def read(text: str) -> Object:
    """Read strict JSON: an object without repeated keys, whose numbers are all whole."""
    if len(text) > MOST_CHARACTERS:
        raise MalformedError(f"it has more than {MOST_CHARACTERS} characters")
    try:
        found: object = json.loads(
            text, object_pairs_hook=_unique, parse_float=_no_number, parse_constant=_no_number
        )
    except (ValueError, RecursionError, MemoryError) as error:
        raise MalformedError(f"it is not JSON of a certificate: {error}") from error
    if not isinstance(found, dict):
        raise MalformedError("it is not a JSON object")
    return cast(Object, found)


def _unique(pairs: list[tuple[str, object]]) -> Object:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise MalformedError("it has a key twice")
    return found


def _no_number(text: str) -> NoReturn:
    raise MalformedError(f"it has '{text}' for a whole number")


@dataclass(frozen=True)
class Claim:
    """The claims of a certificate about one function."""

    section: Object
    table: SetTable
    empty: frozenset[int]
    witnesses: Mapping[int, list[object]]

    def is_empty(self, region: Region) -> bool:
        """True if the certificate says that a set is empty."""
        found = self.table.find(region)
        return found is not None and found in self.empty

    def witness(self, of: Without, at: int) -> list[tuple[Whole, ...]] | None:
        """Return the certificate's witnesses for a projection, or None if it gives none.

        Each witness is one way to choose numbers for the names that are projected out.
        """
        if at not in self.witnesses:
            return None
        names = {plain(one): one for one in of.of.names}
        if len(names) < len(of.of.names):
            raise MalformedError("two names of a set are written alike")
        ways = [_listed(way, "a witness") for way in self.witnesses[at]]
        if any(len(way) != len(of.gone) for way in ways):
            raise MalformedError("a witness has not as many numbers as names are projected out")
        return [tuple(_number(form, names, 0) for form in way) for way in ways]


def claims_of(document: Object) -> dict[str, Claim]:
    """Return the claims of a certificate, by the name of the function."""
    found: dict[str, Claim] = {}
    for one in _listed(document.get("functions"), "'functions'"):
        if not isinstance(one, dict):
            raise MalformedError("a function is not a JSON object")
        said = cast(Object, one)
        func = said.get("name")
        if not isinstance(func, str) or func in found:
            raise MalformedError("a function has no name of its own")
        found[func] = _claim(said)
    return found


def _claim(said: Object) -> Claim:
    sets = [_listed(one, "a set") for one in _listed(said.get("sets"), "'sets'")]
    empty: set[int] = set()
    for one in _listed(said.get("obligations"), "'obligations'"):
        at = cast(Object, one).get("empty") if isinstance(one, dict) else None
        if type(at) is not int:
            raise MalformedError("an obligation does not say which set is empty")
        empty.add(at)
    witnesses = said.get("witnesses")
    if not isinstance(witnesses, dict):
        raise MalformedError("'witnesses' is not a JSON object")
    if _lists_in(cast(Object, witnesses)) > MOST_LISTS:
        raise MalformedError(f"the witnesses of a function are more than {MOST_LISTS} lists")
    ways: dict[int, list[object]] = {}
    for at, one in cast(Object, witnesses).items():
        # A number may be written in one way only (not 01 for 1), so that no set has two
        # witnesses.
        if not NUMBER.fullmatch(at):
            raise MalformedError("a witness is of no set")
        ways[int(at)] = _listed(one, "a witness")
    section = {key: one for key, one in said.items() if key != "witnesses"}
    return Claim(section, SetTable.of(sets), frozenset(empty), ways)


def _lists_in(witnesses: Object) -> int:
    """Return how many lists there are in the witnesses, at any depth."""
    pending = [*witnesses.values()]
    count = 0
    while pending:
        found = pending.pop()
        if isinstance(found, list):
            count += 1
            pending += cast(list[object], found)
    return count


def _listed(value: object, what: str) -> list[object]:
    if not isinstance(value, list):
        raise MalformedError(f"{what} is not a list")
    return cast(list[object], value)


def _number(form: object, names: Mapping[str, str], depth: int) -> Whole:
    """Read a number of a witness, which is a list of terms that are added up.

    A term is [factor], [factor, name] or [factor, number, divisor]; the last one is the factor
    times the quotient of a number, rounded down.
    """
    if depth > MOST_DEPTH:
        raise MalformedError("a number of a witness is nested too deeply")
    total = number(0)
    for term in _listed(form, "a number of a witness"):
        match _listed(term, "a term of a witness"):
            case [int() as factor]:
                total = total + factor
            case [int() as factor, str() as one] if one in names:
                total = total + name(names[one]) * factor
            case [int() as factor, inner, int() as divisor] if divisor > 0:
                inside = _number(inner, names, depth + 1)
                total = total + inside.floor(divisor) * factor
            case _:
                raise MalformedError("a number of a witness is not one")
    return total
