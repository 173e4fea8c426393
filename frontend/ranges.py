"""Reads the ranges of labels, as in `RVar k in [0, m + 1);`.

An end of a range is a sum of labels and sizes times whole numbers, and a number. Ends that are data
are read by `data_ends`.
"""

from dtpoly.algorithm.expressions import Affine, Conditions, SizedIndex
from dtpoly.algorithm.program import LabelRange

from . import name_messages as messages
from .data_messages import has_elements
from .indices import affine, is_too_large
from .name_lookup import Names
from .symbols import LABELS, SymbolKind
from .syntax import (
    BinarySyntax,
    CallSyntax,
    Declaration,
    File,
    Indexed,
    NameSyntax,
    Node,
    NumberSyntax,
    Unary,
)


def label_ranges(file: File, names: Names) -> dict[str, LabelRange]:
    """Return the range of each label that is declared with one."""
    found: dict[str, LabelRange] = {}
    for statement in file.statements:
        if not isinstance(statement, Declaration):
            continue
        names.statement = statement.span
        for item in statement.items:
            if item.range is None:
                continue
            symbol = names.symbol(item.name.text)
            if SymbolKind(statement.word.text) not in LABELS or symbol is None:
                names.tell(messages.range_of_no_label(item.name, item.range.span))
                continue
            if has_elements(item.range.start) or has_elements(item.range.stop):
                continue  # see data_ends
            start, stop = (_end(names, one) for one in (item.range.start, item.range.stop))
            if start is None or stop is None:
                continue
            if symbol.name in (*start.labels, *stop.labels):
                names.tell(messages.range_of_itself(symbol, item.range.span))
                continue
            if _is_empty(start, stop, symbol.size):
                names.tell(messages.empty_range(symbol, item.range.span))
                continue
            found[symbol.name] = LabelRange(start, stop)
    return found


def conditions_of(names: Names, labels: tuple[str, ...]) -> Conditions:
    """Return the conditions for indices of labels to be in their ranges."""
    ranges = ((label, names.ranges[label]) for label in labels if label in names.ranges)
    return tuple(one for label, found in ranges for one in found.conditions(label))


def _is_empty(start: SizedIndex, stop: SizedIndex, size: int | None) -> bool:
    """Return whether the range has no index, whatever the sizes are."""

    def is_at_most(one: SizedIndex, number: int) -> bool:
        is_number = not one.index.terms and not one.sizes.terms
        return is_number and one.index.constant <= number

    end = SizedIndex(Affine((), size or 0))
    is_beyond = size is not None and is_at_most(end - start, 0)
    return is_at_most(stop - start, 0) or is_at_most(stop, 0) or is_beyond


def _end(names: Names, node: Node) -> SizedIndex | None:
    """Return an end of a range; None after reporting why it is not one."""
    match node:
        case CallSyntax(function=NameSyntax(text="len"), arguments=(NameSyntax() as label,)):
            symbol = names.find(label, SymbolKind.VAR)
            if symbol is None:
                return None
            if symbol.kind not in LABELS:
                names.tell(messages.not_an_index(label, symbol))
                return None
            return SizedIndex(Affine(), Affine(((symbol.name, 1),)))
        case Unary(operator=NameSyntax(text=sign), operand=operand) if sign in ("+", "-"):
            below = _end(names, operand)
            return None if below is None else below.scaled(-1 if sign == "-" else 1)
        case BinarySyntax(left=left, operator=NameSyntax(text=sign), right=right) if sign in (
            "+",
            "-",
            "*",
        ):
            return _combined(names, node, sign, _end(names, left), _end(names, right))
        case CallSyntax() | Indexed() | Unary() | BinarySyntax():
            names.tell(messages.not_an_end(node))
            return None
        case NameSyntax() | NumberSyntax():
            index = affine(names, node)
            return None if index is None else SizedIndex(index)


def _combined(
    names: Names, node: Node, sign: str, left: SizedIndex | None, right: SizedIndex | None
) -> SizedIndex | None:
    if left is None or right is None:
        return None
    if sign != "*":
        total = left - right.scaled(1 if sign == "-" else -1)
    elif not left.index.terms and not left.sizes.terms:
        total = right.scaled(left.index.constant)
    elif not right.index.terms and not right.sizes.terms:
        total = left.scaled(right.index.constant)
    else:
        names.tell(messages.not_an_end(node))
        return None
    if is_too_large(total.index) or is_too_large(total.sizes):
        names.tell(messages.index_too_large(node))
        return None
    return total
