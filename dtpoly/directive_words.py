"""Arguments of a Python call, as the language writes them in a directive."""

from collections.abc import Iterable, Mapping
from typing import Protocol, runtime_checkable


@runtime_checkable
class Turned(Protocol):
    """A schedule that is turned to a Func: as an argument it stands for that Func."""

    @property
    def focus(self) -> str | None:
        """Return the name of the Func."""
        ...


def directive_text(
    func: str, word: str, arguments: Iterable[object], sizes: Mapping[str, int | str]
) -> str:
    """`f.block(x:16);` of the call `k.f.block(x=16)`. Raises TypeError."""
    words = [*map(_argument, arguments), *(_sized(*item) for item in sizes.items())]
    return f"{func}.{word}({', '.join(filter(None, words))});"


def _argument(value: object) -> str:
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Turned) and value.focus is not None:
        return value.focus
    kind = type(value).__name__
    raise TypeError(f"a directive takes names, texts like 'x:16' and whole numbers, not a {kind}")


def _sized(label: str, value: int | str) -> str:
    """`x=16` is `x:16`, `y="yi/8"` is `y:yi/8`, and `recompute=True` the word alone."""
    if isinstance(value, bool):
        return label if value else ""
    return f"{label}:{_argument(value)}"
