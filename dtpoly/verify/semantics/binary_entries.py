"""Make the table's entries of operators and functions of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dtpoly.verify.semantics.promotion import promoted
from dtpoly.verify.semantics.row import NO, OperationRow, done, element
from dtpoly.verify.semantics.types import (
    REFUSED,
    TRUTH,
    bits,
    is_constant,
    is_float,
    is_signed,
    is_whole,
)

# How Python computes each operation on two constants.
PYTHON: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
    "shl": lambda a, b: a << b,
    "shr": lambda a, b: a >> b,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "pow": lambda a, b: a**b,
}
# A sample constant of each type: Python computes with the samples to show the type of the result.
SAMPLES: dict[str, bool | int | float] = {
    "bool": True,
    "int": 2,
    "float": 1.5,
    "long": -(2**40),
    "double": 1e-300,
}
ARITHMETIC = {"add": "add", "sub": "sub", "mul": "mul"}
QUOTIENTS = {"floordiv": "div", "mod": "rem"}
BITS = {"and": "andi", "or": "ori", "xor": "xori", "shl": "shli"}
COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
TURNED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}
EXTREMES = {
    "maximum": ("max", "maxnumf"),
    "minimum": ("min", "minnumf"),
    "maximum of all": ("max", "maximumf"),
    "minimum of all": ("min", "minimumf"),
    "max of python": ("max", "maxnumf"),
    "min of python": ("min", "minnumf"),
}


def constant(name: str, first: str, second: str) -> OperationRow:
    """Return the entry for two constants: Python computes another constant, with no instruction."""
    try:
        made = PYTHON[name](SAMPLES[first], SAMPLES[second])
    except (TypeError, ValueError, OverflowError):
        return NO
    return OperationRow(constants(made))


def constants(value: bool | int | float) -> str:
    """Return the types that a constant may have which Python computes; its value decides."""
    match value:
        case bool():
            return "bool"
        case int():
            return "int|long"
        case _:
            return "float|double"


def sign(of: str) -> str:
    """Return `s` or `u`, by which an instruction says whether whole numbers have signs."""
    return "s" if is_signed(of) else "u"


def _comparison(name: str, first: str, second: str, within: str) -> OperationRow:
    """Return the entry of a comparison.

    For a constant and a tensor Triton calls the tensor's operator, so the comparison is turned
    round. Before Triton 3.9 it was not turned, and a constant brought narrow whole numbers to 32
    bits.
    """
    turned = TURNED[name] if is_constant(first) else name
    also = [_compares(one, within) for one in (turned, name)]
    if (is_constant(first) or is_constant(second)) and is_whole(within) and bits(within) < 32:
        also += [_compares(one, "tl.int32") for one in (turned, name)]
    row, *others = dict.fromkeys(also)
    return OperationRow(TRUTH, within, row, "|".join(others))


def _compares(name: str, within: str) -> str:
    if is_float(within):
        return f"arith.cmpf {'u' if name == 'ne' else 'o'}{name} {element(within)}"
    word = name if name in ("eq", "ne") else sign(within) + name
    return f"arith.cmpi {word} {element(within)}"


def binary(name: str, first: str, second: str) -> OperationRow:
    """Return the entry of an operation on two operands."""
    if is_constant(first) and is_constant(second) and name in PYTHON:
        return constant(name, first, second)
    if name == "pow":
        return NO
    if name in ("both", "either"):
        return joined(name, first, second)
    if is_constant(first) and is_constant(second) and name.endswith("of python"):
        return OperationRow(ways(first, second))
    if name in ("fdiv", "div_rn"):
        return _function_quotient(name, first, second)
    if name == "cdiv":
        return _rounded_up(first, second)
    within = promoted(first, second, divides=name in ("div", *QUOTIENTS))
    return NO if within == REFUSED else _of_numbers(name, first, second, within)


def _of_numbers(name: str, first: str, second: str, within: str) -> OperationRow:
    """Return the entry of an operation on two numbers that meet in a type."""
    if name in ARITHMETIC:
        return done(within, within, f"arith.{name}{'f' if is_float(within) else 'i'}")
    if name in COMPARISONS:
        return _comparison(name, first, second, within)
    if name == "div":
        within = within if is_float(within) else "tl.float32"
        return done(within, within, "arith.divf")
    if name in EXTREMES:
        of_wholes, of_floats = EXTREMES[name]
        word = of_floats if is_float(within) else f"{of_wholes}{sign(within)}i"
        return done(within, within, f"arith.{word}")
    if name == "mod" and is_float(within):
        return done(within, within, "arith.remf")
    if not is_whole(within):
        return NO
    if name in QUOTIENTS:
        return done(within, within, f"arith.{QUOTIENTS[name]}{sign(within)}i")
    if name == "shr":
        # Which bits are shifted in depends on the operand's type before the operands meet.
        return done(within, within, f"arith.shr{sign(second if is_constant(first) else first)}i")
    return done(within, within, f"arith.{BITS[name]}")


def _function_quotient(name: str, first: str, second: str) -> OperationRow:
    """`tl.fdiv` divides floats of 32 bits or more, `tl.div_rn` f32 alone."""
    if name == "div_rn":
        tensors = {one for one in (first, second) if not is_constant(one)}
        within = promoted(first, second)
        is_right = tensors <= {"tl.float32"} and within != REFUSED and is_float(within)
        return done(within, within, "tt.precise_divf") if is_right else NO
    within = promoted(first, second, divides=True)
    return done(within, within, "arith.divf") if within != REFUSED and is_float(within) else NO


def _rounded_up(first: str, second: str) -> OperationRow:
    """Return the entry of `tl.cdiv`: `x + (y - 1)` is divided as `//` divides."""
    if is_constant(first) and is_constant(second):
        return OperationRow(constants(SAMPLES[first] + SAMPLES[second]))
    total = (
        promoted(first, promoted(second, "int"))
        if not is_constant(second)
        else promoted(first, "long" if second == "long" else "int")
    )
    if total == REFUSED or is_float(total) or is_float(second):
        return NO
    within = promoted(total, second, divides=True)
    if within == REFUSED:
        return NO
    return done(within, within, f"arith.div{sign(within)}i")


def joined(name: str, first: str, second: str) -> OperationRow:
    """Return the entry of `and` and `or`.

    Where one of the operands is a constant, its truth decides which of the two is the result.
    """
    if not is_constant(first) and not is_constant(second):
        word = "arith.andi" if name == "both" else "arith.ori"
        return done(TRUTH, TRUTH, word) if first == second == TRUTH else NO
    return OperationRow(ways(first, second))


def ways(first: str, second: str) -> str:
    """Return a result that has one type or another, which only the values decide."""
    return "|".join(dict.fromkeys(sorted((first, second))))
