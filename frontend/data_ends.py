"""Reads ranges whose ends are data, as in `RVar l in [offsets[b], offsets[b + 1]);`.

An end is a whole number: a sum or product of elements of inputs, labels, sizes and numbers.
"""

from dtpoly.algorithm.data_ranges import DataRange
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Apply, Expr, Index, Integer, Read, Size, free_labels

from .data_messages import func_as_end, has_elements, no_end, no_whole_number
from .expression_meaning import added_up, lower
from .name_lookup import Names
from .name_messages import range_of_itself
from .symbols import LABELS, SymbolKind
from .syntax import Declaration, File, Node

SUMS = ("add", "sub", "mul", "neg")


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
    if value is None or not _is_end(names, node, value):
        return None
    return value if isinstance(value, Read) else added_up(value)


def _is_end(names: Names, node: Node, value: Expr) -> bool:
    """Return whether all parts of an end are whole numbers; report the first that is none."""
    match value:
        case Integer() | Index() | Size():
            return True
        case Apply(operation=operation, operands=operands) if operation in SUMS:
            return all(_is_end(names, node, one) for one in operands)
        case Read(tensor=tensor, indices=indices, padding=None):
            symbol = names.symbol(tensor)
            assert symbol is not None
            if symbol.kind is SymbolKind.FUNC:
                names.tell(func_as_end(value, symbol))
                return False
            dtype = symbol.dtype
            if dtype is None or is_float(dtype) or dtype is DType.BOOL:
                names.tell(no_whole_number(value, symbol))
                return False
            if all(index.data is None for index in indices):
                return True
        case _:
            pass
    names.tell(no_end(value, node))
    return False
