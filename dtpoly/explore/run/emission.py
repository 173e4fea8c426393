"""Prepares points without a device, and keeps the results in a store."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import islice
from queue import Empty, SimpleQueue

from dtpoly.explore.run.preparation import News, Out, PreparedProof, Ready, Wants, prepares
from dtpoly.explore.run.stopping import TICK, NoWorkers, stopping
from dtpoly.explore.space.search_view import Field, Point
from dtpoly.explore.store.measured_question import UserQuestion
from dtpoly.explore.store.result_store import ResultStore
from dtpoly.explore.store.results import Proven
from dtpoly.explore.workers.crew import Crew, Event, GaveUp
from dtpoly.frozen import dataclass

# Among this many points, similar ones are given one after the other, because whoever emits them
# keeps the results of the latest ones.
TOGETHER = 1024


@dataclass(frozen=True, slots=True)
class Emission:
    """The progress of an emission: texts that are worth a run, and what is proved of texts."""

    texts: int = 0
    refused: int = 0
    proved: int = 0
    unproved: int = 0
    refuted: int = 0
    known: int = 0  # points for which nothing was left to do
    is_interrupted: bool = False

    def with_news(self, news: Iterable[News]) -> "Emission":
        """Return the counts with the news added."""
        found = self
        for one in news:
            match one:
                case Ready():
                    found = replace(found, texts=found.texts + 1)
                case Out():
                    found = replace(found, refused=found.refused + 1)
                case PreparedProof(_, proof):
                    verdict = Proven.UNKNOWN if proof is None else proof.verdict
                    match verdict:
                        case Proven.PROVED:
                            found = replace(found, proved=found.proved + 1)
                        case Proven.UNKNOWN:
                            found = replace(found, unproved=found.unproved + 1)
                        case Proven.REFUTED:
                            found = replace(found, refuted=found.refuted + 1)
        return found


def emit(
    points: Iterable[Point],
    space: Field,
    crew_of: Callable[[SimpleQueue[Event]], Crew],
    store: ResultStore,
    asked: UserQuestion,
    wants: Wants,
    tell: Callable[[Emission], None],
) -> Emission:
    """Prepare points, and keep everything that is known about them.

    Raises StoreError, NoWorkers and Disagreement; what is stored is kept.
    """
    events: SimpleQueue[Event] = SimpleQueue()
    crew = crew_of(events)
    preparation = prepares(asked, space, store, crew, wants)
    given, done = near(points), Emission()
    crew.begin()
    try:
        with stopping() as stop:
            while not stop.is_set():
                point = None
                while len(preparation.open) < 2 * len(crew.workers):
                    point = next(given, None)
                    if point is None:
                        break
                    short = space.short(point)
                    done = done.with_news(preparation.begin(short, point))
                    if short not in preparation.open:
                        done = replace(done, known=done.known + 1)
                if not preparation.open and point is None:
                    return done
                try:
                    event = events.get(timeout=TICK)
                except Empty:
                    continue
                if isinstance(event, GaveUp):
                    if not event.left:
                        raise NoWorkers(f"there is no worker left: {event.reason}")
                    continue
                done = done.with_news(preparation.take(event))
                tell(done)
            return replace(done, is_interrupted=True)
    finally:
        crew.end()


def near(points: Iterable[Point]) -> Iterator[Point]:
    """Yield the points; within each batch of TOGETHER they are sorted, so that similar ones meet.

    Points with the same first choices come together. The directives that shape loops usually stand
    before those for warps and stages.
    """
    left = iter(points)
    while some := sorted(islice(left, TOGETHER)):
        yield from some
