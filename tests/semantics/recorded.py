"""Makes the record that the verifier reads, from the results of one way of checking."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from dtpoly.verify.semantics.entries import entry, of_operation
from dtpoly.verify.semantics.record import FILE, CheckedEntries, Record, digest
from dtpoly.verify.semantics.row import OperationRow
from dtpoly.verify.semantics.types import REFUSED

Answers = Mapping[str, Sequence[str]]


def is_as_compiled(row: OperationRow, result: str, instructions: str) -> bool:
    """True if a compiler made of an entry what the table says: its type, and its instruction.

    What one version refuses, and others do not, has no other value anywhere.
    """
    if result == REFUSED:
        return True
    wanted = {row.instruction, *row.also.split("|")} - {""}
    is_done_so = not wanted or wanted & {*instructions.split("; ")}
    return result in row.result.split("|") and bool(is_done_so)


def others(name: str, answers: Answers) -> list[str]:
    """Return the entries of an operation that differ from the table, or were not asked about."""
    missing = [" ".join(one) for one in of_operation(name) if " ".join(one) not in answers]
    return sorted([*wrong(name, answers), *missing])


def wrong(name: str, answers: Answers) -> list[str]:
    """Return the entries of an operation that differ from the table."""
    return [
        operands
        for operands, (result, instructions) in answers.items()
        if tuple(operands.split()) in of_operation(name)
        and not is_as_compiled(entry(name, tuple(operands.split())), result, instructions)
    ]


def enter(way: str, path: Path) -> None:
    """Enter the results of one way of checking."""
    said = json.loads(path.read_text())
    record: Record = json.loads(FILE.read_text()) if FILE.exists() else {}
    checked: dict[str, CheckedEntries] = {
        name: {"digest": digest(name), "other": others(name, answers)}
        for name, answers in said["entries"].items()
    }
    record[f"{way} {said['triton']}"] = checked
    FILE.write_text(written(record))


def written(record: Record) -> str:
    """Return the record as text, with a line for each operation."""
    ways = [
        f"{json.dumps(one)}: {{\n"
        + ",\n".join(
            f" {json.dumps(name)}: {json.dumps(checked)}" for name, checked in found.items()
        )
        + "\n}"
        for one, found in sorted(record.items())
    ]
    return "{\n" + ",\n".join(ways) + "\n}\n"


if __name__ == "__main__":
    enter(sys.argv[1], Path(sys.argv[2]))
