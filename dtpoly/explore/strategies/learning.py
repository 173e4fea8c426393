"""Makes a strategy of a generator that yields batches of points and is sent their times."""

from collections.abc import Generator, Sequence
from dataclasses import field

from dtpoly.explore.space.search_view import Point
from dtpoly.frozen import dataclass

# The points of a batch in the order in which they were asked for, each with its milliseconds.
Told = list[tuple[Point, float | None]]
Batches = Generator[Sequence[Point], Told, None]


@dataclass(slots=True)
class Learning:
    """Asks for one batch after the other, each when all results of the last one are known.

    So the points do not depend on which worker is faster.
    """

    batches: Batches
    batch: Sequence[Point] = ()
    asked: int = 0  # of the batch
    times: dict[Point, float | None] = field(default_factory=dict[Point, "float | None"])
    has_begun: bool = False
    is_over: bool = False

    def ask(self, count: int) -> Sequence[Point]:
        """Return the rest of the batch; once all its results are known, begin the next one."""
        if self.asked == len(self.batch) == len(self.times) and not self.is_over:
            self._next()
        found = self.batch[self.asked : self.asked + count]
        self.asked += len(found)
        return found

    def tell(self, point: Point, time: float | None) -> None:
        """Keep a result until all of the batch are known."""
        self.times[point] = time

    def _next(self) -> None:
        told = [(point, self.times[point]) for point in self.batch]
        try:
            batch = self.batches.send(told) if self.has_begun else next(self.batches)
        except StopIteration:
            self.is_over, batch = True, ()
        self.has_begun = True
        # A point must not stand twice, or the strategy would wait for one answer too many.
        self.batch, self.asked, self.times = [*dict.fromkeys(batch)], 0, {}
        self.is_over = self.is_over or not self.batch
