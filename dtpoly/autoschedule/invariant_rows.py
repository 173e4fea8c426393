"""Keeps the schedules of which it is proved that bits of rows do not depend on the batch.

A proof takes seconds, and what stands in its way is mostly a directive, whatever its numbers are.
So after some schedules with the same words were not proved, others with these words come last.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.settle import GivenUp, Settled
from dtpoly.row_proofs import why_not_proved

# So many schedules that consist of the same words are asked about before any other one is.
TRIES = 2

Words = tuple[tuple[str, str], ...]


def invariant(call: PricedCall, found: Iterable[Settled]) -> Iterator[Settled]:
    """Yield the schedules whose rows are proved, each with what was given up for it."""
    best: Settled | None = None
    refused, why = Counter[Words](), ""
    later: list[Settled] = []
    for one in _ordered(found, refused, later):
        said = why_not_proved(one.program, one.text, call.rows)
        best = one if best is None else best
        if said:
            refused[_words(one)] += 1
            why = why or said
            continue
        if best is one:
            yield one
        else:
            assert best is not None, "it came before"
            given_up = GivenUp(best.seconds, best.lines, why, refused.total())
            yield replace(one, given_up=given_up)


def _ordered(
    found: Iterable[Settled], refused: Counter[Words], later: list[Settled]
) -> Iterator[Settled]:
    """Yield schedules in their order, but last those with words that were refused repeatedly."""
    for one in found:
        if refused[_words(one)] < TRIES:
            yield one
        else:
            later.append(one)
    yield from later


def _words(one: Settled) -> Words:
    """Return the directives of a schedule without their numbers."""
    return tuple(sorted({(line.directive.func, line.directive.name) for line in one.lines}))
