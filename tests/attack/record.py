"""Records each attempt as a line of JSON, so that a run can go on later."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from tests.attack.outcome import Outcome
from tests.attack.worker import as_data, of_data


@dataclass(frozen=True)
class Entry:
    """One attempt: its seed, what it came to, and how long it took."""

    seed: int
    outcome: Outcome
    seconds: float


@dataclass
class Record:
    """The attempts of one campaign. The last attempt with a seed is what counts."""

    path: Path | None
    entries: dict[int, Entry] = field(default_factory=dict[int, Entry])

    def add(self, entry: Entry) -> None:
        """Note an attempt; it is in the file when this returns."""
        self.entries[entry.seed] = entry
        if self.path is not None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a") as file:
                _write(file, entry)

    def open_seeds(self, first: int) -> Iterator[int]:
        """Seeds to try: those that came to a finding once more, then the next ones, for ever."""
        done = dict(self.entries)
        yield from sorted(seed for seed, one in done.items() if one.outcome.is_finding)
        seed = first
        while True:
            if seed not in done:
                yield seed
            seed += 1


def record_at(path: Path | None) -> Record:
    """Return the record in a file, or an empty one. A last line that was cut off is left out."""
    record = Record(path)
    if path is None or not path.exists():
        return record
    text = path.read_text()
    if text and not text.endswith("\n"):
        text = text[: text.rfind("\n") + 1]
        path.write_text(text)
    for line in text.splitlines():
        data = json.loads(line)
        entry = Entry(int(data["seed"]), of_data(data), float(data["seconds"]))
        record.entries[entry.seed] = entry
    return record


def _write(file: TextIO, entry: Entry) -> None:
    data = {"seed": entry.seed, "seconds": round(entry.seconds, 3), **as_data(entry.outcome)}
    if not entry.outcome.is_finding:
        # A finding has a text that shows it again. Of the others a seed is enough.
        del data["case"]
    file.write(json.dumps(data) + "\n")
