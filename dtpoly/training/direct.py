"""Calls operators without torch's dispatcher, where nothing but autograd looks at a call.

Dispatching to an operator that is written in Python, with a gradient that is, takes torch longer
than small kernels take the device. A function of autograd does the same in a fraction of the time.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Protocol

import torch

# torch has no public names for what may look at a call.
CORE: Any = import_module("torch._C")
FORWARD_AD: Any = import_module("torch.autograd.forward_ad")
ORDINARY = (torch.Tensor, torch.nn.Parameter)


class Computing(Protocol):
    """What computes results, and gradients of them."""

    def compute(self, *given: Any) -> Any:
        """Return the results."""

    def keep(
        self, ctx: Any, inputs: tuple[Any, ...], output: Any, needed: tuple[bool, ...]
    ) -> None:
        """Keep what the gradients need."""

    def backward_of_call(self, ctx: Any, *gifts: Any) -> tuple[Any, ...]:
        """Return the gradients by what was given."""
        ...


def is_direct(given: Sequence[Any]) -> bool:
    """Return whether nothing but autograd looks at a call.

    A compiler, a mode, a transform or a tensor of another class sees operators, and not kernels.
    """
    if torch.compiler.is_compiling():
        return False
    for one in given:
        if isinstance(one, torch.Tensor) and type(one) not in ORDINARY:
            return False
    return not (
        CORE._len_torch_dispatch_stack()
        or CORE._len_torch_function_stack()
        or CORE._functorch.peek_interpreter_stack() is not None
        or CORE._get_tracing_state() is not None
        or FORWARD_AD._current_level >= 0
    )


class Direct(torch.autograd.Function):
    """A call of an operator, with its gradient."""

    @staticmethod
    def forward(ctx: Any, *given: Any) -> Any:
        """Compute the results, and keep what the gradient needs."""
        operator: Computing = given[0]
        found = operator.compute(*given[1:])
        ctx.operator = operator
        operator.keep(ctx, given[1:], found, ctx.needs_input_grad[1:])
        return found

    @staticmethod
    def backward(ctx: Any, *gifts: Any) -> Any:
        """Return the gradients; the operator itself has none."""
        return (None, *ctx.operator.backward_of_call(ctx, *gifts))


def needs_gradient(one: Any) -> bool:
    """Return whether an input requires a gradient."""
    return isinstance(one, torch.Tensor) and one.requires_grad
