"""Schedules that differ in numbers only, and whether those of one class have one verdict.

`python -m tests.explore.renumbered FIRST LAST` looks at the cases of these seeds.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

from dtpoly.algorithm.program import Argument, Directive, Program, Split
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.legality.classes import class_of, is_aligned
from dtpoly.explore.legality.verdicts import (
    UNDECIDED,
    PointVerdict,
    Rule,
    verdict_of,
    with_and_without,
)
from dtpoly.schedule.bound_primitives import bind
from tests.oracle.cases import case, ordinary_case

NUMBERS = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32)
TILES = (0, 1, 2, 4, 8, 16, 32)
TRIES = 24


@dataclass(frozen=True, slots=True)
class Pair:
    """Two schedules of one class, and the verdict on each."""

    one: Program
    two: Program
    first: PointVerdict
    second: PointVerdict

    @property
    def agrees(self) -> bool:
        """True if both have the same verdict, or one has none."""
        return self.first == self.second or UNDECIDED in (self.first.code, self.second.code)


def renumbered(random: Random, program: Program) -> Program:
    """Return the same directives with other numbers."""
    changed = tuple(
        replace(d, arguments=tuple(_argument(random, d.name, a) for a in d.arguments))
        for d in program.directives
    )
    return replace(program, directives=changed)


def _argument(random: Random, name: str, argument: Argument) -> Argument:
    numbers = TILES if name == "tensorize" else NUMBERS
    match argument.value:
        case int():
            return replace(argument, value=random.choice(numbers))
        case None if isinstance(argument.target, int) and name == "num_stages":
            return replace(argument, target=random.choice((1, 2, 3)))
        case Split(name=new):
            return replace(argument, value=Split(new, random.choice(NUMBERS)))
        case _:
            return argument


def pairs(random: Random, program: Program, tries: int = TRIES) -> Iterator[Pair]:
    """Yield pairs of schedules of one class, made with random numbers."""
    if not is_aligned(program):
        return
    found: dict[object, tuple[Program, tuple[PointVerdict, PointVerdict]]] = {}
    program = _staged(random, program)
    for _ in range(tries):
        other = renumbered(random, program)
        bound = bind(other.directives, DIRECTIVES)
        if bound.found or any(type(one) not in DIRECTIVES for one in bound.primitives):
            continue
        mine = class_of(bound.primitives, aligned=True)
        before = found.get(mine.key)
        if before is None:
            found[mine.key] = other, with_and_without(other, DIRECTIVES)
        elif before[0] != other:
            shared = before[1][mine.runs_ahead]
            yield Pair(before[0], other, shared, verdict_of(other, DIRECTIVES))


def _staged(random: Random, program: Program) -> Program:
    """Return the Program, sometimes with a directive that lets loads run ahead.

    The directive is on the last kernel.
    """
    name = "num_stages"
    if any(d.name == name for d in program.directives) or random.random() < 0.3:
        return program
    more = Directive(program.funcs[-1].name, name, (Argument(2),))
    return replace(program, directives=(*program.directives, more))


def main() -> None:
    """Try hard and ordinary cases, and print how many pairs there are of each verdict."""
    first, last = int(sys.argv[1]), int(sys.argv[2])
    seen: Counter[tuple[Rule, str]] = Counter()
    for seed in range(first, last):
        for make in (case, ordinary_case):
            for pair in pairs(Random(seed), make(seed).program):
                seen[pair.first.rule, pair.first.code] += 1
                if not pair.agrees:
                    print("DISAGREE", seed, make.__name__, pair)
    print(dict(seen))


if __name__ == "__main__":
    main()
