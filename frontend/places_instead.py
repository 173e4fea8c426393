"""Says what to write instead of a left side that is no Func over labels: most mean a place.

`f[T[l]] = X[l];` is `Func f into O at [T[l]] distinct;`, and then `f[l] = X[l];`.
"""

from .data_messages import has_elements
from .name_lookup import Names
from .symbols import Symbol, SymbolKind
from .syntax import Definition, Node

SHIFTED = "write plain labels on the left and shift the reads on the right"


def label_instead(definition: Definition, node: Node) -> str:
    """Return what to write instead of an index on the left side that is no label."""
    if not has_elements(node):
        return SHIFTED
    return (
        f"{_place(definition, definition.func.text, 'O')}; then define "
        f"{definition.func.text} over plain labels"
    )


def is_told(definition: Definition, node: Node, names: Names) -> bool:
    """Return whether the message about an input that is defined says what to write here, too."""
    symbol = names.symbol(definition.func.text)
    return symbol is not None and symbol.kind is SymbolKind.IN and has_elements(node)


def func_instead(definition: Definition, symbol: Symbol, names: Names) -> str:
    """Return what to write instead of the definition of something that is no Func."""
    only = "only a Func is defined"
    if symbol.kind is not SymbolKind.IN:
        return f"{only}; declare it as one: Func {symbol.name};"
    going = (one.name for one in names.table.values() if _goes_into(one, symbol))
    func = next(going, None)
    if func is not None:
        return f"'{func}' goes into it, so define that: {func}[...] = ...;"
    func = symbol.name.lower()
    while func in names.table:
        func = f"{func}_new"
    if any(has_elements(node) for node in definition.labels):
        return f"{only}; {_place(definition, func, symbol.name)}; then define {func} over labels"
    return (
        f"{only}; to write into the input, declare Func {func} into {symbol.name}; and define "
        f"{func}; for a tensor of its own, declare Func {func};"
    )


def _goes_into(func: Symbol, tensor: Symbol) -> bool:
    return func.into is not None and func.into.tensor.text == tensor.name


def _place(definition: Definition, func: str, tensor: str) -> str:
    text = definition.span.source.text
    first, last = definition.labels[0].span, definition.labels[-1].span
    place = text[first.start : text.index("]", last.end) + 1]
    place = f"[{place}"
    return (
        f"to write at places of a tensor {tensor}, declare Func {func} into {tensor} at {place} "
        "distinct; or, to add up the elements of one place, add in the place of distinct"
    )
