"""Defines the dtypes of the language and how they combine, by torch's rules but without torch."""

from enum import StrEnum


class DType(StrEnum):
    """An element type, spelled as in the language."""

    BOOL = "bool"
    U8 = "u8"
    I8 = "i8"
    I16 = "i16"
    I32 = "i32"
    I64 = "i64"
    F8E4M3 = "f8e4m3"
    F8E5M2 = "f8e5m2"
    F16 = "f16"
    BF16 = "bf16"
    F32 = "f32"
    F64 = "f64"


FLOATS = (DType.F8E4M3, DType.F8E5M2, DType.F16, DType.BF16, DType.F32, DType.F64)
# The types in which memory can add, so that several programs may add to one element.
ADDED_IN_MEMORY = (DType.I32, DType.I64, DType.F16, DType.BF16, DType.F32, DType.F64)
EIGHT_BIT_FLOATS = (DType.F8E4M3, DType.F8E5M2)
INTEGERS = (DType.U8, DType.I8, DType.I16, DType.I32, DType.I64)


def is_float(dtype: DType) -> bool:
    """True for a floating-point type."""
    return dtype in FLOATS


def is_integer(dtype: DType) -> bool:
    """True for a type of whole numbers, to which bool does not belong."""
    return dtype in INTEGERS


def category(dtype: DType) -> int:
    """Return 0 for bool, 1 for whole numbers and 2 for floats; the higher one wins a promotion."""
    if dtype is DType.BOOL:
        return 0
    return 2 if is_float(dtype) else 1


def promote(left: DType, right: DType) -> DType | None:
    """Return the type that holds both types, as torch promotes two tensors.

    None where torch has no answer, which is where an 8-bit float meets any other type.
    """
    if left is right:
        return left
    if left in EIGHT_BIT_FLOATS or right in EIGHT_BIT_FLOATS:
        return None
    if category(left) != category(right):
        return max(left, right, key=category)
    if is_float(left):
        if {left, right} == {DType.F16, DType.BF16}:
            return DType.F32
        return max(left, right, key=FLOATS.index)
    if DType.U8 in (left, right):
        # An unsigned byte and a signed one need a wider signed type.
        other = right if left is DType.U8 else left
        return DType.I16 if other is DType.I8 else other
    return max(left, right, key=INTEGERS.index)


def accumulator(dtype: DType) -> DType:
    """Return the type in which a sum, product or dot of values of this type is computed."""
    match dtype:
        case DType.F64:
            return DType.F64
        case _ if is_float(dtype):
            return DType.F32
        case DType.I32 | DType.I64:
            return DType.I64
        case _:
            return DType.I32


def summed(dtype: DType) -> DType:
    """Return the type of a sum, product or dot: floats keep theirs, whole numbers widen."""
    return dtype if is_float(dtype) else accumulator(dtype)
