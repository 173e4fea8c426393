"""Say of which kind the dtypes in a plan are: what the verifier knows of an element type."""

from __future__ import annotations

from collections.abc import Mapping

from dtpoly.verify import kinds
from dtpoly.verify.held import Kind, TensorOf, Wrapper
from dtpoly.verify.plan.call_plan import CallPlan, KernelType
from dtpoly.verify.plan.formulas import WORDS, Dtype
from dtpoly.verify.values import Unread

WIDE = "tl.float64"
# The name of the type in which floats are computed.
REAL = "real"


def kind_of(wrapper: Wrapper, dtype: Dtype) -> str:
    """Return the kind that holds the values of all terms of a dtype. Raises Unread."""
    kind = kinds.WEAK
    for one in dtype.terms:
        term = _term(wrapper, one, dtype.line)
        kind = term if kind == kinds.WEAK else _promoted(kind, term)
    return kind


def _term(wrapper: Wrapper, one: str, line: int) -> str:
    """Return the kind of an input's dtype, or of a word such as `f32`."""
    match wrapper.names.get(one):
        case TensorOf(array=array) if array.name in wrapper.inputs:
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


def types_of(wrapper: Wrapper, plan: CallPlan) -> dict[str, Kind]:
    """Return the types with which kernels are compiled, by the names that the plan gives them.

    Sides of a product have 64 bits where floats are computed in 64 bits.
    """
    said = plan.types.get(REAL)
    real = None if said is None else _type(wrapper, said, None).name
    return {one: _type(wrapper, each, real) for one, each in plan.types.items()}


def _real_of(wrapper: Wrapper, dtype: Dtype) -> str:
    """Return the kind that is f64 if one of the terms is f64, and else f32.

    It is the type in which the algorithm computes only if all inputs are among the terms whose
    dtypes the caller decides.
    """
    terms = {_term(wrapper, one, dtype.line) for one in dtype.terms}
    wanted = {kinds.stored(frozenset({one})) for one in wrapper.callers}
    return kinds.REAL if wanted <= terms else kinds.LOST


def _type(wrapper: Wrapper, said: KernelType, real: str | None) -> Kind:
    match said.kind, said.of:
        case "f32" | "f64" as word, None:
            return Kind(WORDS[word])
        case "real", Dtype() as dtype:
            return Kind(_real_of(wrapper, dtype))
        case "stored", Dtype() as dtype:
            return Kind(kind_of(wrapper, dtype))
        case "operand", Dtype() as dtype if real is not None:
            if real == WIDE:
                return Kind(real)
            # If values are computed in f64 for some callers, operands must not be narrower for
            # those callers.
            is_wide = real == kinds.REAL or not wrapper.callers
            return Kind(kinds.operand(kind_of(wrapper, dtype)) if is_wide else kinds.LOST)
        case _:
            raise Unread(said.line, f"the type '{said.kind}' of a kernel")


def memory_kind(wrapper: Wrapper, types: Mapping[str, Kind], dtype: Dtype) -> str:
    """Return the kind of memory between kernels, whose dtype may be that of a type of kernels.

    Raises Unread, also if an input has the same name.
    """
    match dtype.terms:
        case (one,) if one in types:
            if one in wrapper.names or one in WORDS:
                what = f"'{one}', which may be a type of kernels, and something else"
                raise Unread(dtype.line, what)
            return types[one].name
        case _:
            return kind_of(wrapper, dtype)
