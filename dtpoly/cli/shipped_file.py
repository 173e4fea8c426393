"""Merges the best results of explorations into a file of tuned schedules."""

import os
import sys
from dataclasses import replace
from pathlib import Path

from dtpoly.cli.saving import save
from dtpoly.explore.space.space_file import read_space
from dtpoly.explore.store.result_store import open_store
from dtpoly.frontend.parse import parse
from dtpoly.frontend.reading import read_file
from dtpoly.frontend.schedule_file import named_algorithm
from dtpoly.render.printable import printable
from dtpoly.tuned.merge import merged
from dtpoly.tuned.shipping import shipped
from dtpoly.tuned.tuned_file import Tuned, empty, read_tuned, show_tuned


def ship(results: Path, output: Path, algorithm: Path | None) -> int:
    """Merge the best result of each question into a file. Raises StoreError and DtpolyError."""
    tuned = _opened(output, algorithm)
    store = open_store(results, is_new=False)
    try:
        found = [*shipped(store, tuned.program)]
    finally:
        store.close()
    entries = tuned.entries
    for one in found:
        if one.entry is None:
            print(printable(f"{one.question}: {one.why}"), file=sys.stderr)
        else:
            print(printable(f"{one.question}: {', '.join(one.entry.notes)}"), file=sys.stderr)
            entries = merged(entries, one.entry)
    if all(one.entry is None for one in found):
        print("there is nothing to ship", file=sys.stderr)
        return 1
    text = show_tuned(replace(tuned, entries=entries))
    return 0 if save(output, text.encode()) else 1


def _opened(output: Path, algorithm: Path | None) -> Tuned:
    """Return the file if it exists, else a new one about an algorithm."""
    if output.exists():
        return read_tuned(output)
    assert algorithm is not None
    program = read_space(str(algorithm)).program
    return empty(program, Path(os.path.relpath(algorithm, output.parent)).as_posix())


def algorithm_of(file: str) -> Path:
    """Return the path of a file's algorithm: the file itself, or the one that it names."""
    named = named_algorithm(parse(read_file(file)).file)
    return Path(file) if named is None else Path(file).parent / named.path.text
