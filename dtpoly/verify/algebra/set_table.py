"""Turn regions into a numbered table of sets that JSON can hold, as certificates need it.

Each set is in the table once, behind the sets that it is made of.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.notation import plain, set_text
from dtpoly.verify.algebra.regions import Join, Meet, Minus, Region, Twins, WhereTrue, Without


@dataclass
class SetTable:
    """Sets by number. An entry is a word, followed by the numbers of the sets that it joins."""

    entries: list[list[object]] = field(default_factory=list[list[object]])
    _numbers: dict[str, int] = field(default_factory=dict[str, int])
    _known: dict[Region, int | None] = field(default_factory=dict[Region, int | None])

    @classmethod
    def of(cls, entries: Sequence[list[object]]) -> SetTable:
        """Return the table that was read from a certificate."""
        numbers = {json.dumps(entry): at for at, entry in enumerate(entries)}
        return cls(list(entries), numbers)

    def find(self, region: Region) -> int | None:
        """Return the number of a set, or None if it is not in the table."""
        if region not in self._known:
            parts = [self.find(part) for part in parts_of(region)]
            here = [part for part in parts if part is not None]
            is_here = len(here) == len(parts)
            key = json.dumps(_entry(region, here)) if is_here else ""
            self._known[region] = self._numbers.get(key)
        return self._known[region]

    def add(self, region: Region) -> int:
        """Return the number of a set, which is put into the table if it is not there yet."""
        found = self._known.get(region)
        if found is None:
            entry = _entry(region, [self.add(part) for part in parts_of(region)])
            key = json.dumps(entry)
            found = self._numbers.setdefault(key, len(self.entries))
            if found == len(self.entries):
                self.entries.append(entry)
            self._known[region] = found
        return found


def parts_of(region: Region) -> tuple[Region, ...]:
    """Return the sets that a set is made of."""
    match region:
        case Meet(left=left, right=right) | Join(left=left, right=right):
            return (left, right)
        case Minus(left=left, right=right):
            return (left, right)
        case Without(of=inner) | Twins(of=inner):
            return (inner,)
        case _:
            return ()


def _entry(region: Region, parts: Sequence[int]) -> list[object]:
    match region:
        case WhereTrue(truth=truth):
            return ["holds", set_text(truth)]
        case Meet():
            return ["meet", *parts]
        case Join():
            return ["join", *parts]
        case Minus():
            return ["minus", *parts]
        case Without(gone=gone):
            return ["without", *parts, [plain(one) for one in gone]]
        case Twins(new=new):
            return ["twins", *parts, [[plain(old), plain(one)] for old, one in new]]
        case _:
            raise TypeError(region)
