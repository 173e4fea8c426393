"""Tells a developer what differs: first how often, then each distinct change once."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from tests.same.comparing import WORDING, Aspect, Change, changes, is_undecided
from tests.same.outcome import Entry, Kind, Outcome

# This many lines, and this many names of texts, are shown of one change.
LINES, NAMES = 60, 5
# One text in this many may be newly undecided, and at least a few: a text that is not compared must
# not count as the same.
SHARE, FEW = 200, 2


@dataclass
class Compared:
    """The comparisons that were made so far."""

    entries: int = 0
    # For each change, the names of the texts that it occurs in.
    found: dict[Change, list[str]] = field(default_factory=dict[Change, list[str]])
    undecided: list[str] = field(default_factory=list[str])
    changed: set[str] = field(default_factory=set[str])

    def add(self, entry: Entry, now: Outcome, facts_only: bool = False) -> None:
        """Compare one more text."""
        self.entries += 1
        if is_undecided(entry, now):
            self.undecided.append(entry.name)
        for one in changes(entry, now):
            if not (facts_only and one.aspect in WORDING):
                self.found.setdefault(one, []).append(entry.name)
                self.changed.add(entry.name)

    @property
    def is_same(self) -> bool:
        """True if nothing differs and almost everything could be compared."""
        return not self.found and len(self.undecided) <= max(FEW, self.entries // SHARE)

    def by_aspect(self) -> Mapping[Aspect, list[tuple[Change, list[str]]]]:
        """Return the changes of each aspect; those that most texts have come first."""
        found: dict[Aspect, list[tuple[Change, list[str]]]] = {}
        order = sorted(self.found.items(), key=lambda one: (-len(one[1]), sorted(one[1])[0]))
        for aspect in Aspect:
            mine = [(change, sorted(names)) for change, names in order if change.aspect is aspect]
            if mine:
                found[aspect] = mine
        return found


def told(compared: Compared, shown: int) -> Iterator[str]:
    """Yield the lines of a report, with this many changes of each aspect."""
    for aspect, found in compared.by_aspect().items():
        names = {name for _, some in found for name in some}
        yield f"{aspect}: {_count(len(names), 'text')}, {_count(len(found), 'distinct change')}"
        for change, some in found[:shown]:
            yield ""
            more = f" and {len(some) - NAMES} more" if len(some) > NAMES else ""
            yield f"  {change.name or aspect}, in {', '.join(some[:NAMES])}{more}"
            lines = change.lines()
            yield from (f"    {line}" for line in lines[:LINES])
            if len(lines) > LINES:
                yield f"    ... and {len(lines) - LINES} lines more"
        if len(found) > shown:
            yield f"  {len(found) - shown} more are shown with --shown {len(found)}"
        yield ""
    if compared.undecided:
        yield f"undecided, and not compared: {', '.join(sorted(compared.undecided)[:NAMES])}"
    yield _last_line(compared)


def _last_line(compared: Compared) -> str:
    count = _count(compared.entries, "text")
    undecided = f", {len(compared.undecided)} undecided" if compared.undecided else ""
    if compared.is_same:
        return f"the same: {count}{undecided}"
    if not compared.found:
        return f"too much is undecided to say that it is the same: {count}{undecided}"
    words = "in words alone" if _is_wording(compared.found) else "in more than words"
    return f"not the same, {words}: {len(compared.changed)} of {count}{undecided}"


def _is_wording(found: Iterable[Change]) -> bool:
    return all(one.aspect in WORDING for one in found)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def is_kept(now: Outcome) -> bool:
    """True if an outcome may be frozen: an undecided or broken one says nothing that lasts."""
    return now.kind in (Kind.EMITTED, Kind.REFUSED)
