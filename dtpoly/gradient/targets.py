"""Adds up what a tensor is given, and sends what is given at data to the places that it names."""

from dtpoly.algorithm.expressions import (
    Affine,
    Dot,
    Expr,
    Read,
    Reduce,
    free_labels,
    reads,
    walk,
)
from dtpoly.algorithm.program import Into, Placing, Program
from dtpoly.gradient.derivation import Derivation, Gift
from dtpoly.gradient.derived_nodes import ZERO, applied, summed
from dtpoly.gradient.simplify import simplified
from dtpoly.gradient.turning import turned


def total_of(
    gifts: list[Gift], labels: tuple[str, ...], derivation: Derivation, start: Expr = ZERO
) -> Expr:
    """Return the sum of all that the element of a tensor at some labels is given."""
    total = start
    for gift in gifts:
        total = applied("add", total, turned(gift, labels, derivation))
    return simplified(total)


def scattered(gifts: list[Gift], program: Program) -> Gift | None:
    """Return the gift whose values are added at places that data names; None if there is none.

    There is one if exactly one gift is at data, and that is made of inputs alone.
    """
    at_data = [one for one in gifts if any(index.data is not None for index in one.indices)]
    if len(at_data) != 1:
        return None
    (gift,) = at_data
    return gift if all(_is_place(index, program) for index in gift.indices) else None


def _is_place(index: Affine, program: Program) -> bool:
    if index.data is None:
        return True
    nodes = list(walk(index.data))
    inputs = {one.name for one in program.inputs}
    is_input = all(one.tensor in inputs for one in reads(index.data))
    return is_input and not any(isinstance(one, Reduce | Dot) for one in nodes)


def scatter(gift: Gift, start: str, wanted: str, derivation: Derivation) -> str:
    """Add the Func that adds a gift at its places to what a Func begins with; return its name."""
    at = Read(start, gift.indices, ZERO)
    placed = free_labels(at)
    labels = tuple(one for one in gift.labels if one in placed)
    rest = tuple(one for one in gift.labels if one not in placed)
    body = simplified(summed(gift.value, rest))
    said = f"what {gift.giver} gives, added at the rows that it read"
    into = Into(start, at=at, placing=Placing.ADDED)
    return derivation.func(wanted, labels, body, said, into)
