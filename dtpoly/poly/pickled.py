"""Copies sets and relations of isl, and sends them to other processes, as text that isl can read.

islpy sends the text that isl prints. isl cannot read names that have a dot or an @, as the names of
our statements and loops do. So the text has numbers for names, and the names follow it.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import islpy as isl

# For each part of a space: the word for its dims in the text, their names, and the name of its
# tuple.
Part = tuple[str, tuple[str | None, ...], str | None]


def tell_pickle(islpy: Any) -> None:
    """Make `copy` and `pickle` use this file for the sets and relations of islpy."""
    for kind in (islpy.Set, islpy.Map):
        copyreg.pickle(kind, _taken_apart)


def _words(one: Any) -> tuple[str, ...]:
    if type(one).__name__ == "Map":
        return ("param", "in_", "out")
    return ("param",) if one.is_params() else ("param", "set")


def _taken_apart(one: isl.Set | isl.Map) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    plain: Any = one
    parts: list[Part] = []
    for word in _words(plain):
        of = getattr(import_module("islpy").dim_type, word)
        names = tuple(plain.get_dim_name(of, i) for i in range(plain.dim(of)))
        for i, name in enumerate(names):
            if name is not None:
                plain = plain.set_dim_name(of, i, f"{word}{i}")
        # A set has only one tuple, which needs no word to select it; parameters have none.
        which = () if word == "set" else (of,)
        is_named = word != "param" and plain.has_tuple_name(*which)
        tuple_name = plain.get_tuple_name(*which) if is_named else None
        if is_named:
            plain = plain.set_tuple_name(*which, word)
        parts.append((word, names, tuple_name))
    # The class itself is not named, since it would be looked up before its package is loaded.
    return _put_together, (type(one).__name__, str(plain), tuple(parts))


def _put_together(kind: str, text: str, parts: tuple[Part, ...]) -> Any:
    islpy: Any = import_module("islpy")
    found = getattr(islpy, kind).read_from_str(islpy.DEFAULT_CONTEXT, text)
    for word, names, tuple_name in parts:
        of = getattr(islpy.dim_type, word)
        for i, name in enumerate(names):
            if name is not None:
                found = found.set_dim_name(of, i, name)
        if tuple_name is not None:
            found = found.set_tuple_name(*(() if word == "set" else (of,)), tuple_name)
    return found
