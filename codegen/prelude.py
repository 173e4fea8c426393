"""Collects the texts that the wrappers of a generated file share: constants and functions.

The functions come from other modules. Only those are copied into the file that its text uses.
"""

import re
from collections.abc import Mapping

from .again import AGAIN
from .checks import CHECKS
from .interpreting import INTERPRETING
from .launcher import LAUNCHER, OFFSETS, ROOM
from .operators import OPERATORS, TRACED

IMPORTS = """\
import hashlib
import linecache
import threading

import torch
import triton
import triton.language as tl
"""

DESCRIPTORS = "import triton.tools.tensor_descriptor\n"

CONSTANTS = {
    "dt_interpreted": """\
dt_interpreted = triton.knobs.runtime.interpret  # kernels run on the CPU: TRITON_INTERPRET=1
""",
    "dt_floats": """\
dt_floats = {
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float16,
    torch.bfloat16,
    torch.float32,
    torch.float64,
}
""",
    "dt_torch": """\
dt_torch = {tl.float32: torch.float32, tl.float64: torch.float64}
""",
    "dt_triton": """\
dt_triton = {
    torch.float8_e4m3fn: tl.float8e4nv,
    torch.float8_e5m2: tl.float8e5,
    torch.float16: tl.float16,
    torch.bfloat16: tl.bfloat16,
    torch.float32: tl.float32,
    torch.float64: tl.float64,
}
""",
}

# By name, in the order of the file. A constant or a function may use others.
SHARED = {
    **CONSTANTS,
    **TRACED,
    **CHECKS,
    **ROOM,
    **INTERPRETING,
    **LAUNCHER,
    **AGAIN,
    **OFFSETS,
    **OPERATORS,
}

WORD = re.compile(r"\bdt_\w+")


def shared_by(text: str, known: Mapping[str, str] = SHARED) -> list[str]:
    """The parts that a text uses, and those that they use, in a fixed order."""
    needed: set[str] = set()
    pending = [text]
    while pending:
        found = set(WORD.findall(pending.pop())) & known.keys() - needed
        needed |= found
        pending += [known[name] for name in found]
    return [part for name, part in known.items() if name in needed]
