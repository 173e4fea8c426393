"""Computes numbers that describe the values of each Func.

It imports torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from math import isfinite

from torch import Tensor

from dtpoly.algorithm.program import Program, labels_of_axes
from dtpoly.frozen import dataclass
from dtpoly.reference.labelled_values import DTYPE
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.program_id import program_index

ELEMENTS = 4  # the number of first elements that are shown

Number = int | float | bool


@dataclass(frozen=True, slots=True)
class ValueSummary:
    """The numbers of a Func's values; without values, min, mean and max are missing."""

    name: str
    labels: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    min: Number | None
    mean: Number | None
    max: Number | None
    elements: tuple[Number, ...]


def summarise(
    program: Program,
    sizes: Mapping[str, int],
    seed: int,
    wanted: Sequence[str],
    primitives: Primitives,
) -> list[ValueSummary]:
    """Compute the wanted Funcs on made-up inputs, and describe their values."""
    inputs = random_inputs(program, sizes, seed)
    summaries: list[ValueSummary] = []

    def program_of(func: str, indices: Mapping[str, Tensor]) -> Tensor | int:
        number: Tensor | int = program_index(program, func, sizes, primitives)(indices)
        return number

    values = run(program, inputs, sizes=sizes, wanted=wanted, program_index=program_of)
    for name, tensor in values.items():
        low = mean = high = None
        if tensor.numel():
            low, high = tensor.min().item(), tensor.max().item()
            mean = tensor.double().mean().item()
        first = tuple(element.item() for element in tensor.flatten()[:ELEMENTS])
        labels, dtype = labels_of_axes(program, name), str(DTYPE[tensor.dtype])
        summaries.append(
            ValueSummary(name, labels, tuple(tensor.shape), dtype, low, mean, high, first)
        )
    return summaries


def as_data(summary: ValueSummary) -> dict[str, object]:
    """Return a summary as data for JSON, which has no word for nan and inf: they become strings."""
    data: dict[str, object] = asdict(summary)
    data |= {key: _speakable(data[key]) for key in ("min", "mean", "max")}
    return data | {"elements": [_speakable(element) for element in summary.elements]}


def _speakable(number: object) -> object:
    return str(number) if isinstance(number, float) and not isfinite(number) else number


def as_row(summary: ValueSummary) -> tuple[str, ...]:
    """Return a summary as words for a table."""
    elements = [_short(element) for element in summary.elements]
    return (
        summary.name,
        shown_shape(summary.labels, summary.shape),
        summary.dtype,
        *(_short(number) for number in (summary.min, summary.mean, summary.max)),
        ", ".join(elements),
    )


def shown_shape(labels: Sequence[str], shape: Sequence[int]) -> str:
    """Return a shape as `[x=4, 16]`: an axis without a label has its size alone."""
    sizes = zip(labels, shape, strict=True)
    return f"[{', '.join(f'{label}={size}' if label else str(size) for label, size in sizes)}]"


def _short(number: Number | None) -> str:
    if number is None:
        return "-"
    return f"{number:.6g}" if isinstance(number, float) else str(number).lower()
