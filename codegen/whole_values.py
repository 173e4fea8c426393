"""Says which values of a kernel are whole numbers, and which of these are data.

Loops begin and end at such numbers (`data_rounds`).
"""

from dtpoly.algorithm.dtypes import DType
from dtpoly.ir.tile_values import Call, Converted, IndexValue, LiteralNumber, Value, Variable

# Operations of whole numbers of 64 bits that ends are made of.
OF_NUMBERS = ("add", "sub", "mul", "maximum", "minimum")


def is_data(value: Value) -> bool:
    """Return whether a value is a whole number that was loaded, or a sum with such a number."""
    match value:
        case Converted(value=inner, dtype=DType.I64):
            return is_data(inner)
        case Variable(dtype=DType() as dtype):
            return dtype in (DType.I8, DType.I16, DType.I32, DType.I64, DType.U8)
        case Call(operation=word, operands=operands, dtype=DType.I64) if word in OF_NUMBERS:
            return any(map(is_data, operands)) and all(map(is_whole, operands))
        case Call(operation="where", operands=(condition, *both), dtype=DType.I64):
            is_chosen = any(map(is_data, (*both, *_sides_of(condition))))
            return is_chosen and all(map(is_whole, both))
        case _:
            return False


def _sides_of(condition: Value) -> tuple[Value, ...]:
    """Return the numbers that a condition compares."""
    match condition:
        case Call(operation="and" | "or" | "not", operands=operands):
            return tuple(one for part in operands for one in _sides_of(part))
        case Call(operands=operands):
            return operands
        case _:
            return ()


def is_whole(value: Value) -> bool:
    """Return whether a value is a whole number: data, an index, or made of such by sums."""
    match value:
        case LiteralNumber() | IndexValue():
            return True
        case Converted(value=inner, dtype=DType.I64):
            return is_whole(inner)
        case Call(operation=word, operands=operands, dtype=DType.I64) if word in OF_NUMBERS:
            return all(map(is_whole, operands))
        case Call(operation="where", operands=(_, *both), dtype=DType.I64):
            return all(map(is_whole, both))
        case _:
            return is_data(value)
