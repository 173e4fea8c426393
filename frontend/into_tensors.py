"""Finds the tensor that a Func is declared to be written into, and checks that it fits."""

from dtpoly.algorithm.program import Func

from . import into_messages as messages
from .name_lookup import Names
from .symbols import Symbol, SymbolKind, declared_here


def tensor_of(func: Symbol, names: Names) -> Symbol | None:
    """Return the tensor input that a Func goes into; None if it has its own memory.

    Of two Funcs that go into one tensor, the first one counts.
    """
    if func.into is None:
        return None
    symbol = names.find(func.into, SymbolKind.IN)
    if symbol is None:
        return None
    if symbol.kind is not SymbolKind.IN:
        names.tell(messages.not_an_input(func.name, func.into, declared_here(symbol)))
        return None
    first = next(
        one for one in names.table.values() if one.into is not None and one.into.text == symbol.name
    )
    if first is not func:
        names.tell(messages.taken_twice(func.name, func.into, first.name, first.span))
        return None
    if func.dtype is not None and func.dtype is not symbol.dtype:
        own, dtype = str(func.dtype), symbol.dtype and str(symbol.dtype)
        names.tell(messages.other_dtype(func.name, own, func.into, dtype, symbol.span))
        return None
    return symbol


def check_place(func: Func, names: Names) -> None:
    """Check that the tensor which a Func goes into has as many axes, where some Func reads it."""
    into = names.table[func.name].into
    if func.into is None or into is None:
        return
    rank, span = names.ranks.setdefault(func.into.tensor, (len(func.labels), into.span))
    if rank != len(func.labels):
        names.tell(messages.other_rank(func.name, into, len(func.labels), rank, span))
