"""Shortens a large grid: neighbouring rows or columns that look the same become one."""

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace
from itertools import groupby

from dtpoly.render.grid import Cell, Grid

Alike = tuple[Hashable, ...]


def shortened(grid: Grid) -> Grid:
    """Return the grid with one row for neighbours that look the same, and likewise for columns.

    The heads give the range, as in `0-127`. Merged cells have no tips.
    """
    down = list(_runs(_seen(row) for row in grid.rows))
    across = list(_runs(_seen(column) for column in zip(*grid.rows, strict=True)))
    rows = tuple(
        tuple(replace(grid.rows[row][column], tip="") for column, _ in across) for row, _ in down
    )
    return replace(
        grid,
        rows=rows,
        row_heads=tuple(_head(*run) for run in down),
        column_heads=tuple(_head(*run) for run in across),
    )


def _seen(cells: Iterable[Cell]) -> Alike:
    return tuple((cell.number, cell.text, cell.group) for cell in cells)


def _runs(lines: Iterable[Alike]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last of neighbours that are alike."""
    first = 0
    for _, run in groupby(lines):
        last = first + sum(1 for _ in run) - 1
        yield first, last
        first = last + 1


def _head(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}-{last}"
