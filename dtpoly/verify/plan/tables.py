"""Read the parts that several dictionaries of a plan have: keys, formulas, and made tensors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.plan.call_plan import MadeTensor
from dtpoly.verify.plan.formula_parsing import Formula, dtype_of, formula_of
from dtpoly.verify.plan.literals import Datum, DictLiteral, parts_of, table, text, truth

T = TypeVar("T")


def check_keys(
    of: DictLiteral, allowed: frozenset[str], always: tuple[str, ...], what: str
) -> None:
    """Refuse a key that is not known, and the lack of one that must be there. Raises Unread."""
    for key, line in of.lines.items():
        if key not in allowed:
            raise Unread(line, f"{what} with '{key}'")
    for key in always:
        if key not in of.entries:
            raise Unread(of.line, f"{what} without '{key}'")


def each(of: DictLiteral, key: str, read: Callable[[Datum, str], T]) -> dict[str, T]:
    """Read each entry of a dictionary; there is none where the key is missing."""
    if key not in of.entries:
        return {}
    found = table(of.entries[key], f"'{key}'")
    return {one: read(datum, f"'{one}'") for one, datum in found.entries.items()}


def listed(of: DictLiteral, key: str) -> tuple[Datum, ...]:
    """Return the parts of a list; there are none where the key is missing."""
    return parts_of(of.entries[key], f"'{key}'", in_list=True) if key in of.entries else ()


def formulas(of: DictLiteral, key: str) -> tuple[Formula, ...]:
    """Return the formulas of a tuple; there are none where the key is missing."""
    if key not in of.entries:
        return ()
    parts = parts_of(of.entries[key], f"'{key}'")
    return tuple(formula(one, f"'{key}'") for one in parts)


def formula(datum: Datum, what: str) -> Formula:
    """Return the formula of a launch, or of memory; it may have strides. Raises Unread."""
    return formula_of(text(datum, what), datum.line, has_strides=True)


def result_of(datum: Datum, what: str) -> MadeTensor:
    """Return the result that a dictionary describes, which may be in place. Raises Unread."""
    of = table(datum, what)
    if "into" not in of.entries:
        return made_of(datum, what)
    made = _made(of, what, frozenset({"into"}))
    if made.is_pitched:
        raise Unread(of.line, f"the rows of {what}, which are the caller's")
    return replace(made, into=text(of.entries["into"], "'into'"))


def made_of(datum: Datum, what: str) -> MadeTensor:
    """Return the tensor that a dictionary describes. Raises Unread."""
    return _made(table(datum, what), what, frozenset())


def _made(of: DictLiteral, what: str, more: frozenset[str]) -> MadeTensor:
    check_keys(of, frozenset({"shape", "dtype", "pitched"}) | more, ("shape", "dtype"), what)
    dtype = dtype_of(text(of.entries["dtype"], what), of.entries["dtype"].line)
    is_pitched = "pitched" in of.entries and truth(of.entries["pitched"], "'pitched'")
    shape = formulas(of, "shape")
    if is_pitched and not shape:
        raise Unread(of.line, f"the rows of {what}, which has none")
    return MadeTensor(shape, dtype, is_pitched, of.line)
