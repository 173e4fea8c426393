"""What the comparison of two calls holds: differences, scopes of names, and pairs of loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.whole import All, Truth, Whole, both, names_of
from dtpoly.verify.bits.bit_terms import BitLoop, BitTerm

# The names of the second call end so.
AGAIN = " again"


@dataclass(frozen=True, slots=True)
class BitDifference:
    """Where the two calls may round differently: the line, why, and for which sizes and places.

    `rows` are the indices of the row in both calls.
    """

    line: int
    why: str
    where: Truth
    rows: tuple[Whole, Whole] | None = None


@dataclass(frozen=True, slots=True)
class BitTensor:
    """What is known of a tensor: the axes along which the two calls have rows of their own.

    `doubt` says why its elements may differ, if they may.
    """

    rows: tuple[int, ...]
    doubt: str = ""


@dataclass
class LoopPair:
    """Two loops that are compared iteration by iteration, and the variables met in them."""

    loops: tuple[BitLoop, BitLoop]
    asked: dict[tuple[object, ...], tuple[str, str, tuple[Whole, ...], tuple[Whole, ...]]]


@dataclass(frozen=True, slots=True)
class BitScope:
    """What the names of a term stand for in one of the two calls.

    `pairs` has the loops around the term whose iterations are compared.
    """

    call: int
    names: Mapping[str, Whole]
    pairs: Mapping[str, LoopPair]


Seen = tuple[BitTerm, BitScope]


def with_names(
    scopes: tuple[BitScope, BitScope], put: tuple[Mapping[str, Whole], Mapping[str, Whole]]
) -> tuple[BitScope, BitScope]:
    """Return two scopes in which some names stand for numbers."""
    one, other = scopes
    return (
        replace(one, names={**one.names, **put[0]}),
        replace(other, names={**other.names, **put[1]}),
    )


def key_of(scope: BitScope) -> tuple[object, ...]:
    """Return what tells one scope from another."""
    pairs = ((one, id(pair)) for one, pair in scope.pairs.items())
    return scope.call, frozenset(scope.names.items()), frozenset(pairs)


def line_of(term: BitTerm) -> int:
    """Return the line of a term, or 0."""
    return int(getattr(term, "line", 0))


def about(claim: Truth, where: Truth) -> Truth:
    """Return the parts of a condition that are about the names of a claim, or next to these.

    What holds under fewer conditions holds under all of them, and is shown faster.
    """
    parts = where.parts if isinstance(where, All) else (where,)
    wanted = names_of(claim)
    near = wanted.union(*(names_of(one) for one in parts if names_of(one) & wanted))
    return both(*(one for one in parts if names_of(one) <= near))
