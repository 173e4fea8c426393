"""The libraries that the runtime needs. Most of what it asks of them has no types."""

from importlib import import_module
from typing import Any

torch: Any = import_module("torch")
triton: Any = import_module("triton")
tl: Any = import_module("triton.language")
import_module("triton.tools.tensor_descriptor")
