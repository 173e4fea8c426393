"""Loads the user's Python file with functions that candidates are compared with.

Each public function that the file defines is a baseline of that name. It takes the inputs of the
algorithm by their names and returns the values of the Func.
"""

import inspect
import runpy
from collections.abc import Callable, Mapping
from typing import Any


def load(path: str) -> Mapping[str, Callable[..., Any]]:
    """Return the functions of a file; {} without a file. Raises the exceptions of the file."""
    if not path:
        return {}
    found = runpy.run_path(path, run_name="baselines")
    return {
        name: value
        for name, value in found.items()
        if not name.startswith("_") and callable(value) and _is_own(value)
    }


def _is_own(value: object) -> bool:
    """True if the file defines the function and does not import it.

    A function that torch compiles keeps the name of its module, so it counts as well.
    """
    return not inspect.isclass(value) and getattr(value, "__module__", "") == "baselines"
