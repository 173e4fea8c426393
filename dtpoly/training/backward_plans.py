"""Finds the values that a backward reads in what a call kept: by places, which are found once.

This module imports torch.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import torch

from dtpoly.frozen import dataclass
from dtpoly.training.content import Content
from dtpoly.training.gradient_schedules import Backward

Names = tuple[str, ...]
IN_TENSOR = object()  # stands for a value among those of a context that torch keeps itself


# Each is made once, so two are the same if they are one: comparing their names would take longer.
@dataclass(frozen=True, slots=True, eq=False)
class Flow:
    """The results and inputs between which a gradient flows, and what it reads of a call.

    `places` says for each name of `read` where it is, among all inputs and then all results;
    `by_places` does so for the inputs of `by`.
    """

    of: Names
    by: Names
    read: Names
    places: tuple[int, ...]
    by_places: tuple[int, ...]


class GradientOperator(Protocol):
    """An operator that computes gradients from the values that a backward reads."""

    backward: Backward
    labels: Names  # whose sizes it is passed

    def compute(self, values: Sequence[Any], sizes: Sequence[Any]) -> tuple[Any, ...]:
        """Return the results of its operator."""
        ...


@dataclass(frozen=True, slots=True)
class BackwardPlan:
    """How the gradients of calls of one kind are computed.

    For each input of the gradient's operator, `sources` has where its value is: in what was kept,
    or, after that, in the gradient of a result. For each input of the forward, `made` has which
    result is its gradient, and of which type it must be.
    """

    gradient: GradientOperator
    sources: tuple[int, ...]
    made: tuple[tuple[int, torch.dtype] | None, ...]

    def values(
        self, kept: Sequence[Any], gifts: Sequence[Any], forms: Sequence[Any]
    ) -> Sequence[Any]:
        """Return the values of the operator's inputs; a result without a gradient has 0."""
        count = len(kept)
        return [
            kept[at] if at < count else _gift(gifts[at - count], forms[at - count])
            for at in self.sources
        ]

    def gradients(self, found: Sequence[Any]) -> list[Any]:
        """Return the gradient by each input, in the type of this."""
        return [None if one is None else _in_type(found[one[0]], one[1]) for one in self.made]


def plan_of(
    gradient: GradientOperator, content: Content, flow: Flow, types: Mapping[str, torch.dtype]
) -> BackwardPlan:
    """Return how an operator's gradients are computed by what its calls keep.

    `types` has the inputs whose gradients are wanted, and of which type they must be.
    """
    backward = gradient.backward
    results = {gift: one for one, gift in backward.given.items()}
    count = len(flow.read)
    sources = tuple(
        count + content.results.index(results[one.name])
        if one.name in results
        else flow.read.index(one.name)
        for one in backward.schedule.program.inputs
    )
    places = {one: at for at, one in enumerate(backward.results) if one in types}
    made = ((places[one], types[one]) if one in places else None for one in content.inputs)
    return BackwardPlan(gradient, sources, tuple(made))


def _gift(gift: Any, form: tuple[Any, torch.dtype, torch.device]) -> Any:
    if gift is not None:
        # The gradient of a sum, or of a mean, is one number for all elements. Kernels are slow
        # where a tensor is not contiguous, and this may be the smallest of their tensors.
        return gift.contiguous() if 0 in gift.stride() else gift
    shape, dtype, device = form
    return torch.zeros(shape, dtype=dtype, device=device)


def _in_type(gradient: Any, dtype: torch.dtype) -> Any:
    return gradient if gradient.dtype is dtype else gradient.to(dtype)
