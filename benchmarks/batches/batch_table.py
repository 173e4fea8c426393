"""Writes the table of what rows with the same bits cost."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.batches.batch_manifest import BEST, ONE

HEAD = (
    "| what | batch | one schedule for all batches, proved | the best one for this batch "
    "| best / one | same bits in all batches: one, best |\n"
    "|---|---|---|---|---|---|\n"
)


def table(path: Path) -> str:
    """Return a table in Markdown of a file of results."""
    results: dict[str, Any] = json.loads(path.read_text())
    return HEAD + "".join(_rows(results["cases"]))


def _rows(cases: dict[str, Any]) -> Iterator[str]:
    for name, case in cases.items():
        if "failed" in case:
            yield f"| {name} | - | {case['failed']} | - | - | - |\n"
            continue
        bits = case["same_bits"]
        said = ", ".join("yes" if bits[kind] else "no" for kind in (ONE, BEST))
        for size, batch in case["batches"].items():
            one, best = (batch["milliseconds"].get(kind) for kind in (ONE, BEST))
            ratio = f"{best / one:.2f}" if one and best else "-"
            yield f"| {name} | {size} | {_ms(one)} | {_ms(best)} | {ratio} | {said} |\n"


def _ms(time: float | None) -> str:
    return "-" if time is None else f"{1000 * time:.1f} us"
