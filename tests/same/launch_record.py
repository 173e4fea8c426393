"""Keeps what emitted texts launch: calls of each text, and their results, in a second file.

This record lies beside the record of texts and has the same names. A text that has not changed
launches what it launched before, so only changed texts are called again.
"""

import json
import lzma
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path

from dtpoly.checking import load
from dtpoly.source import Source
from tests.same.calling import calls_of, functions_of
from tests.same.launches import Call, call_data, call_of, launches_of
from tests.same.outcome import Entry, Outcome, Part
from tests.same.record import FILTERS

FROZEN_LAUNCHES = Path(__file__).with_name("frozen_launches.json.xz")
# With this number the record is made in half a minute.
CALLED = 4
Launched = tuple[tuple[Call, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Differs:
    """A call that now launches something else, or is refused in another way."""

    call: Call
    before: tuple[str, ...]
    after: tuple[str, ...]


def launched_by(entry: Entry) -> Launched:
    """Return the calls of a frozen text, and their results."""
    text = _text(entry.outcome)
    program = load(Source("same.dt", entry.text))
    names = [piece.name for piece in entry.outcome.pieces_of(Part.FUNCTION)]
    calls = tuple(calls_of(program, text, functions_of(program, names), entry.name))
    return tuple(zip(calls, launches_of(text, calls), strict=True))


def differences(launched: Launched, text: str) -> tuple[Differs, ...]:
    """Return the calls of a text whose results differ from those that are kept."""
    now = launches_of(text, [call for call, _ in launched])
    return tuple(
        Differs(call, before, after)
        for (call, before), after in zip(launched, now, strict=True)
        if before != after
    )


def with_launches(entry: Entry, now: Outcome) -> Outcome:
    """Return the outcome, with the calls whose results differ from the frozen ones."""
    text = _text(now)
    launched = _frozen().get(entry.name) if text and text != _text(entry.outcome) else None
    if not launched:
        return now
    found = ((str(o.call), _lines(o.before), _lines(o.after)) for o in differences(launched, text))
    return replace(now, launches=tuple(found))


def _text(outcome: Outcome) -> str:
    return "".join(piece.text for piece in outcome.pieces)


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(lines)


@cache
def _frozen() -> dict[str, Launched]:
    return read_launches() if FROZEN_LAUNCHES.exists() else {}


def read_launches(path: Path = FROZEN_LAUNCHES) -> dict[str, Launched]:
    """Read the record, by the names of texts."""
    data = json.loads(lzma.decompress(path.read_bytes()))
    return {
        name: tuple((call_of(call), tuple(lines)) for call, lines in calls)
        for name, calls in data.items()
    }


def write_launches(launched: Mapping[str, Launched], path: Path = FROZEN_LAUNCHES) -> None:
    """Write the record, with nothing else in it."""
    data = {
        name: [[call_data(call), list(lines)] for call, lines in calls]
        for name, calls in launched.items()
    }
    part = path.with_suffix(".part")
    part.write_bytes(lzma.compress(json.dumps(data, indent=0).encode(), filters=FILTERS))
    part.replace(path)


def texts_of(entries: Iterable[Entry]) -> Sequence[Entry]:
    """Return the entries whose texts are called, about one in CALLED of those that were emitted.

    The choice depends on the name only, so that the other choices stay if a text is not emitted any
    more.
    """
    return [entry for entry in entries if entry.outcome.pieces and _is_called(entry.name)]


def _is_called(name: str) -> bool:
    return int(sha256(name.encode()).hexdigest()[:8], 16) % CALLED == 0
