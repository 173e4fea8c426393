"""Counts how many points of a space each of its constraints, and each further rule, removes."""

from collections import Counter
from dataclasses import field, replace

from dtpoly.algorithm.choices import Constraint
from dtpoly.algorithm.show_choices import show_constraint
from dtpoly.explore.legality.verdicts import DecidedPoints, Rule
from dtpoly.explore.space.count import CountedSpace, counted
from dtpoly.explore.space.space import Space
from dtpoly.frozen import dataclass

# In a space of up to EXACT points each is looked at; in a larger one, a sample of SAMPLE points.
EXACT, SAMPLE = 20_000, 2_000


@dataclass(frozen=True, slots=True)
class Constrained:
    """The points that constraints leave, one after another: each removes what is then left."""

    all: int
    removed: tuple[tuple[Constraint, int], ...]
    left: CountedSpace


def constrained(space: Space) -> Constrained:
    """Count the points without listing them; the numbers are exact for spaces of any size."""
    before = counted(space.without_constraints())
    first = before.count
    removed: list[tuple[Constraint, int]] = []
    for number, constraint in enumerate(space.constraints, 1):
        after = counted(replace(space, constraints=space.constraints[:number]))
        removed.append((constraint, before.count - after.count))
        before = after
    return Constrained(first, tuple(removed), before)


@dataclass
class RuleTally:
    """Counts what became of the points that were looked at so far, and how it was found out."""

    asked: int
    refused: Counter[tuple[Rule, str]] = field(default_factory=Counter[tuple[Rule, str]])
    known: int = 0
    legal: int = 0
    shared: int = 0
    again: int = 0

    def add(self, one: DecidedPoints) -> None:
        """Count what was just decided."""
        if one.is_again:
            self.again += 1
            return
        self.known += len(one.places)
        self.shared += len(one.places) - 1 if one.is_shared else 0
        if one.answer.is_legal:
            self.legal += len(one.places)
        else:
            self.refused[one.answer.rule, one.answer.code] += len(one.places)

    @property
    def by_rule(self) -> list[tuple[Rule, str, int]]:
        """Return the rules that refuse points, in order; each with its codes, most first."""
        order = list(Rule)
        found = [(rule, code, count) for (rule, code), count in self.refused.items()]
        return sorted(found, key=lambda one: (order.index(one[0]), -one[2], one[1]))


def shown(constraint: Constraint) -> str:
    """Return a constraint as its author wrote it, in one line."""
    if constraint.span is None:
        return show_constraint(constraint)
    return " ".join(constraint.span.text.split())
