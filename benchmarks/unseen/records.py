"""Keeps what was prepared and what was measured, a line of JSON for each case.

Each line is added when a case is done: whoever is stopped goes on behind the last one.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.gpu.manifest import Prepared, prepared
from benchmarks.gpu.results import Timed

PREPARED, MEASURED = "prepared.jsonl", "measured.jsonl"


@dataclass(frozen=True, slots=True)
class Choice:
    """One schedule of a case, the first one first: what is predicted of it, and its text."""

    predicted: float  # milliseconds
    text: Prepared


@dataclass(frozen=True, slots=True)
class PreparedCase:
    """A case with its schedules, made without a GPU."""

    name: str
    family: str
    is_held_out: bool
    algorithm: str
    dtype: str
    sizes: Mapping[str, int]
    floor: float  # milliseconds that the device needs at least
    seconds: float  # of the processor, until the first schedule was there
    choices: tuple[Choice, ...]
    # How many candidates were given up, by the code of the diagnostic.
    refused: Mapping[str, int] = field(default_factory=dict[str, int])
    failure: str = ""


@dataclass(frozen=True, slots=True)
class MeasuredCase:
    """A case with all times: of the schedules, in their order, and of the peers."""

    name: str
    times: tuple[Timed, ...]
    seconds: float
    failure: str = ""


def prepared_cases(folder: Path) -> dict[str, PreparedCase]:
    """Return what a folder has, by the names of cases."""
    found: dict[str, PreparedCase] = {}
    for data in _lines(folder / PREPARED):
        choices = tuple(
            Choice(one["predicted"], prepared(one["text"])) for one in data.pop("choices")
        )
        found[data["name"]] = PreparedCase(**data, choices=choices)
    return found


def measured_cases(folder: Path) -> dict[str, MeasuredCase]:
    """Return what was measured in a folder, by the names of cases; the last line of each counts."""
    found: dict[str, MeasuredCase] = {}
    for data in _lines(folder / MEASURED):
        times = tuple(Timed(**one) for one in data.pop("times"))
        found[data["name"]] = MeasuredCase(**data, times=times)
    return found


def add(path: Path, case: PreparedCase | MeasuredCase) -> None:
    """Add a line to a file, also behind one that was cut off."""
    is_cut = path.exists() and not path.read_bytes().endswith(b"\n")
    with path.open("a") as file:
        file.write("\n" * is_cut + json.dumps(asdict(case)) + "\n")


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the lines of a file. A last one that was cut off is no line yet."""
    if not path.exists():
        return
    for line in path.read_text().splitlines():
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            continue
