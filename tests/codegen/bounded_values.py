"""Values with their bounds, over labels, and the data on which they depend."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    division,
)
from dtpoly.algorithm.inference import InferredType, combine
from dtpoly.algorithm.program import Func
from dtpoly.reference.labelled_values import (
    TabulatedValue,
    laid_out,
    spread,
)
from tests.codegen.exact import (
    Allowed,
    Exact,
    each,
)
from tests.codegen.floats import (
    DOUBLE,
    SINGLE,
    Floats,
    Precision,
)

Tensor = torch.Tensor
ProgramIndex = Callable[[str, Mapping[str, Tensor]], Tensor | int]
# The name of the axis of the places of a list.
PLACES = "places"


@dataclass(frozen=True, slots=True, eq=False)
class Bounded:
    """The values that an expression may have, as a function of labels: one axis a label."""

    allowed: Allowed
    labels: tuple[str, ...]
    type: InferredType


@dataclass(frozen=True, slots=True, eq=False)
class Scope:
    """The data on which the value of an expression may depend, besides its labels."""

    tensors: Mapping[str, Bounded]  # inputs and Funcs, in the order of their axes
    scalars: Mapping[str, Bounded]
    sizes: Mapping[str, int]
    is_double: bool  # whether numbers are computed in f64
    operand_loss: float
    device: torch.device
    func: Func | None = None
    adds: int = 0  # how often an element is added to in memory
    program_index: ProgramIndex | None = None


def over(value: Bounded, labels: Sequence[str], scope: Scope) -> Bounded:
    """Return the value over these labels, repeated along those that it lacks."""
    changed = each(
        value.allowed, lambda part: spread(TabulatedValue(part, value.labels), labels, scope.sizes)
    )
    return Bounded(changed, tuple(labels), value.type)


def laid_out_over(value: Bounded, labels: Sequence[str]) -> Allowed:
    return each(value.allowed, lambda part: laid_out(TabulatedValue(part, value.labels), labels))


def precision_of(type_: InferredType, scope: Scope) -> Precision:
    if type_.weak:
        return DOUBLE if scope.is_double else SINGLE
    return DOUBLE if type_.dtype is DType.F64 else SINGLE


def opened(value: Allowed, unsure: Sequence[Tensor]) -> Allowed:
    """Return a value that may be any where one of the indices that it is read at is not known."""
    if not unsure:
        return value
    is_open = torch.stack(tuple(unsure)).any(0)
    match value:
        case Floats(low=low, high=high, nan=nan):
            ends = low.masked_fill(is_open, -torch.inf), high.masked_fill(is_open, torch.inf)
            return Floats(*ends, nan | is_open)
        case Exact(tensor=tensor, known=known):
            return Exact(tensor, known & ~is_open)


def place_at(
    index: Affine, along: Mapping[str, Tensor], shape: Sequence[int], device: torch.device
) -> Tensor:
    place = torch.full(list(shape), index.constant, device=device)
    for term, coefficient in index.terms:
        if isinstance(term, str):
            value = along[term]
        else:
            term = division(term)
            value = place_at(term.inner, along, shape, device)
            down = torch.div(value, term.divisor, rounding_mode="floor")
            value = down if term.operator == "//" else value - term.divisor * down
        place = place + coefficient * value
    return place


def joined_type(operands: Sequence[Bounded]) -> InferredType:
    total = operands[0].type
    for one in operands[1:]:
        both = combine(total, one.type)
        assert both is not None
        total = both
    return total


def is_known(operation: str, value: Exact, kept: int) -> Tensor:
    known, tensor = value.known.flatten(kept), value.tensor.flatten(kept)
    match operation:
        case "rany":
            return known.all(-1) | (known & tensor).any(-1)
        case "rall":
            return known.all(-1) | (known & ~tensor).any(-1)
        case _:
            return known.all(-1)
