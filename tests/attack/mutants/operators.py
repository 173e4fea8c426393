"""Changes a text in one or two places; the kinds of changes are sorted into classes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from random import Random

from tests.attack.mutants import (
    of_bounds,
    of_masks,
    of_modules,
    of_order,
    of_plans,
    of_texts,
    of_types,
)
from tests.attack.mutants.source import Operator, Source

OPERATORS: tuple[Operator, ...] = (
    *of_types.OPERATORS,
    *of_masks.OPERATORS,
    *of_bounds.OPERATORS,
    *of_order.OPERATORS,
    *of_modules.OPERATORS,
    *of_plans.OPERATORS,
    *of_texts.OPERATORS,
)
GROUPS: Mapping[str, Sequence[Operator]] = {
    name: tuple(found)
    for name, found in groupby(sorted(OPERATORS, key=lambda one: one.group), lambda one: one.group)
}
# How often a class is chosen: those with much to get wrong more often.
SHARES = {
    **{"types": 3, "masks": 3, "text": 3, "order": 3},
    **{"atomics": 1, "barriers": 1, "other": 1, "runtime": 1},
}
WEIGHTS = {name: SHARES.get(name, 2) for name in GROUPS}
TRIES = 40
# One mutant in so many has a second change; one in so many may be no valid Python.
TWICE, BROKEN = 3, 12


@dataclass(frozen=True)
class Mutant:
    """A changed text, and what was done to it."""

    text: str
    operators: tuple[Operator, ...]

    def __str__(self) -> str:
        return " and ".join(f"{one.name} ({one.group})" for one in self.operators)


def mutant(given: Source, random: Random) -> Mutant:
    """Return the text with one or two changes; few results are no valid Python."""
    is_broken = random.randrange(BROKEN) == 0
    source, done = given, list[Operator]()
    for _ in range(TRIES):
        source, done = given, list[Operator]()
        for _ in range(2 if random.randrange(TWICE) == 0 else 1):
            source, operator = _changed(source, random)
            done.append(operator)
        if source.text != given.text and (is_broken or source.tree.body):
            break
    return Mutant(source.text, tuple(done))


def _changed(source: Source, random: Random) -> tuple[Source, Operator]:
    """Return the text with one change.

    It is unchanged if it has no place for any change that was tried.
    """
    operator = OPERATORS[0]
    for _ in range(TRIES):
        (name,) = random.choices(tuple(WEIGHTS), tuple(WEIGHTS.values()))
        operator = random.choice(GROUPS[name])
        new = operator.change(source, random)
        if new is not None and new != source.text:
            return Source(new), operator
    return source, operator
