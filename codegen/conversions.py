"""Converts values of the kernel IR to a given type.

A literal has no type of its own: it takes the type of what it meets. `typed` and `cast_to` give it
one nevertheless.
"""

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType, is_float
from dtpoly.algorithm.inference import LARGEST
from dtpoly.ir.kinds import Element
from dtpoly.ir.tile_values import Converted, IndexValue, LiteralNumber, Value, axes_of

from .operation_spelling import is_float_element
from .scopes import OFFSET


def element_of(value: Value) -> Element | None:
    """Return the type of a value; None for a literal."""
    match value:
        case LiteralNumber():
            return None
        case IndexValue():
            return OFFSET
        case _:
            return value.dtype


def converted(value: Value, element: Element) -> Value:
    """Return the value in a type; a literal takes the type of what it meets."""
    if isinstance(value, LiteralNumber) or element_of(value) == element:
        return value
    return Converted(value, axes_of(value), element)


def typed(value: Value, element: Element) -> Value:
    """Return the value in a type. A literal gets it too, and is no number of Python's then."""
    if not isinstance(value, LiteralNumber):
        return converted(value, element)
    number = float(value.value) if is_float_element(element) else value.value
    return Converted(LiteralNumber(number), (), element)


def cast_to(value: Value, dtype: DType) -> Value:
    """Return the value rounded to a type. Floats of 8 bits are converted by way of f32."""
    if isinstance(value, LiteralNumber):
        value = LiteralNumber(_as_written(value.value, dtype))
        whole = Converted(value, (), DType.F32 if dtype in EIGHT_BIT_FLOATS else dtype)
        return Converted(whole, (), dtype) if dtype in EIGHT_BIT_FLOATS else whole
    own = element_of(value)
    if own is not DType.F32 and (own in EIGHT_BIT_FLOATS or dtype in EIGHT_BIT_FLOATS):
        value = Converted(value, axes_of(value), DType.F32)
    return Converted(value, axes_of(value), dtype)


def _as_written(value: int | float, dtype: DType) -> int | float:
    """Write a literal in a type: a whole number wraps, and a float beyond it is the least.

    The language leaves open what such a float gives.
    """
    if is_float(dtype):
        return float(value)
    if dtype is DType.BOOL:
        return int(value != 0)
    low = 0 if dtype is DType.U8 else -LARGEST[dtype] - 1
    if isinstance(value, int):
        return (value - low) % (LARGEST[dtype] - low + 1) + low
    if value != value or not low <= int(max(min(value, 2.0**64), -(2.0**64))) <= LARGEST[dtype]:
        return low
    return int(value)


def fits(value: Value, element: Element) -> bool:
    """Return whether a literal is a value of a whole-number type."""
    if not isinstance(value, LiteralNumber) or not isinstance(element, DType):
        return True
    low = 0 if element is DType.U8 else -LARGEST[element] - 1
    return low <= value.value <= LARGEST[element]
