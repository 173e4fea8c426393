"""Nodes that exist once: equal ones are one object, so comparing and hashing costs nothing."""

from __future__ import annotations

from typing import Any, Self

# Every node by its class and parts; and how many there were when it was made.
_made: dict[tuple[object, ...], Any] = {}
_ranks: dict[object, int] = {}


class Shared:
    """A frozen node made of frozen parts. Give its parts in order, all of them."""

    __slots__ = ()

    def __new__(cls, *parts: object) -> Self:
        """The node of these parts."""
        key = (cls, *parts)
        found = _made.get(key)
        if found is None:
            found = _made[key] = object.__new__(cls)
            _ranks[found] = len(_ranks)
        return found


def rank(node: Shared) -> int:
    """A number that no other node has, to put nodes in an order."""
    return _ranks[node]
