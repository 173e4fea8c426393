"""Writes what was measured of a list as a record, from which the cost model can be fitted again."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from benchmarks.files import write_whole
from benchmarks.unseen.cases import Case
from benchmarks.unseen.orders import orders_of
from benchmarks.unseen.records import MeasuredCase, PreparedCase

COMMAND = "python -m benchmarks unseen {which} --record"


def write_record(
    path: Path,
    which: str,
    cases: Iterator[Case],
    prepared: Mapping[str, PreparedCase],
    measured: Mapping[str, MeasuredCase],
) -> None:
    """Write the cases that were measured: their algorithms, schedules and times."""
    lines = [
        _line(case, prepared[case.name], measured[case.name])
        for case in cases
        if case.name in prepared and case.name in measured
    ]
    text = {"command": COMMAND.format(which=which), "cases": lines}
    write_whole(path, json.dumps(text, indent=1) + "\n")


def _line(case: Case, made: PreparedCase, found: MeasuredCase) -> dict[str, object]:
    times = {one.name: one.median for one in found.times if one.median}
    ours = {choice.text.name: choice.text.schedule for choice in made.choices}
    return {
        "name": made.name,
        "algorithm": made.algorithm,
        "dtype": made.dtype,
        "sizes": dict(made.sizes),
        "orders": {name: list(axes) for name, axes in orders_of(case).items()},
        "schedules": [
            {"schedule": list(schedule), "median": times[name]}
            for name, schedule in ours.items()
            if name in times
        ],
        "peers": {name: time for name, time in times.items() if name not in ours},
    }
