"""Say which entries of the table were checked, and by what: a compiler, an interpreter or a GPU.

The record is a file beside this one. It keeps a digest of all entries of each operation: if one
entry is changed, all entries of the operation count as unchecked until Triton is asked again.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from dtpoly.verify.semantics.entries import of_operation
from dtpoly.verify.semantics.table_operations import BY_NAME

FILE = Path(__file__).with_name("record.json")


class CheckedEntries(TypedDict):
    """The result of checking an operation in one way: which entries differ from the table.

    `count` is the number of entries that were looked at, if these are not all entries of the
    operation.
    """

    digest: str
    other: list[str]
    count: NotRequired[int]


# By the way of checking (such as `compiled 3.9.0`), then by the operation.
Record = dict[str, dict[str, CheckedEntries]]


@cache
def digest(name: str) -> str:
    """Return a digest of all entries of an operation."""
    lines = [f"{' '.join(operands)}: {row}" for operands, row in of_operation(name).items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def record() -> Record:
    """Return the whole record."""
    found: Record = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def _others(name: str) -> frozenset[str] | None:
    """Return the entries that a compiler or a GPU sees otherwise than the table.

    The result is None if some recorded compiler was not asked about these entries.
    """
    found = set[str]()
    for way, ways in record().items():
        if way.startswith("gpu ") and (seen := ways.get(name)) and seen["digest"] == digest(name):
            found.update(seen["other"])
    compilers = [ways for way, ways in record().items() if way.startswith("compiled ")]
    for ways in compilers:
        checked = ways.get(name)
        if checked is None or checked["digest"] != digest(name):
            return None
        found.update(checked["other"])
    return frozenset(found) if compilers else None


@cache
def _operands(name: str) -> frozenset[tuple[str, ...]]:
    """Return the types of operands for which an operation has an entry."""
    return frozenset(BY_NAME[name].operands())


@cache
def is_checked(name: str, operands: tuple[str, ...]) -> bool:
    """True if every recorded compiler makes of an entry what the table says."""
    others = _others(name)
    return others is not None and operands in _operands(name) and " ".join(operands) not in others
