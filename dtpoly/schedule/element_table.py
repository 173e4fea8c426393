"""Lists which program computes which element of what each kernel writes, at given sizes."""

from collections.abc import Iterator, Mapping
from math import prod

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path, several
from dtpoly.poly.coordinates import applies, at, int_coordinates
from dtpoly.poly.instances import fit_together, instances, labels_needed, with_known
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.schedule.describe import place_of
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, paths, statements
from dtpoly.schedule.verdict import InstancePlace

Element = tuple[int, ...]
Sizes = Mapping[str, int]  # label -> size


@dataclass(frozen=True, slots=True)
class Spot:
    """The place where one element is computed.

    Programs are numbered as they are launched: the last axis of the grid runs fastest. Iterations
    are numbered within a program. `lane` has a number for each axis of the vector operation.
    """

    program: int
    iteration: int
    lane: tuple[int, ...]
    place: InstancePlace


@dataclass(frozen=True, slots=True)
class ElementTable:
    """The elements that a kernel writes for others to read, and where each is computed."""

    kernel: str
    statement: str
    labels: tuple[str, ...]
    extents: tuple[int, ...]
    spots: Mapping[Element, Spot]

    @property
    def programs(self) -> int:
        """Return how many programs there are."""
        return len({spot.program for spot in self.spots.values()})

    @property
    def iterations(self) -> int:
        """Return how many iterations the longest program has."""
        return max((spot.iteration + 1 for spot in self.spots.values()), default=0)


@dataclass(frozen=True, slots=True)
class Most:
    """The largest size that a table may have: of each label, and in elements."""

    along: int
    elements: int


LOOKED_AT = Most(64, 64**2)  # of which a person sees every element
# For tables that a program reads, or that are shown without rows and columns that are alike.
LISTED = Most(4096, 256**2)


class SizesError(ValueError):
    """The sizes given are too few, too large, or no call can have them."""


class TooLongError(SizesError):
    """A call could have these sizes, but the table would be too long to look at."""


def tables(state: State, sizes: Sizes, most: Most = LOOKED_AT) -> tuple[ElementTable, ...]:
    """Return a table for each kernel, in the order in which they run. Raises SizesError.

    Sizes that no table depends on may be left out.
    """
    wrong = next((label for label in sizes if label not in state.model.size_of), None)
    if wrong is not None:
        raise SizesError(f"no size of '{wrong}' is used")
    drawn = [(kernel, one) for kernel in state.kernels for one in _results(state, kernel)]
    if not fit_together(state.model, sizes):
        given = ", ".join(f"{label}={size}" for label, size in sizes.items())
        raise SizesError(f"the sizes {given} do not fit together")
    known = with_known(state.model, sizes)
    needed = dict.fromkeys(x for _, one in drawn for x in labels_needed(state.model, one))
    missing = [label for label in needed if label not in known]
    if missing:
        names = " and of ".join(f"'{label}'" for label in missing)
        raise SizesError(f"the table needs the size of {names}, as in {missing[0]}=4")
    for _, one in drawn:
        check_small(one.labels, extents(state.model, one.labels, known), most)
    found = {path.statement: path for path in paths(state.kernels)}
    return tuple(_table(state, kernel, one, found[one.name], known) for kernel, one in drawn)


def check_small(labels: tuple[str, ...], counts: tuple[int, ...], most: Most) -> None:
    """Raise TooLongError for a table that is too long to look at."""
    for label, count in zip(labels, counts, strict=True):
        if count > most.along:
            raise TooLongError(
                f"'{label}' goes up to {count}, a table up to {most.along}; choose smaller sizes"
            )
    if prod(counts) > most.elements:
        raise TooLongError(
            f"there are {prod(counts)} elements, a table has {most.elements}; choose smaller sizes"
        )


def extents(model: Model, labels: tuple[str, ...], sizes: Sizes) -> tuple[int, ...]:
    """Return how many indices each label has, or how many blocks if it numbers blocks."""
    return tuple(
        -(-sizes[model.parts[label].of] // model.parts[label].size)
        if label in model.parts
        else sizes[label]
        for label in labels
    )


def _results(state: State, kernel: Kernel) -> Iterator[Statement]:
    """Yield the statements that write what outlives the kernel."""
    known = by_name(state.model)
    for name in statements(kernel.body):
        array = state.model.arrays[known[name].writes.array]
        if not array.copies and (array.reduction is None or array.name == array.func):
            yield known[name]


def _table(state: State, kernel: Kernel, one: Statement, path: Path, sizes: Sizes) -> ElementTable:
    grid: dict[Element, tuple[int, ...]] = {}
    steps: dict[Element, tuple[int, ...]] = {}
    lanes: dict[Element, tuple[int, ...]] = {}
    places: dict[Element, InstancePlace] = {}
    for element in instances(state.model, one, sizes):
        dims = dict(zip(one.dims, element, strict=True))
        coordinates = int_coordinates(path, one, dims)
        grid[element] = _program(path, one, dims)
        steps[element] = _iteration(path, coordinates)
        lanes[element] = tuple(coordinates[axis.name] for axis in several(path.lanes))
        places[element] = place_of(state, one, dims, path)
    programs = {key: number for number, key in enumerate(sorted(set(grid.values())))}
    walked: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for element, program in grid.items():
        walked.setdefault(program, set()).add(steps[element])
    iterations = {
        (program, key): number
        for program, keys in walked.items()
        for number, key in enumerate(sorted(keys))
    }
    spots = {
        element: Spot(
            programs[program],
            iterations[program, steps[element]],
            lanes[element],
            places[element],
        )
        for element, program in grid.items()
    }
    size = extents(state.model, one.labels, sizes)
    return ElementTable(kernel.name, one.name, one.labels, size, spots)


def _program(path: Path, one: Statement, dims: Mapping[str, int]) -> tuple[int, ...]:
    """Return the tile of each grid axis, groups of blocks too, outermost first."""
    of: dict[str | int, int] = {0: 0}
    of.update(dims)
    return tuple(
        at(axis.index, 0, of) // axis.step if axis.step and applies(axis, one, True) else 0
        for axis in path.grid
    )


def _iteration(path: Path, coordinates: Mapping[str, int]) -> tuple[int, ...]:
    """Return the number of the iteration of each loop, outermost first."""
    names = {name for axis in path.loops if axis.time for name in axis.time.labels}
    known: dict[str | int, int] = {}
    known.update(dict.fromkeys(names, 0))
    known.update(coordinates)
    return tuple(
        coordinates[axis.name] if axis.time is None else at(axis.time, 0, known)
        for axis in several(path.loops)
    )


def table_data(table: ElementTable) -> dict[str, object]:
    """Return a table for JSON."""
    return {
        "kernel": table.kernel,
        "statement": table.statement,
        "labels": list(table.labels),
        "extents": list(table.extents),
        "programs": table.programs,
        "elements": [
            {
                "at": list(element),
                "program": spot.program,
                "iteration": spot.iteration,
                "lane": list(spot.lane),
            }
            for element, spot in table.spots.items()
        ],
    }
