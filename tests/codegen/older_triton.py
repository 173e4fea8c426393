"""A pytest plugin for older versions of Triton, whose interpreter refuses a Python bool.

With this plugin the interpreter takes it.

`python3 tasks.py triton VERSION` loads it. What is compiled for a GPU needs none of it.
"""

import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# It is imported here, before tests/conftest.py asks for it.
os.environ.setdefault("TRITON_INTERPRET", "1")
interpreter: Any = importlib.import_module("triton.runtime.interpreter")
language: Any = importlib.import_module("triton.language")


def with_bool(known: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Wrap the function that makes the interpreter's values, so that it also takes a bool."""

    def made(argument: Any) -> Any:
        if not isinstance(argument, bool):
            return known(argument)
        handle = interpreter.TensorHandle(np.array([argument], dtype=np.bool_), language.int1)
        return language.tensor(handle, language.int1)

    return made


def pytest_configure(config: pytest.Config) -> None:
    # NumPy 1.25 to 2.3 warn about what these versions do, and later ones refuse it.
    config.addinivalue_line("filterwarnings", "ignore:Conversion of an array:DeprecationWarning")
    interpreter._implicit_cvt = with_bool(interpreter._implicit_cvt)
