"""Draws which program computes which element of each kernel at given sizes, as SVG."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product

from dtpoly.render.grid import Cell, Grid, Section, draw_grids
from dtpoly.render.shortened import shortened
from dtpoly.schedule.element_table import (
    LISTED,
    LOOKED_AT,
    Element,
    ElementTable,
    Most,
    Sizes,
    Spot,
    TooLongError,
    tables,
)
from dtpoly.schedule.fused_table import FusedTable, fused_tables
from dtpoly.schedule.panelled import Panelled, panelled
from dtpoly.schedule.state import State

LONG = 9  # letters in a cell


def map_picture(state: State, sizes: Mapping[str, int]) -> str:
    """Draw which program computes which element of each kernel, in which iteration and lane.

    For a fused Func it draws all programs that compute an element, if its sizes are given. A Func
    that is computed in panels is drawn as if there were one panel, and the picture says so first.
    Raises SizesError for sizes that are missing, do not fit together or are too large to draw.
    """
    title = f"which program computes which element, at {_given(sizes)}"
    return draw_grids(title, map_sections(state, sizes))


def map_sections(state: State, sizes: Mapping[str, int]) -> tuple[Section, ...]:
    """Return the map as grids of cells, for a picture or a text.

    For large sizes, equal neighbouring rows and columns are merged. Programs are often equal,
    iterations sometimes, and lanes never.
    """
    try:
        return _sections_of(state, sizes, LOOKED_AT)
    except TooLongError:
        large = _sections_of(state, sizes, LISTED)
    if len(large) > LOOKED_AT.along:
        raise TooLongError(f"there are {len(large)} tables; choose smaller sizes")
    return tuple(map(_short, large))


def _short(section: Section) -> Section:
    """Return the section with equal neighbouring rows and columns merged.

    Grids that are still too large are left out. Raises TooLongError if that is the first grid,
    which shows the programs.
    """
    grids = [shortened(grid) for grid in section.grids]
    first = max(len(grids[0].heads_down), len(grids[0].heads_across)) if grids else 0
    if first > LOOKED_AT.along:
        raise TooLongError(
            f"of {first} rows or columns no two neighbours are alike, and a table has up to "
            f"{LOOKED_AT.along}; choose smaller sizes"
        )
    kept = (
        grid
        for grid in grids
        if max(len(grid.heads_down), len(grid.heads_across)) <= LOOKED_AT.along
    )
    return Section(f"{section.title}; what is alike is shown once", tuple(kept))


def _sections_of(state: State, sizes: Sizes, most: Most) -> tuple[Section, ...]:
    found = tables(state, sizes, most)
    fused = tuple(fused_tables(state, sizes, found, most))
    sections = [Section(_whole(one), ()) for one in panelled(state)]
    for table in found:
        sections.extend(_sections(table))
        for one in fused:
            if one.kernel == table.kernel:
                sections.extend(_fused_sections(one))
    return tuple(sections)


def _whole(one: Panelled) -> str:
    return f"{one}, which this does not show: it is of one panel, as large as all of {one.label}"


def _given(sizes: Mapping[str, int]) -> str:
    return ", ".join(f"{label} = {size}" for label, size in sizes.items())


def _sections(table: ElementTable) -> Iterator[Section]:
    kernel = "" if table.kernel == table.statement else f"kernel {table.kernel}: "
    what = f"{kernel}{table.statement}[{_listed(table.labels)}]"
    programs = f"{table.programs} program{'' if table.programs == 1 else 's'}"
    for fixed, where in _outer(table.labels, table.extents):
        yield Section(f"{what}{where}, {programs}", tuple(_grids(table, fixed)))


def _outer(labels: Sequence[str], extents: Element) -> Iterator[tuple[Element, str]]:
    """Yield the values of all labels but the last two, which become the grid of a section."""
    outer = labels[:-2]
    for fixed in product(*map(range, extents[: len(outer)])):
        yield fixed, "".join(f", {_shown(k)} = {at}" for k, at in zip(outer, fixed, strict=True))


def _fused_sections(table: FusedTable) -> Iterator[Section]:
    what = f"{table.func}[{_listed(table.labels)}] in the kernel {table.kernel}"
    times = "one program" if table.most < 2 else f"up to {table.most} programs"
    keys = _in_order(table.programs.values())

    def cell(at: Element) -> Cell:
        numbers = table.programs.get(at)
        element = f"{table.func}[{', '.join(map(str, at))}]"
        if numbers is None:
            return Cell(None, "", 0, f"{element}: not needed")
        tip = f"{element}: program{'s' * (len(numbers) > 1)} {', '.join(map(str, numbers))}"
        return Cell(keys[numbers], _runs(numbers), keys[numbers] + 1, tip)

    for fixed, where in _outer(table.labels, table.extents):
        grid = _cells("programs", table.labels, table.extents, fixed, cell)
        yield Section(f"{what}{where}, each element by {times}", (grid,))


def _runs(numbers: Element) -> str:
    """Return runs of numbers such as `0-2,4`, or how many numbers there are if that is too long."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and runs[-1][-1] == number - 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    text = ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return text if len(text) <= LONG else f"{len(numbers)} of them"


def _grids(table: ElementTable, fixed: Element) -> Iterator[Grid]:
    yield _grid(table, fixed, "program", _program, _program)
    yield _grid(table, fixed, "iteration", _iteration, _tile)
    if any(spot.lane for spot in table.spots.values()):
        yield _grid(table, fixed, "lane", _lane, _tile)


def _program(spot: Spot) -> Element:
    return (spot.program,)


def _iteration(spot: Spot) -> Element:
    return (spot.iteration,)


def _tile(spot: Spot) -> Element:
    return (spot.program, spot.iteration)


def _lane(spot: Spot) -> Element:
    return spot.lane


def _grid(
    table: ElementTable,
    fixed: Element,
    title: str,
    number: Callable[[Spot], Element],
    group: Callable[[Spot], Element],
) -> Grid:
    """Make a grid: cells of one number share a colour, cells of one group share a frame."""
    numbers = _in_order(number(spot) for spot in table.spots.values())
    groups = _in_order(group(spot) for spot in table.spots.values())

    def cell(at: Element) -> Cell:
        spot = table.spots[at]
        text = ",".join(map(str, number(spot)))
        return Cell(numbers[number(spot)], text, groups[group(spot)], _words(table, at, spot))

    return _cells(title, table.labels, table.extents, fixed, cell)


def _cells(
    title: str,
    labels: Sequence[str],
    extents: Element,
    fixed: Element,
    cell: Callable[[Element], Cell],
) -> Grid:
    """Return the grid of the last two labels, or of the only label, or of a single element."""
    down, across = ("", "", *map(_shown, labels[len(fixed) :]))[-2:]
    rows = product(*map(range, extents[len(fixed) : -1]))
    columns = list(product(*map(range, extents[-1:])))
    cells = tuple(tuple(cell((*fixed, *row, *column)) for column in columns) for row in rows)
    return Grid(title, down, across, cells)


def _listed(labels: Iterable[str]) -> str:
    return ", ".join(map(_shown, labels))


def _shown(label: str) -> str:
    """Return the name of a label for the reader; `k.part` numbers the blocks of `k`."""
    return label.replace(".part", " block")


def _in_order(keys: Iterable[Element]) -> dict[Element, int]:
    return {key: at for at, key in enumerate(sorted(set(keys)))}


def _words(table: ElementTable, at: Element, spot: Spot) -> str:
    element = f"{table.statement}[{', '.join(map(str, at))}]"
    return f"{element}: program {spot.program}, iteration {spot.iteration}; {spot.place}"
