"""Triton's language for kernels that are written by hand, with the types that it lacks."""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

# Triton has no types to check against.
triton: Any = import_module("triton")
tl: Any = import_module("triton.language")
jit: Callable[[Callable[..., Any]], Any] = triton.jit
# Triton 3.6 looks annotations up as it compiles.
if TYPE_CHECKING:
    constexpr = int
    Given = Any
else:
    constexpr, Given = tl.constexpr, tl.tensor
