"""Compares the fields of dataclasses that a user's code has made with their annotations.

Python does not look at annotations, so a primitive of one's own may leave a text where a number
is meant, and whoever reads the tree later would fail far from the mistake.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

from dtpoly.source import Span

# The annotations of the fields of each dataclass that was looked at, as types.
HINTS: dict[type[Any], dict[str, Any]] = {}


def wrong_field(one: object, besides: Collection[str] = ()) -> str | None:
    """Say which field of a dataclass is wrong, such as `'num_warps' of Options is a str`.

    The answer is None if each is what its annotation says. Fields besides are not looked at.
    """
    return next(_wrong_fields(one, besides), None)


def _wrong_fields(one: object, besides: Collection[str] = ()) -> Iterator[str]:
    cls: type[Any] = type(one)
    if cls not in HINTS:
        found = get_type_hints(cls)
        HINTS[cls] = {field.name: found[field.name] for field in fields(cls)}
    for name, hint in HINTS[cls].items():
        if name in besides:
            continue
        value = getattr(one, name, None)
        if not _fits(value, hint):
            yield f"'{name}' of {type(one).__name__} is {_called(value, hint)}"
        yield from _inside(value, besides)


def _inside(value: object, besides: Collection[str]) -> Iterator[str]:
    """Look for wrong fields in a value that is a dataclass, or a tuple with dataclasses in it."""
    if isinstance(value, tuple):
        for part in cast("tuple[object, ...]", value):
            yield from _inside(part, besides)
    elif is_dataclass(value) and not isinstance(value, type | Span):
        yield from _wrong_fields(value, besides)


def _fits(value: object, hint: Any) -> bool:
    """Return whether a value is of a type: a class, a union, or a tuple of such."""
    if get_origin(hint) in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if get_origin(hint) is tuple:
        parts = cast("tuple[object, ...]", value) if isinstance(value, tuple) else None
        return parts is not None and _fit(parts, get_args(hint))
    if get_origin(hint) is Mapping:
        pairs = cast("Mapping[object, object]", value) if isinstance(value, Mapping) else None
        return pairs is not None and all(_fit(pair, get_args(hint)) for pair in pairs.items())
    if get_origin(hint) is Callable:
        return callable(value)
    if get_origin(hint) is Literal:
        return value in get_args(hint)
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return isinstance(value, NoneType if hint is None else hint)


def _fit(values: tuple[object, ...], hints: tuple[Any, ...]) -> bool:
    """Return whether each part of a tuple fits: all are alike, or each has a type of its own."""
    if hints[1:] == (...,):
        return all(_fits(one, hints[0]) for one in values)
    return len(values) == len(hints) and all(map(_fits, values, hints))


def _called(value: object, hint: Any) -> str:
    """Name the type of a wrong value; of a tuple, only say that something in it is wrong."""
    called = "nothing" if value is None else f"a {type(value).__name__}"
    is_in_it = get_origin(hint) is tuple and isinstance(value, tuple)
    return "a tuple with something else in it" if is_in_it else called
