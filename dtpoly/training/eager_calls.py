"""Calls operators where nobody looks on: without torch's dispatcher, whose way takes far longer.

An operator that is registered with torch passes through several layers of Python for each call, and
through as many for its backward. They serve those who look on: torch.compile, torch.export, vmap
and other transforms, modes, subclasses of tensors. For an ordinary call an autograd.Function does
the same. This module imports torch.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Protocol

import torch

# torch has no public names for what may look at a call.
CORE: Any = import_module("torch._C")
FORWARD_AD: Any = import_module("torch.autograd.forward_ad")
VMAP = CORE._parse_dispatch_key("VmapMode")
TENSORS = frozenset((torch.Tensor, torch.nn.Parameter))
ORDINARY = TENSORS | {float, int, bool, type(None)}  # what nobody looks on at
# They are looked up once, since a call asks each of them.
is_compiling, is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled


class Computing(Protocol):
    """The parts of an operator that a call needs."""

    calls: tuple[Callable[..., Any], Callable[..., Any]]

    def compute(self, *given: Any) -> Any:
        """Run the kernels."""

    def keep(self, ctx: Any, needed: Sequence[bool], inputs: Sequence[Any], output: Any) -> None:
        """Keep in a context what the backward reads."""

    def backward_of_call(self, ctx: Any, *gifts: Any) -> tuple[Any, ...]:
        """Return the gradients of all inputs."""
        ...


def call(operator: Computing, is_in_tensors: bool, given: Sequence[Any]) -> Any:
    """Return the results of an operator, on the shortest way that does the same.

    `is_in_tensors` says that its numbers are in tensors, which is another operator for torch.
    """
    if is_compiling() or not is_ordinary(given):
        # Dynamo of torch 2.11 cannot index a tuple by a truth value.
        return operator.calls[1 if is_in_tensors else 0](*given)
    if is_grad_enabled() and any([x.requires_grad for x in given if x.__class__ in TENSORS]):
        return APPLY(operator, *given)
    return operator.compute(*given)


def is_ordinary(given: Sequence[Any]) -> bool:
    """Return whether nothing looks at a call but autograd."""
    if CORE._len_torch_dispatch_stack() or CORE._len_torch_function_stack():
        return False
    if CORE._functorch.maybe_current_level() is not None:
        return False
    is_under = CORE._dispatch_tls_is_dispatch_key_included
    # The second one is the vmap that torch.autograd itself uses for many gradients at once.
    if is_under(CORE.DispatchKey.PreDispatch) or is_under(VMAP):
        return False
    if CORE._get_tracing_state() is not None or FORWARD_AD._current_level >= 0:
        return False
    return ORDINARY.issuperset([x.__class__ for x in given]) or not any(
        [isinstance(x, torch.Tensor) for x in given if x.__class__ not in ORDINARY]
    )


class _Call(torch.autograd.Function):
    """A call whose gradient may be asked for."""

    @staticmethod
    def forward(ctx: Any, operator: Computing, *given: Any) -> Any:
        """Run the kernels, and keep what the backward reads."""
        output = operator.compute(*given)
        operator.keep(ctx, ctx.needs_input_grad[1:], given, output)
        ctx.operator = operator
        return output

    @staticmethod
    def backward(ctx: Any, *gifts: Any) -> tuple[Any, ...]:
        """Compute the gradients. They have gradients of their own where those are asked for."""
        return (None, *ctx.operator.backward_of_call(ctx, *gifts))


# What `apply` of torch does for transforms besides is not needed: there are none.
APPLY: Callable[..., Any] = getattr(super(torch.autograd.Function, _Call), "apply")  # noqa: B009
