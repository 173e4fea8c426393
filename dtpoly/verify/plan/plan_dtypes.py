"""Say of which kind the dtypes in a plan are: what the verifier knows of an element type."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.plan.call_plan import CallPlan, KernelType
from dtpoly.verify.plan.formula_parsing import WORDS, Dtype
from dtpoly.verify.plan.held import FunctionReading, PlanType, TensorOf

WIDE = "tl.float64"
# The name of the type in which floats are computed.
REAL = "real"


def kind_of(reading: FunctionReading, dtype: Dtype) -> str:
    """Return the kind that holds the values of all terms of a dtype. Raises Unread."""
    if dtype.is_type:
        raise Unread(dtype.line, "the dtype of a type of kernels, which is no dtype of inputs")
    kind = kinds.WEAK
    for one in dtype.terms:
        term = _term(reading, one, dtype.line)
        kind = term if kind == kinds.WEAK else _promoted(kind, term)
    return kind


def _term(reading: FunctionReading, one: str, line: int) -> str:
    """Return the kind of an input's dtype, or of a word such as `f32`.

    An input may be called as such a word is: then it is the input that is meant.
    """
    match reading.names.get(one):
        case TensorOf(array=array) if array.name in reading.inputs:
            return array.kind
        case None if one in WORDS:
            return WORDS[one]
        case _:
            raise Unread(line, f"the dtype '{one}'")


def _promoted(first: str, second: str) -> str:
    parts = (kinds.members(first) or {first}) | (kinds.members(second) or {second})
    if parts <= {*kinds.FLOATS}:
        return kinds.met(first, second)
    return kinds.stored(frozenset(parts))


def types_of(reading: FunctionReading, plan: CallPlan) -> dict[str, PlanType]:
    """Return the types with which kernels are compiled, by the names that the plan gives them.

    Sides of a product have 64 bits where floats are computed in 64 bits. So the type of computing
    must stand before those of sides.
    """
    found = dict[str, PlanType]()
    for one, said in plan.types.items():
        found[one] = _type(reading, said, found.get(REAL))
    return found


def _real_of(reading: FunctionReading, dtype: Dtype) -> str:
    """Return the kind that is f64 if one of the terms is f64, and else f32.

    It is the type in which the algorithm computes only if all inputs are among the terms whose
    dtypes the caller decides. Raises Unread for a term that is no input.
    """
    if words := [one for one in dtype.terms if one not in reading.names]:
        raise Unread(dtype.line, f"'{words[0]}', which is no input")
    terms = {_term(reading, one, dtype.line) for one in dtype.terms}
    wanted = {kinds.stored(frozenset({one})) for one in reading.callers}
    return kinds.REAL if wanted <= terms else kinds.LOST


def _type(reading: FunctionReading, said: KernelType, real: PlanType | None) -> PlanType:
    match said.kind, said.of:
        case "f32" | "f64" as word, None:
            return PlanType(WORDS[word])
        case "real", Dtype() as dtype:
            return PlanType(_real_of(reading, dtype))
        case "stored", Dtype() as dtype:
            return PlanType(kind_of(reading, dtype))
        case "operand", Dtype() as dtype if real is not None:
            if real.name == WIDE:
                return real
            # If values are computed in f64 for some callers, operands must not be narrower for
            # those callers.
            is_wide = real.name == kinds.REAL or not reading.callers
            return PlanType(kinds.operand(kind_of(reading, dtype)) if is_wide else kinds.LOST)
        case _:
            raise Unread(said.line, f"the type '{said.kind}' of a kernel")


def memory_kind(reading: FunctionReading, types: Mapping[str, PlanType], dtype: Dtype) -> str:
    """Return the kind of memory between kernels, whose dtype may be that of a type of kernels.

    Without the word `type`, an input that has the same name is meant. Raises Unread.
    """
    match dtype.terms:
        case (one,) if one in types and (dtype.is_type or one not in {*reading.names, *WORDS}):
            return types[one].name
        case _:
            return kind_of(reading, dtype)
