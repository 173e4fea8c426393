"""How entries were checked: by which Triton's compiler, in which interpreter, on which GPU.

The record is a file beside this one. Of each operation it has a digest of all entries: where one of
them is changed, all of them count as not checked until Triton was asked again.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import NotRequired, TypedDict

from dtpoly.verify.semantics.entries import of_operation

FILE = Path(__file__).with_name("record.json")


class Checked(TypedDict):
    """What one way of checking found of an operation: entries that are not as the table says.

    `count` is how many entries it looked at, where these are not all of the operation.
    """

    digest: str
    other: list[str]
    count: NotRequired[int]


# By the way (`compiled 3.9.0`), then by the operation.
Record = dict[str, dict[str, Checked]]


@cache
def digest(name: str) -> str:
    """A digest of all entries of an operation."""
    lines = [f"{' '.join(operands)}: {row}" for operands, row in of_operation(name).items()]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@cache
def record() -> Record:
    """All that is recorded."""
    found: Record = json.loads(FILE.read_text(encoding="utf-8"))
    return found


@cache
def _others(name: str) -> frozenset[str] | None:
    """Entries that a compiler or a GPU sees otherwise; None if a compiler was not asked."""
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
def is_checked(name: str, operands: tuple[str, ...]) -> bool:
    """True if every compiler that is recorded makes of an entry what the table says."""
    others = _others(name)
    return (
        others is not None and operands in of_operation(name) and " ".join(operands) not in others
    )
