"""Keep one object for all equal nodes, so that comparing and hashing nodes costs nothing.

The nodes are those of terms, whole numbers and formulas. Two nodes are equal if and only if they
are the same object.
"""

from __future__ import annotations

import hashlib
from typing import Any, Self, cast

# Every node by its class and parts, the parts of each node, and the ranks asked for so far.
_made: dict[tuple[object, ...], Any] = {}
_parts: dict[object, tuple[object, ...]] = {}
_ranks: dict[object, str] = {}


class Shared:
    """A frozen node made of frozen parts, which must all be given, in their order."""

    __slots__ = ()

    def __new__(cls, *parts: object) -> Self:
        """Return the node of these parts, which is made if it is not there yet."""
        key = (cls, *parts)
        found = _made.get(key)
        if found is None:
            found = _made[key] = object.__new__(cls)
            _parts[found] = parts
        return found


def rank(node: Shared) -> str:
    """Return a text by which nodes are put in order.

    No two nodes have the same text, and a node has the same text in every process.
    """
    found = _ranks.get(node)
    if found is None:
        text = f"{type(node).__name__}{_told(_parts[node])}"
        found = _ranks[node] = hashlib.blake2b(text.encode(), digest_size=16).hexdigest()
    return found


def _told(part: object) -> str:
    if isinstance(part, Shared):
        return rank(part)
    if isinstance(part, tuple):
        return f"({','.join(_told(one) for one in cast(tuple[object, ...], part))})"
    return repr(part)
