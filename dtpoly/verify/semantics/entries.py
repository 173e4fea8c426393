"""Look up the table: give the entry of an operation on operands of some types, or all entries.

`typed` asks for single entries while kernels are read; the tests compare all of them with Triton.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial

from dtpoly.verify.semantics import cast_entries as casts
from dtpoly.verify.semantics import reduction_entries as reductions
from dtpoly.verify.semantics.binary_entries import binary
from dtpoly.verify.semantics.promotion import promoted
from dtpoly.verify.semantics.row import NO, OperationRow, done
from dtpoly.verify.semantics.table_operations import BINARY, BY_NAME, OPERATIONS, REDUCTIONS, UNARY
from dtpoly.verify.semantics.types import CONSTANTS, MADE, REFUSED, is_float, is_signed, tensor
from dtpoly.verify.semantics.unary import unary


def _where(condition: str, first: str, second: str) -> OperationRow:
    within = promoted(first, second)
    if within == REFUSED:
        return NO
    of_lanes = within != "tl.int1" and {condition, first, second} - set(CONSTANTS)
    return done(within, within, f"arith.select{' i1' if of_lanes else ''}")


def _of_three(name: str, a: str, b: str, c: str) -> OperationRow:
    """Return the entry of an operation on three operands.

    The tensors among them meet first, then the constants among themselves, and then both.
    """
    tensors = [one for one in (a, b, c) if one not in CONSTANTS]
    constants = [tensor(one) for one in (a, b, c) if one in CONSTANTS]
    within = ""
    for group in (tensors, constants):
        found = ""
        for one in group:
            found = one if not found else promoted(found, one)
            if found == REFUSED:
                return NO
        if found and within:
            back = {MADE[one]: one for one in CONSTANTS}[found]
            within = promoted(within, back)
        else:
            within = within or found
    if within == REFUSED:
        return NO
    if name == "fma":
        return done(within, within, "math.fma") if is_float(within) else NO
    if is_float(within):
        return done(within, within, "tt.clampf")
    return done(within, within, f"arith.min{'s' if is_signed(within) else 'u'}i")


def of_operation(name: str) -> dict[tuple[str, ...], OperationRow]:
    """Return all entries of an operation, by the types of the operands."""
    return {operands: entry(name, operands) for operands in BY_NAME[name].operands()}


def entries() -> Iterator[tuple[str, tuple[str, ...], OperationRow]]:
    """Yield all entries: the operation, the types of the operands, and the row."""
    for one in OPERATIONS:
        for operands, row in of_operation(one.name).items():
            yield one.name, operands, row


def _assigned(of: str) -> OperationRow:
    return OperationRow(tensor(of), tensor(of))


def _zeros(to: str) -> OperationRow:
    return OperationRow(to, to)


def _dot_as(left: str, out: str) -> OperationRow:
    return reductions.dot(left, left, out)


# What gives the entry of an operation: by its name and the number of its operands.
OTHERS: Mapping[tuple[str, int], Callable[..., OperationRow]] = {
    ("sum as", 2): partial(reductions.reduction, "sum as"),
    ("assign", 1): _assigned,
    ("cast", 2): casts.cast,
    ("bitcast", 2): casts.bitcast,
    ("full", 2): casts.full,
    ("zeros", 1): _zeros,
    ("where", 3): _where,
    ("fma", 3): partial(_of_three, "fma"),
    ("clamp", 3): partial(_of_three, "clamp"),
    ("load", 1): casts.load,
    ("load other", 2): casts.load,
    ("store", 2): casts.store,
    ("atomic_add", 2): partial(casts.atomic, "atomic_add"),
    ("atomic_max", 2): partial(casts.atomic, "atomic_max"),
    ("atomic_min", 2): partial(casts.atomic, "atomic_min"),
    ("dot", 2): reductions.dot,
    ("dot as", 2): _dot_as,
    ("dot onto", 2): reductions.onto,
}


@cache
def entry(name: str, operands: tuple[str, ...]) -> OperationRow:
    """Return the entry of an operation on operands of these types."""
    count = len(operands)
    if name in BINARY and count == 2:
        return binary(name, *operands)
    if name in UNARY and count == 1:
        return unary(name, *operands)
    if name in REDUCTIONS and count == 1:
        return reductions.reduction(name, *operands)
    return OTHERS[name, count](*operands)
