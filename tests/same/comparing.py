"""Compares the outcome of a text when it was frozen with its outcome now."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum

from tests.same.outcome import Entry, Kind, Outcome, Part, Piece

UNDECIDED = "undecided"


class Aspect(StrEnum):
    """The kinds of differences, the worst first."""

    BROKEN = "what no user should see"
    ENDING = "emitted or refused"
    VERDICTS = "verdicts of layers"
    FACTS = "codes, places and numbers of messages"
    LAUNCHES = "what calls launch, or how they are refused"
    KERNELS = "kernels"
    FUNCTIONS = "plans and functions"
    SHARED = "shared functions"
    DIRECTIVES = "directives that change something"
    REASONS = "reasons for what is not proved, in words"
    WORDS = "words of messages"


# These kinds are about wording only.
WORDING = frozenset({Aspect.REASONS, Aspect.WORDS})
PARTS = {
    Part.KERNEL: Aspect.KERNELS,
    Part.FUNCTION: Aspect.FUNCTIONS,
    Part.SHARED: Aspect.SHARED,
}


@dataclass(frozen=True, slots=True)
class Change:
    """A difference, with the lines before and the lines now."""

    aspect: Aspect
    name: str
    before: str
    after: str

    def lines(self) -> list[str]:
        """Return the change as lines that begin with `-`, `+` or a blank."""
        before, after = self.before.splitlines(), self.after.splitlines()
        return list(unified_diff(before, after, "frozen", "now", lineterm=""))


def is_undecided(entry: Entry, now: Outcome) -> bool:
    """True if a limit of work was reached, now or when the text was frozen."""
    return Kind.UNDECIDED in (entry.outcome.kind, now.kind)


def changes(entry: Entry, now: Outcome) -> tuple[Change, ...]:
    """Return all differences; if a limit of work was reached, nothing is compared."""
    before = entry.outcome
    if is_undecided(entry, now):
        return ()
    if now.kind is Kind.BROKEN:
        return (Change(Aspect.BROKEN, entry.name, before.why, now.why),)
    if before.kind is not now.kind:
        return (Change(Aspect.ENDING, entry.name, _summary(before), _summary(now)),)
    return tuple(_changes(before, now))


def _summary(outcome: Outcome) -> str:
    said = "\n".join(f"{one.facts} {one.words}" for one in outcome.messages)
    return f"{outcome.kind}\n{said}"


def _changes(before: Outcome, now: Outcome) -> Iterator[Change]:
    yield from _verdicts(before, now)
    yield from _lists(
        Aspect.FACTS,
        [one.facts for one in before.messages],
        [one.facts for one in now.messages],
    )
    if [one.facts for one in before.messages] == [one.facts for one in now.messages]:
        for old, new in zip(before.messages, now.messages, strict=True):
            yield from _lists(Aspect.WORDS, old.words.splitlines(), new.words.splitlines())
    for call, old_lines, new_lines in now.launches:
        yield Change(Aspect.LAUNCHES, call, old_lines, new_lines)
    yield from _lists(Aspect.DIRECTIVES, before.directives, now.directives)
    for part, aspect in PARTS.items():
        yield from _pieces(aspect, before.pieces_of(part), now.pieces_of(part))


def _lists(aspect: Aspect, before: Sequence[str], now: Sequence[str]) -> Iterator[Change]:
    if list(before) != list(now):
        yield Change(aspect, "", "\n".join(before), "\n".join(now))


def _pieces(aspect: Aspect, before: list[Piece], now: list[Piece]) -> Iterator[Change]:
    """Compare functions by their names, and then their order."""
    if [one.text for one in before] == [one.text for one in now]:
        return
    old, new = _by_name(before), _by_name(now)
    differ = [name for name in dict.fromkeys((*old, *new)) if old.get(name) != new.get(name)]
    for name in differ:
        yield Change(aspect, name, old.get(name, ""), new.get(name, ""))
    if not differ:
        yield Change(aspect, "their order", "\n".join(old), "\n".join(new))


def _by_name(pieces: Iterable[Piece]) -> dict[str, str]:
    found: dict[str, str] = {}
    for piece in pieces:
        found[piece.name] = found.get(piece.name, "") + piece.text
    return found


def _verdicts(before: Outcome, now: Outcome) -> Iterator[Change]:
    """Compare layers by their names, except layers that took too long, now or then."""
    old, new = _by_layer(before.verdicts), _by_layer(now.verdicts)
    layers = [
        layer
        for layer in dict.fromkeys((*old, *new))
        if UNDECIDED not in (old.get(layer), new.get(layer))
    ]
    yield from _lists(
        Aspect.VERDICTS,
        [f"{layer}: {old.get(layer, '-')}" for layer in layers],
        [f"{layer}: {new.get(layer, '-')}" for layer in layers],
    )
    why, why_now = _by_layer(before.reasons), _by_layer(now.reasons)
    same = [layer for layer in layers if old.get(layer) == new.get(layer)]
    yield from _lists(
        Aspect.REASONS,
        [f"{layer}: {why[layer]}" for layer in same if layer in why],
        [f"{layer}: {why_now[layer]}" for layer in same if layer in why_now],
    )


def _by_layer(lines: Iterable[str]) -> Mapping[str, str]:
    """Return a dict that has `proved` for `f value`, if a line is `f value: proved`."""
    return dict(line.split(": ", 1) for line in lines)
