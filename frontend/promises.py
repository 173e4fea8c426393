"""Reads promises of range, as in `In T: i64 within len(v);`.

The caller promises that each element of the input is at least 0 and below the bound. The bound is
the size of a label, or a number. An index that is just an element of such an input is not tested.
"""

from collections.abc import Iterable

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Bound, reads
from dtpoly.algorithm.program import Func, reads_of_place

from . import promise_messages as messages
from .indices import MAX_COEFFICIENT
from .name_lookup import Names
from .symbols import LABELS, Symbol, SymbolKind
from .syntax import CallSyntax, Declaration, File, NameSyntax, Node, NumberSyntax


def promised_ranges(file: File, names: Names) -> dict[str, Bound]:
    """Return what the elements of each input are promised to be below; report what cannot be."""
    found: dict[str, Bound] = {}
    for statement in file.statements:
        if not isinstance(statement, Declaration):
            continue
        names.statement = statement.span
        for item in statement.items:
            symbol = names.symbol(item.name.text)
            if item.within is None or symbol is None or symbol.span != item.name.span:
                continue  # of a name that is declared twice, the other declaration counts
            bound = _bound(names, symbol, item.within)
            if bound is not None and _can_promise(names, symbol, item.within):
                found[symbol.name] = bound
    return found


def _can_promise(names: Names, symbol: Symbol, within: Node) -> bool:
    """Return whether an input has whole numbers that stay as they are; report it if not."""
    if symbol.kind is not SymbolKind.IN:
        names.tell(messages.no_input(symbol, within.span))
        return False
    dtype = symbol.dtype
    if symbol.packed is not None:
        names.tell(messages.packed(symbol, within.span))
    elif dtype is None or is_float(dtype) or dtype is DType.BOOL:
        names.tell(messages.no_whole_numbers(symbol, within.span))
    elif writer := next((one for one in names.table.values() if _goes_into(one, symbol)), None):
        names.tell(messages.written(symbol, writer, within.span))
    else:
        return True
    return False


def _goes_into(func: Symbol, tensor: Symbol) -> bool:
    return func.into is not None and func.into.tensor.text == tensor.name


def _bound(names: Names, symbol: Symbol, node: Node) -> Bound | None:
    """Return a bound; None after reporting why it is none."""
    match node:
        case CallSyntax(function=NameSyntax(text="len"), arguments=(NameSyntax() as label,)):
            known = names.find(label, SymbolKind.VAR)
            if known is None:
                return None
            if known.kind in LABELS:
                return known.name
            names.tell(messages.no_label(symbol.name, label, known))
        case NumberSyntax(text=text) if text.isdigit() and 0 < int(text[:11]) <= MAX_COEFFICIENT:
            return int(text)
        case NumberSyntax():
            names.tell(messages.no_number(symbol.name, node, MAX_COEFFICIENT))
        case NameSyntax() if (known := names.symbol(node.text)) and known.kind in LABELS:
            names.tell(messages.bare_label(symbol.name, node))
        case _:
            names.tell(messages.no_bound(symbol.name, node))
    return None


def check_promises(funcs: Iterable[Func], names: Names) -> None:
    """Report each promise that changes nothing, since no index is just an element of the input."""
    useful = {
        read.tensor
        for func in funcs
        for place in (*reads(func.body), *reads_of_place(func))
        for index in place.indices
        if index.within is not None and index.data is not None
        for read in reads(index.data)
    }
    for name in names.promised:
        symbol = names.table[name]
        # What is used in a statement that was not read may be such an index.
        if name not in useful and names.is_used(symbol) and not names.found and not names.unread:
            assert symbol.within is not None
            names.tell(messages.useless(symbol, symbol.within.span))
