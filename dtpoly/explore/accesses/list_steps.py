"""Estimates what kernels spend on lists of the largest values.

Each tile is compared with the last place of its list. Of a row in random order, tile t, counted
from 1, has k / t of the k largest of the first t tiles, if it has so many lanes. So about
k (1 + ln T) of the elements of T tiles enter. Each costs a round: the best element of the tile is
found, the list is moved by one place, and the element is taken out of the tile. A tile of which
something enters costs one round more, which finds that nothing is left. The lanes of all rows of a
program take part.
"""

from collections.abc import Iterator
from math import log, prod

from dtpoly.algorithm.expressions import Reduce
from dtpoly.algorithm.operations import LIST
from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.accesses.tile_counts import StatementWalk, lanes_of, steps, trips
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Role

# Instructions of a lane: of the comparison, of a round for each element of the tile, and of a round
# for each place of the list, of which a warp has all. How often all lanes meet in a round is the
# last number. They were chosen with ten times of the 8 largest on an H200 in view.
COMPARED, FOUND, MOVED = 4, 35, 50
MEETINGS = 3
WARP = 32


@dataclass(frozen=True, slots=True)
class ListSteps:
    """The tiles that a kernel compares with a list, and the rounds that it spends, in all programs.

    `lanes` are those of a tile, `places` those of all lists of a program.
    """

    tiles: float
    rounds: float
    lanes: int
    places: int

    @property
    def instructions(self) -> float:
        """Return the instructions of all lanes."""
        places = max(self.places, WARP)
        each = FOUND * self.lanes + MOVED * places
        return COMPARED * self.tiles * self.lanes + each * self.rounds

    @property
    def meetings(self) -> float:
        """Return how often lanes meet: once for each comparison, and in each round."""
        return self.tiles + MEETINGS * self.rounds


def list_steps(kernel: CostedKernel) -> Iterator[ListSteps]:
    """Yield the work of each list of a kernel. The same list of two Funcs is kept once."""
    seen = set[tuple[Reduce, tuple[tuple[str | None, int | None], ...]]]()
    for walk in kernel.walks:
        body = walk.statement.body
        if not isinstance(body, Reduce) or body.operation != LIST:
            continue
        loops = (axis for axis in walk.loops if axis.index.plain in body.labels)
        key = (body, tuple((axis.index.plain, axis.step) for axis in loops))
        if walk.statement.role is Role.UPDATE and key not in seen:
            seen.add(key)
            yield _steps(walk, body)


def _steps(walk: StatementWalk, body: Reduce) -> ListSteps:
    reduced = [axis for axis in walk.loops if axis.index.plain in body.labels]
    tiles = prod(trips(walk, axis) for axis in reduced)
    kept = [label for label in walk.statement.labels if label not in body.labels]
    rows, along = lanes_of(walk, kept), lanes_of(walk, body.labels)
    count = 1 << (body.count - 1).bit_length()
    programs = steps(walk) / max(tiles, 1)
    entering = min(rows * entering_of(tiles, along, count), float(count * tiles))
    taken = min(rows * entering_of(tiles, 1, count), float(tiles))
    rounds = min(entering + taken, float(count * tiles))
    return ListSteps(programs * tiles, programs * rounds, rows * along, rows * count)


def entering_of(tiles: int, lanes: int, count: int) -> float:
    """Return how many elements of some tiles, in random order, enter a list of `count` places."""
    early = min(tiles, max(count // lanes, 1))
    most = min(lanes, count)
    return most * early + count * log(tiles / early) if tiles else 0.0
