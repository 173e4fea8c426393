"""The text of the runtime, as a generated file carries it."""

import functools
import re
from pathlib import Path
from typing import Literal

FOLDER = Path(__file__).parents[1] / "carried"
Runtime = Literal["carry", "import"]  # the ways in which a file may have it
RUNTIMES: tuple[Runtime, ...] = ("carry", "import")
# What a file may import of the runtime, and where it is: the first makes its functions, the others
# are for its test.
OFFERED = {
    "dt_function": "functions",
    "dt_device": "checks",
    "dt_up": "values",
    "dt_fit": "values",
    "dt_lanes": "values",
}
# In an order in which each finds what it needs when it is read; `libraries` are the imports.
MODULES = (
    *(
        "values",
        "checks",
        "sizes",
        "memory",
        "kept_texts",
        "interpreting",
        "launching",
        "operators",
    ),
    *("launches", "again", "functions"),
)
# What a file must import for it, besides the libraries of kernels.
IMPORTS = """\
import ast
import contextlib
import functools
import hashlib
import inspect
import itertools
import linecache
import operator
import re
import threading
from typing import Any

import torch
import triton
import triton.language as tl
import triton.tools.tensor_descriptor
"""
FIRST = (
    "# The runtime of dtpoly, which carries out the plans above. It is the same in every file.\n"
)
LAST = "# The end of the runtime of dtpoly.\n"
# What a checker of types is told, a docstring, and imports.
HEAD = re.compile(
    r'(?:# pyright: [^\n]*\n)*""".*?"""\n(?:\n|(?:import|from) [^\n(]*(?:\([^)]*\))?\n)*', re.DOTALL
)


@functools.cache
def runtime_text() -> str:
    """Join the modules of the runtime, without their docstrings and imports."""
    texts = ((FOLDER / f"{name}.py").read_text(encoding="utf-8") for name in MODULES)
    parts = (HEAD.sub("", text, count=1) for text in texts)
    # Formatters want two empty lines between a function and a comment.
    return FIRST + "\n\n".join((*parts, LAST))
