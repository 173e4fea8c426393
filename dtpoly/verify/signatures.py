"""Check that Triton accepts a call as it is written, with its arguments by place and by name.

Python binds the arguments, and Triton looks at some of them only while it compiles. An argument
that neither looks at must be a word or a number as written, since any other text could do more.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping

from dtpoly.verify.values import Unread

# The options that a call may have. A call with another option is not understood.
OPTIONS = {
    "program_id": {"axis"},
    "num_programs": {"axis"},
    "make_tensor_descriptor": {"shape", "strides", "block_shape"},
    "zeros": {"dtype"},
    "full": {"dtype"},
    "load": {"mask", "other", "eviction_policy", "cache_modifier"},
    "store": {"mask", "eviction_policy", "cache_modifier"},
    "atomic_add": {"mask", "sem"},
    "atomic_max": {"mask", "sem"},
    "atomic_min": {"mask", "sem"},
    "sum": {"axis"},
    "max": {"axis"},
    "min": {"axis"},
    "dot": {"acc", "input_precision", "out_dtype"},
    "maximum": {"propagate_nan"},
    "minimum": {"propagate_nan"},
}
# The arguments that are given by place, where they may be given by name instead.
PLACED = {
    "program_id": ("axis",),
    "num_programs": ("axis",),
    "make_tensor_descriptor": ("base", "shape", "strides", "block_shape"),
    "zeros": ("shape", "dtype"),
    "full": ("shape", "value", "dtype"),
    "load": ("pointer", "mask", "other"),
    **dict.fromkeys(("store", "atomic_add", "atomic_max", "atomic_min"), ("to", "value", "mask")),
    **dict.fromkeys(("sum", "max", "min"), ("input", "axis")),
    "dot": ("input", "other", "acc"),
    **dict.fromkeys(("maximum", "minimum"), ("x", "y", "propagate_nan")),
}
# The most arguments that may be given by place, where nothing else looks at that.
PLACES = {
    **{word: len(names) for word, names in PLACED.items()},
    **dict.fromkeys(("arange", "cdiv", "multiple_of", "max_contiguous"), 2),
    "debug_barrier": 0,
}
ATOMIC = {"sem": ("acquire", "release", "acq_rel", "relaxed")}
EVICTION = ("", "evict_first", "evict_last")
# Options about the cache, or about the order of other memory, change no value. Each must be one of
# these words as written, since nothing else looks at it.
WORDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "load": {"eviction_policy": EVICTION, "cache_modifier": ("", ".ca", ".cg", ".cv")},
    "store": {"eviction_policy": EVICTION, "cache_modifier": ("", ".wb", ".cg", ".cs", ".wt")},
    **dict.fromkeys(("atomic_add", "atomic_max", "atomic_min"), ATOMIC),
}


def check_written(
    word: str, args: list[ast.expr], named: dict[str, ast.expr], node: ast.Call
) -> None:
    """Refuse a call whose arguments Triton does not take. Raises Unread."""
    text = f"'{ast.unparse(node)}'"
    if set(named) - OPTIONS.get(word, set()):
        raise Unread(node.lineno, text)
    if len(args) > PLACES.get(word, len(args)):
        raise Unread(node.lineno, text)
    twice = sorted(set(PLACED.get(word, ())[: len(args)]) & set(named))
    if twice:
        raise Unread(node.lineno, f"{text}: '{twice[0]}' is given twice")
    for option, words in WORDS.get(word, {}).items():
        if option in named and not _is_one_of(named[option], words):
            raise Unread(node.lineno, f"{option}={ast.unparse(named[option])}")
    if word in ("multiple_of", "max_contiguous") and not all(map(_is_number, args[1:])):
        raise Unread(node.lineno, f"{text}: what is no number as written")
    if word == "static_assert" and not all(_is_text(one) for one in args[1:]):
        raise Unread(node.lineno, f"{text}: what is no text as written")


def _is_one_of(node: ast.expr, words: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Constant) and node.value in words


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _is_number(node: ast.expr) -> bool:
    """True for a constant of the kernel: a written whole number, a name, or a list of these."""
    match node:
        case ast.Constant(value=int()) | ast.Name():
            return True
        case ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(map(_is_number, parts))
        case _:
            return False
