"""Cut a file down to the unit of one kernel: the kernel, what launches it, and all they reach.

Whatever is not in that unit cannot matter to the kernel: no definition of the unit names it, and
`allowed` lets no text change what a name of the unit means.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.unit.unit import AGAIN, Unit

Part = TypeVar("Part")


def reached_by(unit: Unit, one: str) -> frozenset[str]:
    """Return a definition with all definitions that it names, those that they name, and so on."""
    found = set[str]()
    pending = [one]
    while pending:
        name = pending.pop()
        if name in unit.texts and name not in found:
            found.add(name)
            pending += _named(unit, name)
    return frozenset(found)


def unit_of(unit: Unit, kernel: str) -> Unit:
    """Return the unit of one kernel. Raises Unread."""
    if kernel not in unit.jitted:
        raise Unread(1, f"there is no kernel '{kernel}'")
    using = (*unit.plain, *unit.values)
    launchers = [one for one in using if kernel in reached_by(unit, one)]
    kept = frozenset[str]().union(*(reached_by(unit, one) for one in (kernel, *launchers)))
    return replace(
        unit,
        jitted=_kept(unit.jitted, kept),
        plain=_kept(unit.plain, kept),
        texts=_kept(unit.texts, kept),
        values=_kept(unit.values, kept),
        again=unit.again & kept,
        test=unit.test if unit.test in kept else None,
    )


def _named(unit: Unit, one: str) -> list[str]:
    """Return the names in a definition, also those that mean something else there."""
    tree = unit.jitted.get(one) or unit.plain.get(one) or unit.values[one]
    again = [AGAIN] if one in unit.again else []
    return [*again, *(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))]


def _kept(parts: Mapping[str, Part], names: frozenset[str]) -> dict[str, Part]:
    return {one: part for one, part in parts.items() if one in names}
