"""`python -m tests.explore.speed`: how much processor time spaces take, on as many cores as asked.

Legality: 10,000 points of attention, 500 of those that share a verdict decided again, each by
itself. Generation: the texts of 1,000 kernels, from points of all example spaces that are legal,
and of 1,000 more from attention alone, whose schedules have the most loops.
Processor time is that of all processes, their start included; what other programs do beside it does
not count.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from dtpoly.algorithm.show import show
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.legality.verdicts import SpaceQuestion, decided
from dtpoly.explore.prune.code_sharing import Shapes
from dtpoly.explore.prune.emit import emitted
from dtpoly.explore.space.count import CountedSpace, counted, point_at, sample
from dtpoly.explore.space.space import program_of
from dtpoly.explore.space.space_file import read_space
from dtpoly.explore.store.results import EmittedText
from dtpoly.frozen import dataclass
from dtpoly.garbage import look_seldom

SPACES = Path(__file__).parents[2] / "examples" / "spaces"
POINTS, AGAIN, TEXTS = 10_000, 500, 1_000
CORES = 2
EACH = 1_000  # points that are drawn of each space, for texts
ALONE, OF_IT = "attention.dts", 2_500  # and of one space alone, half of whose points are legal


@dataclass(frozen=True, slots=True)
class Took:
    """The amount of work that was done, and the seconds of all processors for it."""

    what: str
    count: int
    seconds: float

    def __str__(self) -> str:
        each = 1000 * self.seconds / self.count
        spread = self.seconds / CORES
        return (
            f"{self.what}: {self.count:,} in {self.seconds:.1f} s of processor time, {each:.1f} ms"
            f" each; {spread:.1f} s on {CORES} cores that have nothing else to do"
        )


def timed(what: str, act: Callable[[], int]) -> Took:
    """Measure the time of some work, with all processes that it starts and ends."""
    before = _spent()
    count = act()
    return Took(what, count, _spent() - before)


def _spent() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def legality() -> int:
    """Return how many points were decided, including those that were decided twice."""
    of = counted(read_space(str(SPACES / "attention.dts")))
    points = [point_at(of, number) for number in sample(of, POINTS, 0)]
    done = again = 0
    for one in decided(SpaceQuestion(of.space, DIRECTIVES), points, again=AGAIN, workers=CORES):
        again += one.is_again
        done += 0 if one.is_again else len(one.places)
    assert (done, again) == (POINTS, AGAIN)
    return done


def generation(jobs: Sequence[tuple[str, str]]) -> int:
    """Return how many texts were emitted: an emitter is told what the verdict of the class is.

    Each has neighbours of what it emitted before: dealt in turn, each would ask isl what the others
    have asked.
    """
    each = -(-len(jobs) // CORES)
    parts = [jobs[at * each : (at + 1) * each] for at in range(CORES)]
    with ProcessPoolExecutor(CORES, get_context("spawn")) as pool:
        return sum(pool.map(_emitted, parts))


def legal() -> list[tuple[str, str]]:
    """Return legal points of all spaces in turn, as .dt texts.

    The time to find them is not measured.
    """
    found = [_texts(*legal_of(path.name, EACH)) for path in sorted(SPACES.glob("*.dts"))]
    longest = max(map(len, found))
    return [texts[at] for at in range(longest) for texts in found if at < len(texts)]


def alone() -> list[tuple[str, str]]:
    """Return legal points of one space, as .dt texts in the order in which they are emitted."""
    name, of, numbers = legal_of(ALONE, OF_IT)
    return _texts(name, of, sorted(numbers[:TEXTS]))


def legal_of(name: str, drawn: int) -> tuple[str, CountedSpace, list[int]]:
    """Return the legal points among a sample of a space, by number, in the order of the sample."""
    of = counted(read_space(str(SPACES / name)))
    numbers = sample(of, min(drawn, of.count), 1)
    points = [point_at(of, number) for number in numbers]
    legal = sorted(
        place
        for one in decided(SpaceQuestion(of.space, DIRECTIVES), points, again=0, workers=CORES)
        if one.answer.is_legal
        for place in one.places
    )
    return name, of, [numbers[place] for place in legal]


def _texts(name: str, of: CountedSpace, numbers: Sequence[int]) -> list[tuple[str, str]]:
    return [(name, show(program_of(of.space, point_at(of, number)))) for number in numbers]


def additions() -> float:
    """Return the seconds for ten million additions, which show how fast the machine is now."""
    before, total = _spent(), 0
    for one in range(10_000_000):
        total += one
    return _spent() - before


def _emitted(jobs: Sequence[tuple[str, str]]) -> int:
    look_seldom()  # as a worker does
    shapes = Shapes()
    texts = (emitted(*job, is_legal=True, shapes=shapes).made for job in jobs)
    return sum(isinstance(one, EmittedText) for one in texts)


def _texts_timed(what: str, jobs: Sequence[tuple[str, str]]) -> None:
    before = additions()
    took = timed(what, lambda: generation(jobs))
    assert took.count == TEXTS
    print(took)
    print(f"ten million additions: {before:.2f} s before that, {additions():.2f} s after it")


def main() -> int:
    """Measure all."""
    begin = time.perf_counter()
    print(timed("legality", legality))
    _texts_timed("texts", legal()[:TEXTS])
    _texts_timed("texts of attention", alone()[:TEXTS])
    print(f"in {time.perf_counter() - begin:.0f} s of whatever the machine gave")
    return 0


if __name__ == "__main__":
    sys.exit(main())
