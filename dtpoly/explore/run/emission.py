"""Points as .dt texts in; their emitted texts in a store, before any device is there, out."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from queue import Empty, SimpleQueue

from dtpoly.explore.run.stopping import TICK, NoWorkers, stopping
from dtpoly.explore.store.question import Asked
from dtpoly.explore.store.results import Refused, Text
from dtpoly.explore.store.store import Store
from dtpoly.explore.workers.crew import Crew, Event, GaveUp
from dtpoly.explore.workers.messages import Message
from dtpoly.explore.workers.process import Gone
from dtpoly.explore.workers.servants import expected_of, made_of
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Emission:
    """How far it is."""

    texts: int = 0
    refused: int = 0
    is_interrupted: bool = False


def emit(
    points: Iterable[tuple[str, str]],
    crew_of: Callable[[SimpleQueue[Event]], Crew],
    store: Store,
    asked: Asked,
    tell: Callable[[Emission], None],
) -> Emission:
    """Emit the texts of points, given by short form and .dt text, and keep them.

    Raises StoreError and NoWorkers; what is stored is kept.
    """
    events: SimpleQueue[Event] = SimpleQueue()
    crew = crew_of(events)
    given, waiting, done = iter(points), 0, Emission()
    crew.begin()
    try:
        with stopping() as stop:
            while not stop.is_set():
                while waiting < 2 * len(crew.workers) and (one := next(given, None)) is not None:
                    crew.give(one[0], {"name": asked.name, "text": one[1]})
                    waiting += 1
                if not waiting:
                    return done
                try:
                    event = events.get(timeout=TICK)
                except Empty:
                    continue
                if isinstance(event, GaveUp):
                    if not event.left:
                        raise NoWorkers(f"there is no worker left: {event.reason}")
                    continue
                waiting -= 1
                made = keep_text(store, asked, event.job, event.answer)
                is_text = isinstance(made, Text)
                done = Emission(done.texts + is_text, done.refused + (not is_text))
                tell(done)
            return replace(done, is_interrupted=True)
    finally:
        crew.end()


def keep_text(store: Store, asked: Asked, point: str, answer: Message | Gone) -> Text | Refused:
    """Keep what an emitter answered, and what it expects; an emitter that hung refuses."""
    if isinstance(answer, Gone):
        made: Text | Refused = Refused(f"emitting it {answer.how}", answer.reason)
    else:
        made = made_of(answer)
        expected = expected_of(answer)
        if expected is not None:
            store.predict(asked.key, {point: expected})
    store.emit(asked.program_hash, {point: made})
    return made
