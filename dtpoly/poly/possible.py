"""Finds labels that cannot all have an index in any call, and the axes whose reads show this.

isl makes loops and masks for sizes of at least 1. If no call can have such sizes, everything
follows from that assumption, and no code is right. So such a Program is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from dtpoly.algorithm.equal_sizes import reads_by_axis
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.size_parameters import Place, size_facts, size_parameters
from dtpoly.poly.spaces import affs, computing

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Impossible:
    """Labels that cannot all have an index, and the axes of tensors that leave no room for them."""

    labels: tuple[str, ...]
    axes: tuple[Place, ...]


def impossible(program: Program) -> Impossible | None:
    """Return why no call has an index of each label; None if there is such a call."""
    sizes = size_parameters(program)
    with computing("whether there are sizes"):
        facts = size_facts(program, sizes)
        if not _is_without(facts, sizes.values()):
            return None
        labels = _needed(
            tuple(sizes), lambda some: _is_without(facts, [sizes[label] for label in some])
        )
        params = [sizes[label] for label in labels]
        axes = tuple(
            key
            for key, group in reads_by_axis(program).items()
            if any(not read.index.is_plain for read in group)
        )
        found = _needed(axes, lambda some: _is_without(size_facts(program, sizes, some), params))
        return Impossible(labels, found)


def _is_without(facts: isl.Set, params: Iterable[str]) -> bool:
    """True if not all of these sizes can be at least 1."""
    of = affs(facts.get_space())
    names = {str(facts.get_dim_name(isl.dim_type.param, i)) for i in range(len(of) - 1)}
    there = facts
    for one in params:
        if one in names:
            there = there & of[one].ge_set(of[0] + 1).params()
    return there.is_empty()


def _needed(all_of: tuple[T, ...], holds: Callable[[tuple[T, ...]], bool]) -> tuple[T, ...]:
    """Remove items as long as the property still holds for the rest, and return the rest.

    If it does not hold for all items, all are returned.
    """
    kept = all_of
    for one in all_of:
        fewer = tuple(other for other in kept if other != one)
        if holds(fewer):
            kept = fewer
    return kept
