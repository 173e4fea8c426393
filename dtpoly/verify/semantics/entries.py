"""Look up the table: give the entry of an operation on operands of some types, or all entries.

`typed` asks for single entries while kernels are read; the tests compare all of them with Triton.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from dtpoly.verify.semantics import cast_entries as casts
from dtpoly.verify.semantics import reduction_entries as reductions
from dtpoly.verify.semantics.binary_entries import binary
from dtpoly.verify.semantics.promotion import promoted
from dtpoly.verify.semantics.row import NO, OperationRow, done
from dtpoly.verify.semantics.table_operations import BINARY, BY_NAME, OPERATIONS, REDUCTIONS, UNARY
from dtpoly.verify.semantics.types import CONSTANTS, MADE, REFUSED, is_float, is_signed, tensor
from dtpoly.verify.semantics.unary import unary


@cache
def entry(name: str, operands: tuple[str, ...]) -> OperationRow:
    """Return the entry of an operation on operands of these types."""
    match name, operands:
        case _, (first, second) if name in BINARY:
            return binary(name, first, second)
        case _, (of,) if name in UNARY:
            return unary(name, of)
        case _, (of,) if name in REDUCTIONS:
            return reductions.reduction(name, of)
        case "sum as", (of, to):
            return reductions.reduction(name, of, to)
        case "assign", (of,):
            return OperationRow(tensor(of), tensor(of))
        case "cast", (of, to):
            return casts.cast(of, to)
        case "bitcast", (of, to):
            return casts.bitcast(of, to)
        case "full", (of, to):
            return casts.full(of, to)
        case "zeros", (to,):
            return OperationRow(to, to)
        case "where", (condition, first, second):
            within = promoted(first, second)
            if within == REFUSED:
                return NO
            of_lanes = within != "tl.int1" and {condition, first, second} - set(CONSTANTS)
            return done(within, within, f"arith.select{' i1' if of_lanes else ''}")
        case (("fma" | "clamp"), (a, b, c)):
            return _of_three(name, a, b, c)
        case "load", (address,):
            return casts.load(address)
        case "load other", (address, other):
            return casts.load(address, other)
        case "store", (address, value):
            return casts.store(address, value)
        case (("atomic_add" | "atomic_max" | "atomic_min"), (address, value)):
            return casts.atomic(name, address, value)
        case "dot", (left, right):
            return reductions.dot(left, right)
        case "dot as", (left, out):
            return reductions.dot(left, left, out)
        case "dot onto", (left, acc):
            return reductions.onto(left, acc)
        case _:
            raise KeyError(name)


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
