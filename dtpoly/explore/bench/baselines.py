"""Loads the user's Python file with functions that candidates are compared with.

Each public function that the file defines is a baseline by its own name. It takes the inputs of the
algorithm by their names and returns what the Func is.
"""

import inspect
import runpy
from collections.abc import Callable, Mapping
from typing import Any


def load(path: str) -> Mapping[str, Callable[..., Any]]:
    """The functions of a file; none without one. Raises what the file raises."""
    if not path:
        return {}
    found = runpy.run_path(path, run_name="baselines")
    return {
        name: value
        for name, value in found.items()
        if not name.startswith("_") and callable(value) and _is_own(value)
    }


def _is_own(value: object) -> bool:
    """Whether a file defines it, rather than importing it; what torch compiles has its module."""
    return not inspect.isclass(value) and getattr(value, "__module__", "") == "baselines"
