"""Shows bounds and conditions of loops as text, in the names that readers know.

Both the loops that isl makes and the kernel IR are shown with them: variables have the names of the
labels, and sizes are written as in the language.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.ir.bound_widths import LARGE, WIDE
from dtpoly.poly.loops import Bound, Chosen, Combined, Condition, OneOfWays

# How tightly the operations bind.
SUM, PRODUCT, ATOM = 1, 2, 3
LEVEL = {"+": SUM, "-": SUM, "*": PRODUCT, "//": PRODUCT, "%": PRODUCT}


@dataclass(frozen=True, slots=True)
class LoopNames:
    """The names by which iterators are shown.

    Each has the label of its axis, with a number where that is taken.
    """

    known: Mapping[str, str]

    def with_loop(self, name: str, axis: str) -> LoopNames:
        """Return the same with one more loop."""
        label = axis.rpartition(".")[2]
        used = set(self.known.values())
        numbers = (f"{label}{number}" for number in range(len(used) + 1))
        return LoopNames({**self.known, name: next(one for one in numbers if one not in used)})

    def shown(self, value: Affine) -> str:
        """Return an expression over iterators, axes and sizes."""
        return show_affine(
            value.substitute({n: Affine(((self.word(n), 1),)) for n in value.labels})
        )

    def word(self, name: str) -> str:
        """Return a name as it is shown: sizes as the language writes them."""
        return self.known.get(name) or re.sub(r"^N_(\w+)$", r"len(\1)", name)


def show_bound(value: Bound) -> str:
    """Return a bound on its own: names as they are."""
    return bound_text(value, LoopNames({}))


def show_condition(one: Condition) -> str:
    """Return a condition on its own."""
    return condition_text(one, LoopNames({}))


def bound_text(value: Bound, names: LoopNames, least: int = 0) -> str:
    """Return a bound, in brackets if it binds less tightly than what is around it."""
    match value:
        case Affine():
            text, level = names.shown(value), SUM if _is_sum(value) else ATOM
        case Combined(operation="min" | "max" as name, operands=operands):
            inner = ", ".join(bound_text(one, names) for one in operands)
            text, level = f"{name}({inner})", ATOM
        case Combined(operation=operation, operands=(inner,)) if operation in (LARGE, WIDE):
            return bound_text(inner, names, least)  # how wide it is, is not the loops' business
        case Combined("+", (Combined("-", (Affine(terms=(), constant=0), small)), large)):
            return bound_text(Combined("-", (large, small)), names, least)
        case Combined(operation=operation, operands=(left, right)):
            level = LEVEL[operation]
            first, second = bound_text(left, names, level), bound_text(right, names, level + 1)
            text = f"{first} {operation} {second}"
        case Combined(operation=operation, operands=operands):
            parts = [bound_text(one, names, SUM) for one in operands]
            text, level = f" {operation} ".join(parts), LEVEL[operation]
        case Chosen(conditions=conditions, left=left, right=right):
            test = conditions_text(conditions, names)
            text, level = f"{bound_text(left, names)} if {test} else {bound_text(right, names)}", 0
        case _:
            assert_never(value)
    return f"({text})" if level < least else text


def _is_sum(value: Affine) -> bool:
    return len(value.terms) + bool(value.constant) > 1 or any(c != 1 for _, c in value.terms)


def conditions_text(conditions: Iterable[Condition], names: LoopNames) -> str:
    """Conditions all of which hold."""
    return " and ".join(condition_text(one, names) for one in conditions)


def condition_text(one: Condition, names: LoopNames) -> str:
    """Return a condition in the names of the loops around it."""
    if isinstance(one, OneOfWays):
        return f"({' or '.join(conditions_text(way, names) for way in one.ways)})"
    relation = "=" if one.is_equal else ">="
    return f"{bound_text(one.left, names)} {relation} {bound_text(one.right, names)}"
