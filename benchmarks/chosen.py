"""Says how near the autoscheduler's choices come to the best schedules that are known."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from pathlib import Path
from typing import Any

from benchmarks.gpu.results import (
    NOT_RESULTS,
    OURS,
    NotResults,
    Results,
    RowResult,
    Timed,
    read,
    told,
)
from benchmarks.gpu.rows import tag


@dataclass(frozen=True, slots=True)
class Reached:
    """One row: milliseconds of the best schedule known, of the first chosen, of the best chosen."""

    row: str
    chosen: int  # so many have a time
    failed: int
    known: float
    known_name: str
    first: float  # 0 where it has no time
    best: float
    place: int  # of the best chosen

    @property
    def share(self) -> float:
        """Return the share of the best known time that is reached, if all are measured."""
        return min(self.known, self.best) / self.best

    @property
    def share_of_first(self) -> float:
        """Return the same of the one that is taken unmeasured."""
        return min(self.known, self.best) / self.first if self.first else 0.0


def reached(given: Sequence[Results]) -> Iterator[Reached]:
    """Each row in which something chosen was timed; of every text the best time of all results."""
    rows: dict[str, list[RowResult]] = {}
    for results in given:
        for row in results.rows:
            rows.setdefault(row.name, []).append(row)
    for name, lines in rows.items():
        chosen, known, failed = _sorted_out(lines)
        if chosen and known:
            best = min(chosen, key=lambda place: chosen[place].median)
            other = min(known, key=lambda one: one.median)
            yield Reached(
                name,
                len(chosen),
                failed,
                other.median,
                other.name,
                chosen[1].median if 1 in chosen else 0.0,
                chosen[best].median,
                best,
            )


def _sorted_out(lines: list[RowResult]) -> tuple[Mapping[int, Timed], list[Timed], int]:
    """Separate the autoscheduler's choices, by place, from all others; count those without time."""
    chosen: dict[int, Timed] = {}
    known: list[Timed] = []
    failed = 0
    for line in lines:
        for one in (time for time in line.times if time.is_ours):
            place = place_of(line, one.name)
            if place is None:
                known += [one] if one.median else []
            elif not one.median:
                failed += 1
            elif place not in chosen or one.median < chosen[place].median:
                chosen[place] = one
    return chosen, known, failed


def record(path: Path) -> Results:
    """Read results of `run`, or a record of searches, which has only our schedules.

    Raises NotResults.
    """
    try:
        return _record(path)
    except NOT_RESULTS as error:
        raise NotResults(f"{path} is no file of results: {told(error)}") from None


def _record(path: Path) -> Results:
    data: dict[str, Any] = json.loads(path.read_text())
    if "searches" in data:
        lines = [
            _line(one["row"], [(found["text"], found["us"] / 1e3) for found in one["schedules"]])
            for one in data["searches"]
        ]
    elif isinstance(data["texts"], dict):
        lines = [
            _line(
                f"{one['kernel']} {one['case']}",
                [(time["name"], time["median"]) for time in one["times"] if time["median"]],
            )
            for one in data["rows"]
        ]
    else:
        return read(path)
    return Results(rows=tuple(lines))


def _line(name: str, times: Sequence[tuple[str, float]]) -> RowResult:
    """Return a row of which only times are known, in milliseconds."""
    kernel, *case = name.rsplit(" ", 2)
    told = tuple(Timed(text, OURS, median=median) for text, median in times)
    return RowResult(name, kernel, "", " ".join(case), case[-1], "", "", 0, 0, 0.0, 0.0, told)


def place_of(line: RowResult, name: str) -> int | None:
    """Return the place of a text among those chosen for a row, if it is one of these."""
    parts = name.split("__")
    is_one = len(parts) == 3 and parts[1] == tag(line.case) and parts[2].isdigit()
    return int(parts[2]) if is_one else None


def mean(shares: Sequence[float]) -> float:
    """Return the geometric mean; 0 if one of them has no time."""
    if not shares or not all(shares):
        return 0.0
    return exp(sum(map(log, shares)) / len(shares))
