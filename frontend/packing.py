"""Packed inputs: two numbers of 4 bits lie in a byte, the first one in its lower half.

`In W: i4 packed k;` declares a tensor of bytes. A read at index i of the axis at which reads have
the label k is the lower half of byte i // 2 if i is even, else the upper half. The frontend writes
this with quotients and bits, so that no later stage knows of packed inputs.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Apply, Cast, Expr, Integer, Read, divided
from dtpoly.algorithm.substitute import as_expr

from . import packing_messages as messages
from .name_lookup import Names
from .symbols import LABELS, Symbol, SymbolKind
from .syntax import (
    BinarySyntax,
    CallSyntax,
    Definition,
    File,
    Indexed,
    NameSyntax,
    Node,
    Unary,
    names_in,
)

BITS = 4


def packed_axes(file: File, names: Names) -> dict[str, tuple[int, bool]]:
    """Return the axis of each packed input, and whether its numbers have a sign.

    Inputs that show no axis are reported.
    """
    found: dict[str, tuple[int, bool]] = {}
    for symbol in names.table.values():
        if symbol.kind is SymbolKind.IN and symbol.packed is not None:
            axis = _axis(file, names, symbol, symbol.packed.label)
            if axis is not None:
                found[symbol.name] = (axis, symbol.packed.is_signed)
        elif symbol.into is not None:
            goes = names.symbol(symbol.into.tensor.text)
            if goes is not None and goes.packed is not None:
                names.tell(messages.written(symbol.into.tensor, goes.packed.label))
    return found


def _axis(file: File, names: Names, symbol: Symbol, label: NameSyntax) -> int | None:
    known = names.find(label, SymbolKind.VAR)
    if known is None:
        return None
    if known.kind not in LABELS:
        names.tell(messages.no_label(symbol.name, label, known))
        return None
    axes: dict[int, Indexed] = {}
    for read in _reads(file, symbol.name):
        for axis, index in enumerate(read.indices):
            if any(name.text == label.text for name in names_in(index)):
                axes.setdefault(axis, read)
    if len(axes) == 1:
        return next(iter(axes))
    if len(axes) > 1:
        names.tell(messages.two_axes(symbol.name, label, [*axes.values()][-1].span))
    elif names.is_used(symbol):
        names.tell(messages.no_axis(symbol.name, label))
    return None


def _reads(file: File, tensor: str) -> Iterator[Indexed]:
    """Yield the reads of a tensor in the definitions of a file."""
    pending: list[Node] = [one.body for one in file.statements if isinstance(one, Definition)]
    while pending:
        match pending.pop():
            case Indexed(base=base, indices=indices) as read:
                pending.extend(indices)
                if isinstance(base, CallSyntax):
                    pending.extend(base.arguments[1:])
                    base = base.arguments[0] if base.arguments else base
                if isinstance(base, NameSyntax) and base.text == tensor:
                    yield read
            case CallSyntax(arguments=arguments):
                pending.extend(arguments)
            case Unary(operand=operand):
                pending.append(operand)
            case BinarySyntax(left=left, right=right):
                pending.extend((left, right))
            case _:
                pass


def unpacked(read: Read, names: Names, node: Indexed) -> Expr:
    """Return the number of 4 bits that a read means; a read of another tensor is itself."""
    axis, is_signed = names.packed.get(read.tensor, (len(read.indices), False))
    if axis >= len(read.indices):
        return read
    if read.padding is not None and not _is_zero(read.padding):
        names.tell(messages.padded(read.tensor, node))
    span, index = read.span, read.indices[axis]
    if index.data is not None:
        names.tell(messages.at_data(read.tensor, node))
        return read
    indices = list(read.indices)
    indices[axis] = divided("//", index, 2)
    is_upper = Cast(Apply("bitand", (as_expr(index), Integer(1, span)), span), DType.U8, span)
    bits = Apply("mul", (Integer(BITS, span), is_upper), span)
    byte = replace(read, indices=tuple(indices))
    moved = Apply("shr", (byte, bits), span)
    value: Expr = Apply("bitand", (moved, Integer(2**BITS - 1, span)), span)
    if not is_signed:
        return value
    sign = Integer(2 ** (BITS - 1), span)
    turned = Apply("bitxor", (Cast(value, DType.I8, span), sign), span)
    return Apply("sub", (turned, sign), span)


def _is_zero(padding: Expr) -> bool:
    return isinstance(padding, Integer) and padding.value == 0
