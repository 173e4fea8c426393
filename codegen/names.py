"""Names of the source in, names of the generated Python out: predictable, and never clashing."""

import builtins
import keyword
from collections.abc import Iterable

# What the generated file itself needs.
OWN = frozenset({"tl", "triton", "torch", "offset", "program", "pid"})
RESERVED = (
    frozenset(keyword.kwlist) | frozenset(keyword.softkwlist) | frozenset(dir(builtins)) | OWN
)


def plain(name: str) -> str:
    """A name of the compiler's as an identifier: `f.k.2@g` becomes `f_k_2_g`."""
    return "".join(c if c.isalnum() or c == "_" else "_" for c in name)


def fresh(wish: str, taken: Iterable[str]) -> str:
    """The name wished for, or the first of `wish_2`, `wish_3`, ... that is free.

    A word that Python or Triton needs gets an underscore first.
    """
    used = set(taken)
    wish = plain(wish)
    if is_reserved(wish):
        wish = f"{wish}_"
    name, number = wish, 2
    while name in used or is_reserved(name):
        name, number = f"{wish}_{number}", number + 1
    return name


def is_reserved(name: str) -> bool:
    """Whether Python, Triton or the generated file has it; `dt_` begins what the file defines."""
    return name in RESERVED or name.startswith(("dt_", "__"))
