"""Makes, from a seed, small scheduled Programs and sizes, to compare legality checks.

All pass the checks that come before legality, and some tensors have their sizes. `python -m
tests.oracle.cases 2000` prints how often each verdict occurs.
"""

import sys
import time
from collections import Counter
from dataclasses import dataclass
from random import Random

from dtpoly.algorithm.program import Program, reduced_labels
from dtpoly.diagnostics import has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.check import check_schedule
from tests.oracle.algorithms import Algorithm
from tests.oracle.run import Illegal, Verdict, judge_schedule
from tests.oracle.schedules import scheduled, sensible
from tests.schedule.user_primitives import USER


@dataclass(frozen=True, slots=True)
class Case:
    """A scheduled Program at some sizes.

    The steps of the reductions of `ordered` Funcs must keep their order. In ordinary Programs no
    instance depends on another one of the same statement.
    """

    program: Program
    sizes: dict[str, int]
    ordered: frozenset[str] = frozenset()

    def judged(self) -> Verdict:
        """Return the verdict of the oracle."""
        return judge_schedule(self.program, self.sizes, ordered=self.ordered)


def case(seed: int) -> Case:
    """Return the case of a seed."""
    for attempt in range(1000):
        random = Random(f"{seed} {attempt}")
        algorithm = Algorithm(random)
        program = scheduled(random, algorithm.program())
        # Few schedules without a fusion are refused.
        is_dull = all(directive.name != "fuse_at" for directive in program.directives)
        if is_dull and random.random() < 0.7:
            continue
        if has_errors(check_schedule(program, USER)):
            continue
        sizes = algorithm.sizes()
        reducing = [func.name for func in program.funcs if reduced_labels(func)]
        ordered = frozenset(name for name in reducing if random.random() < 0.15)
        return Case(program, {label.name: sizes[label.name] for label in program.labels}, ordered)
    raise AssertionError(seed)


def ordinary_case(seed: int) -> Case:
    """Return a case with nothing strange in it, scheduled as a sensible user would."""
    for attempt in range(1000):
        random = Random(f"ordinary {seed} {attempt}")
        algorithm = Algorithm(random, is_plain=True)
        program = sensible(random, algorithm.program())
        if not has_errors(check_schedule(program, DIRECTIVES)):
            sizes = algorithm.sizes()
            return Case(program, {label.name: sizes[label.name] for label in program.labels})
    raise AssertionError(seed)


def verdicts(count: int) -> Counter[str]:
    """Return how often each verdict occurs in the first cases."""
    return Counter(kind_of(case(seed).judged()) for seed in range(count))


def kind_of(verdict: Verdict) -> str:
    """Return `legal`, or the kind of the violation."""
    return verdict.kind if isinstance(verdict, Illegal) else "legal"


if __name__ == "__main__":
    start = time.perf_counter()
    for kind, number in verdicts(int(sys.argv[1])).most_common():
        print(f"{number:6} {kind}")
    print(f"{time.perf_counter() - start:.1f} s")
