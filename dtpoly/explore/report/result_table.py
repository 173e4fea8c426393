"""Writes a row for each schedule that was tried, as CSV or JSON."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from math import isfinite

from dtpoly.explore.report.study import Study

VERSION = 1  # of the JSON document


def rows(given: Sequence[Study]) -> Iterator[tuple[Mapping[str, int], dict[str, object]]]:
    """Yield each schedule with its sizes and its data, in the order of the attempts."""
    for study in given:
        asked, device = study.question.asked, study.question.facts.device
        for row in study.rows:
            one = row.result
            yield (
                dict(asked.sizes),
                {
                    "name": asked.name,
                    "sizes": dict(asked.sizes),
                    "dtype": asked.dtype,
                    "device": device,
                    "point": row.point,
                    "outcome": str(one.outcome),
                    "kind": one.kind,
                    "median_ms": one.median,
                    "quarter_ms": one.quarter,
                    "three_quarters_ms": one.three_quarters,
                    "samples": one.samples,
                    "error": one.error,
                    "allowed": one.allowed,
                    "seconds": one.seconds,
                },
            )


def as_json(given: Sequence[Study]) -> str:
    """Return a JSON document with all rows; an error that is not finite becomes null."""
    results = [{key: _finite(value) for key, value in row.items()} for _, row in rows(given)]
    return json.dumps({"version": VERSION, "results": results}, indent=2, allow_nan=False) + "\n"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not isfinite(value) else value


def as_csv(given: Sequence[Study]) -> str:
    """Return a line with the names of columns, and a line for each row.

    Sizes look like `x=4 y=8`.
    """
    file = io.StringIO()
    writer: csv.DictWriter[str] | None = None
    for sizes, row in rows(given):
        if writer is None:
            writer = csv.DictWriter(file, [*row], lineterminator="\n")
            writer.writeheader()
        words = " ".join(f"{label}={size}" for label, size in sizes.items())
        writer.writerow({**row, "sizes": words})
    return file.getvalue()
