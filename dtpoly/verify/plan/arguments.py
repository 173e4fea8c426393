"""Say what a parameter of a kernel is, where a launch gives it something."""

from __future__ import annotations

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    DescriptorValue,
    NoneValue,
    PointerValue,
    TextValue,
    TypeValue,
    Unread,
    Value,
    scalar,
)
from dtpoly.verify.algebra.terms import Given, Literal
from dtpoly.verify.algebra.whole import Whole, number
from dtpoly.verify.plan.held import (
    BlockDescriptor,
    FactorProduct,
    FunctionReading,
    Held,
    LowerBound,
    PlanType,
    TensorOf,
)
from dtpoly.verify.plan.interface import CONSTANTS, OFFSET

PLAIN = ""


def argument(
    reading: FunctionReading, parameter: str, held: Held, annotation: str, line: int
) -> Value:
    """Return what a generated kernel sees, which has a parameter for the type of offsets alone.

    Raises Unread if Triton would make another value of it.
    """
    if annotation not in _types(reading, held):
        raise Unread(line, f"'{parameter}: {annotation}', which is a type for Triton")
    if (parameter == OFFSET) != (held == PlanType(kinds.OFFSET)):
        raise Unread(line, f"what '{parameter}' is given")
    return plain_argument(reading, parameter, held, annotation, line)


def plain_argument(
    reading: FunctionReading, parameter: str, held: Held, annotation: str, line: int
) -> Value:
    """Return what a kernel sees. Raises Unread if Triton would make another value of it."""
    if annotation not in _types(reading, held):
        raise Unread(line, f"'{parameter}: {annotation}', which is a type for Triton")
    is_constant = annotation in CONSTANTS
    match held:
        case TensorOf(array=array):
            return scalar(PointerValue(array.name, number(0)), array.kind)
        case Whole():
            return scalar(held, kinds.WEAK if is_constant else kinds.SIZE)
        case Given(name=one):
            # A kernel brings a float to the type in which it computes before it uses it.
            return scalar(held, reading.scalars[one] or kinds.WEAK)
        case PlanType(name=kind):
            return TypeValue(kind)
        case BlockDescriptor(array=array, block=block, there=there):
            # The last stride of a tensor with a descriptor is 1, so the strides can be left as they
            # are.
            pointer = scalar(PointerValue(array.name, number(0)), array.kind)
            return DescriptorValue(pointer, array.shape, array.strides, block, there)
        case FactorProduct() | LowerBound() | tuple() | Literal() | NoneValue() | TextValue():
            raise Unread(line, f"what '{parameter}' is given")
        case _:
            # Triton makes a tensor of one bit from a truth, unless the parameter is a constant.
            return scalar(held, kinds.WEAK if is_constant else kinds.BOOL)


def _types(reading: FunctionReading, held: Held) -> tuple[str, ...]:
    """Return the types that a parameter may be declared to have, since they change no number."""
    match held:
        case Given(name=one):
            # Triton takes a float for 32 bits unless its parameter is declared as 64.
            return (reading.scalars[one] or "tl.float64",)
        case PlanType():
            return CONSTANTS
        case _:
            return (PLAIN, *CONSTANTS)
