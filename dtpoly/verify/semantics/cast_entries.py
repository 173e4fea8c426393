"""Make the table's entries of operations that change types: casts, new tiles, loads and stores."""

from __future__ import annotations

from dtpoly.verify.semantics.row import NO, OperationRow, element
from dtpoly.verify.semantics.types import (
    EIGHTS,
    STANDARD,
    TRUTH,
    bits,
    is_constant,
    is_float,
    is_signed,
    tensor,
)

NOTHING = "none"


def cast(of: str, to: str) -> OperationRow:
    """Return the entry of a value in another type: exact if the type has it, else rounded.

    The instruction rounds floats to the nearest, with ties to even, and towards zero where they
    become whole numbers. Whole numbers keep their last bits, and a value becomes True if it is not
    0.
    """
    if of == to:
        return OperationRow(to, to)
    if of in EIGHTS or to in EIGHTS:
        if not (is_float(of) and is_float(to)):
            return NO
        return OperationRow(to, to, f"tt.fp_to_fp {element(of)} {element(to)}")
    if to == TRUTH:
        if is_float(of):
            # Narrow floats are brought to f32 first.
            within = of if of in STANDARD[2:] else "tl.float32"
            return OperationRow(to, within, f"arith.cmpf une {element(within)}")
        return OperationRow(to, of, f"arith.cmpi ne {element(of)}")
    if is_float(of) and is_float(to):
        return _between_floats(of, to)
    if is_float(of):
        within = of if of in STANDARD[2:] else "tl.float32"
        sign = "s" if is_signed(to) else "u"
        return OperationRow(to, to, f"arith.fpto{sign}i {element(within)} {element(to)}")
    sign = "s" if is_signed(of) else "u"
    if is_float(to):
        return OperationRow(to, to, f"arith.{sign}itofp {element(of)} {element(to)}")
    if bits(of) == bits(to):
        return OperationRow(to, to, f"arith.bitcast {element(to)}")
    word = "trunci" if bits(of) > bits(to) else f"ext{sign}i"
    return OperationRow(to, to, f"arith.{word} {element(of)} {element(to)}")


def _between_floats(of: str, to: str) -> OperationRow:
    halves = STANDARD[:2]
    if of in halves and to in halves:
        # Before 3.8 or so Triton went by way of f32, which holds all numbers of f16 and
        # bf16.
        by_way = f"arith.truncf f32 {element(to)}"
        return OperationRow(to, to, f"tt.fp_to_fp {element(of)} {element(to)}", by_way)
    if of in halves and to == "tl.float64":
        return OperationRow(to, to, "arith.extf f32 f64")
    word = "truncf" if bits(of) > bits(to) else "extf"
    return OperationRow(to, to, f"arith.{word} {element(of)} {element(to)}")


def bitcast(of: str, to: str) -> OperationRow:
    """Return the entry of the same bits as a value of another type."""
    if of == to:
        return OperationRow(to, to)
    if bits(of) != bits(to):
        return NO
    if element(of) == element(to):
        return OperationRow(to, to, f"tt.bitcast {element(to)}")
    return OperationRow(to, to, f"tt.bitcast {element(of)} {element(to)}")


def full(of: str, to: str) -> OperationRow:
    """Return the entry of a tile with one constant in every lane."""
    if not is_constant(of) or (of == "float" and not is_float(to) and to != TRUTH):
        return NO
    return OperationRow(to, to)


def load(address: str, other: str | None = None) -> OperationRow:
    """Return the entry of a load; where a mask is false, the value is `other`, or anything.

    `other` has the type of the elements in memory. Truths are bytes in memory, and `other` becomes
    a byte there: 256 is False.
    """
    made = "arith.cmpi ne i8" if address == TRUTH else "tt.load"
    if other is None:
        return OperationRow(address, address, made)
    brought = cast(tensor(other), "tl.int8" if address == TRUTH else address)
    if brought.is_refused:
        return NO
    return OperationRow(address, address, brought.instruction or made, brought.also)


def store(address: str, value: str) -> OperationRow:
    """Return the entry of a store, which brings a value to the type of the elements in memory.

    A value that is stored as a truth is True if it is not 0. Before 3.9 Triton made a byte of it
    first, so that 256 was False.
    """
    brought = cast(tensor(value), address)
    if brought.is_refused:
        return NO
    return OperationRow(NOTHING, address, brought.instruction or "tt.store", brought.also)


ADDED = ("tl.int32", "tl.uint32", "tl.int64", "tl.uint64", *STANDARD)


def atomic(name: str, address: str, value: str) -> OperationRow:
    """Return the entry of an atomic operation, whose result is what was in memory before.

    The value is brought to the type of the elements in memory first.
    """
    is_extreme = name != "atomic_add"
    if address not in ADDED or (is_extreme and address in STANDARD[:2]):
        return NO
    if cast(tensor(value), address).is_refused:
        return NO
    if is_extreme and is_float(address):
        # The bits of floats are compared, as signed or as unsigned whole numbers.
        return OperationRow(address, address, f"tt.bitcast i{bits(address)} {element(address)}")
    word = "fadd" if is_float(address) else "add"
    if is_extreme:
        sign = "" if is_signed(address) else "u"
        word = f"{sign}{name.removeprefix('atomic_')}"
    return OperationRow(address, address, f"tt.atomic_rmw {word} {element(address)} i1")
