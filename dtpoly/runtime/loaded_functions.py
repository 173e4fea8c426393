"""Loads a generated file, and finds the function of each Func; that loads torch and triton."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.codegen.python_names import file_names
from dtpoly.generate import outputs
from dtpoly.missing_package import explained
from dtpoly.runtime.load import load_module


def functions(program: Program, text: str, name: str) -> dict[str, Callable[..., Any]]:
    """Load the file that was generated for a Program, and return the function of each Func.

    Raises ModuleNotFoundError where torch or triton is missing.
    """
    module = _loaded(text, name)
    named = file_names(program, outputs(program), ()).funcs
    return {func: getattr(module, word) for func, word in named.items()}


def _loaded(text: str, name: str) -> ModuleType:
    try:
        return load_module(text, name)
    except ModuleNotFoundError as error:
        raise explained(error) from None
