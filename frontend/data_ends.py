"""Reads ranges whose ends are data, as in `RVar l in [offsets[b], offsets[b + 1]);`.

An end is a whole number: a sum or product of elements of inputs, labels, sizes and numbers, or one
of two such numbers. An element may be read at an element of another input: `cu[seq[m]]`.
"""

from dtpoly.algorithm.data_ranges import DataRange
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Expr,
    Index,
    Integer,
    Read,
    Size,
    data_of,
    free_labels,
    map_children,
)

from .data_messages import func_as_end, has_elements, no_end, no_whole_number
from .expression_meaning import added_up, lower
from .name_lookup import Names
from .name_messages import range_of_itself
from .symbols import LABELS, SymbolKind
from .syntax import Declaration, File, Node

# Of whole numbers these give whole numbers, and in an index some more do.
NUMBERS = ("add", "sub", "mul", "neg", "maximum", "minimum")
IN_INDICES = (*NUMBERS, "quotient", "mod")
TRUTHS = ("and", "or", "not")
COMPARED = ("lt", "le", "gt", "ge", "eq", "ne")


def data_ranges(file: File, names: Names) -> dict[str, DataRange]:
    """Return the range of each label that is declared with an end that is data."""
    found: dict[str, DataRange] = {}
    for statement in file.statements:
        if not isinstance(statement, Declaration):
            continue
        names.statement = statement.span
        for item in statement.items:
            own = item.range
            if own is None or not (has_elements(own.start) or has_elements(own.stop)):
                continue
            symbol = names.symbol(item.name.text)
            if symbol is None or symbol.kind not in LABELS:
                continue  # this has been reported
            start, stop = (_end(names, one) for one in (own.start, own.stop))
            if start is None or stop is None:
                continue
            if symbol.name in (*free_labels(start), *free_labels(stop)):
                names.tell(range_of_itself(symbol, own.span))
                continue
            found[symbol.name] = DataRange(start, stop, own.span)
    return found


def _end(names: Names, node: Node) -> Expr | None:
    """Return an end of a range; None after reporting why it is not one."""
    value = lower(names, node)
    if value is None or not _is_end(names, node, value, NUMBERS):
        return None
    return value if isinstance(value, Read) else _in_64_bits(value)


def _is_end(names: Names, node: Node, value: Expr, known: tuple[str, ...]) -> bool:
    """Return whether all parts of an end are whole numbers; report the first that is none."""
    match value:
        case Integer() | Index() | Size():
            return True
        case Apply(operation="where", operands=(condition, *both)):
            return _is_condition(names, node, condition) and all(
                _is_end(names, node, one, known) for one in both
            )
        case Apply(operation=operation, operands=operands) if operation in known:
            return all(_is_end(names, node, one, known) for one in operands)
        case Cast(operand=operand, dtype=DType.I64) if known is IN_INDICES:
            return _is_end(names, node, operand, known)  # what is added up has been brought to it
        case Read(tensor=tensor, padding=None):
            symbol = names.symbol(tensor)
            assert symbol is not None
            if symbol.kind is SymbolKind.FUNC:
                names.tell(func_as_end(value, symbol))
                return False
            dtype = symbol.dtype
            if dtype is None or is_float(dtype) or dtype is DType.BOOL:
                names.tell(no_whole_number(value, symbol))
                return False
            return all(_is_end(names, node, one, IN_INDICES) for one in data_of(value))
        case _:
            names.tell(no_end(value, node))
            return False


def _is_condition(names: Names, node: Node, value: Expr) -> bool:
    """Return whether a condition compares whole numbers; report what is none."""
    match value:
        case Apply(operation=operation, operands=operands) if operation in TRUTHS:
            return all(_is_condition(names, node, one) for one in operands)
        case Apply(operation=operation, operands=operands) if operation in COMPARED:
            return all(_is_end(names, node, one, NUMBERS) for one in operands)
        case _:
            names.tell(no_end(value, node))
            return False


def _in_64_bits(value: Expr) -> Expr:
    """Return an end in which elements have 64 bits, also those that are compared."""
    match value:
        case Apply(operation=operation) if operation in (*TRUTHS, *COMPARED, "where"):
            return map_children(value, _in_64_bits)
        case _:
            return added_up(value)
