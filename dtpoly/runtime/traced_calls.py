"""Marks functions that torch.compile runs while it traces a call of a schedule."""

import sys
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

AUTOCAST = ("cuda", "cpu")  # kinds of devices that kernels run on; in the interpreter the second
UNCAST = (
    "torch.autocast changes nothing here: a kernel of dtpoly computes in the dtypes of the tensors "
    "that it is given, so cast them before, as in k(x.to(torch.bfloat16))"
)
UNSCHEDULED = (
    "{name} has no schedule, and none is chosen while torch traces a call: this graph computes the "
    "file as it is written, which may be slow. Write a schedule into it with 'dtpoly schedule'"
)
_Function = TypeVar("_Function", bound=Callable[..., Any])


def run_while_traced(function: _Function) -> _Function:
    """Mark a function, so that torch.compile runs it where it would trace it.

    So a schedule that was never called is generated and proved there, and the graph has one
    operator.
    """
    vars(function)["_dynamo_marked_constant"] = True
    return function


def is_traced() -> bool:
    """Return whether torch traces the call, so that its tensors have no values and no addresses."""
    torch = sys.modules.get("torch")
    return torch is not None and torch._guards.TracingContext.try_get() is not None


def is_left_as_written(name: str) -> bool:
    """Return whether torch traces a call of a file without a schedule, and say what that means.

    A schedule is chosen for the tensors of a call, and what torch traces has none yet.
    """
    if not is_traced():
        return False
    torch = import_module("torch")
    if torch.cuda.is_available():
        warnings.warn(UNSCHEDULED.format(name=name), stacklevel=4)
    return True


@run_while_traced
def tell_autocast() -> None:
    """Warn where torch.autocast is on; Python shows a warning once for each place of a call."""
    torch = import_module("torch")
    if any(map(torch.is_autocast_enabled, AUTOCAST)):
        warnings.warn(UNCAST, stacklevel=3)
