"""Leaves out candidates that broke a device or a process earlier."""

import json
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from benchmarks.gpu.candidates import Candidate
from benchmarks.gpu.results import Broken, Results, began_file, write
from dtpoly.timing.failures import LostDevice

Begins = Callable[[Candidate], None]


def survivors(
    results: Results, where: str, given: Sequence[Candidate]
) -> tuple[list[Candidate], list[tuple[Candidate, str]]]:
    """Return the candidates that may run there; and the others, each with what it did."""
    why = {(b.candidate, b.text_hash): b.why for b in results.broken if b.row == where}
    lost = [(one, why[key]) for one in given if (key := (one.name, one.text_hash)) in why]
    return [one for one in given if (one.name, one.text_hash) not in why], lost


@contextmanager
def watched(output: Path, results: Results, where: str) -> Generator[Begins]:
    """Told which candidate runs, keep that for whoever outlives the process.

    If the device is lost, whose doing that was is in the file of results.
    """
    current: list[Candidate] = []

    def begins(one: Candidate) -> None:
        current[:] = [one]
        began = {"row": where, "candidate": one.name, "text_hash": one.text_hash}
        began_file(output).write_text(json.dumps(began))

    try:
        yield begins
    except LostDevice as error:
        if current:
            one = current[-1]
            why = f"it broke the device: {error}"
            broken = Broken(where, one.name, one.text_hash, why)
            write(output, replace(results, broken=(*results.broken, broken)))
        raise
    finally:
        # Not reached when the process crashes.
        began_file(output).unlink(missing_ok=True)
