"""Put arguments that are given by name into their places: `tl.load(pointer=at, mask=there)`.

Python binds `tl.sum(input=x, axis=0)` as it binds `tl.sum(x, axis=0)`. Only names that go on where
the places end, in the order of the parameters, are moved: so what is evaluated first stays first.
The names are those of Triton 3.6 to 3.9; a test compares them with the Triton that is installed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

ACCESSED = ("pointer", "value")
ADDED = ("pointer", "val")
TWO = ("x", "y")
PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "load": ("pointer",),
    "store": ACCESSED,
    **{f"atomic_{word}": ADDED for word in ("add", "max", "min", "and", "or", "xor", "xchg")},
    "arange": ("start", "end"),
    "cdiv": ("x", "div"),
    "where": ("condition", *TWO),
    "maximum": TWO,
    "minimum": TWO,
    "fma": (*TWO, "z"),
    "clamp": ("x",),
    "dot": ("input", "other"),
    "expand_dims": ("input", "axis"),
    "broadcast_to": ("input", "shape"),
    "reshape": ("input", "shape"),
    **{
        word: ("input",)
        for word in ("sum", "max", "min", "argmax", "argmin", "cumsum", "cumprod", "cast")
    },
    "zeros_like": ("input",),
    **{word: ("x",) for word in ("exp", "exp2", "log", "log2", "sqrt", "rsqrt", "sin", "cos")},
    **{word: ("x",) for word in ("erf", "abs", "ceil", "floor", "sigmoid")},
}


def in_places(
    word: str, args: Sequence[ast.expr], named: Mapping[str, ast.expr]
) -> tuple[list[ast.expr], dict[str, ast.expr]]:
    """Return the arguments of `tl.word` by place and by name."""
    parameters = PARAMETERS.get(word, ())
    placed, rest = list(args), dict(named)
    for one, value in named.items():
        if parameters[len(placed) : len(placed) + 1] != (one,):
            break
        placed.append(value)
        del rest[one]
    return placed, rest
