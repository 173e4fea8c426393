"""Grids in which neighbours that are alike are one row or column."""

import pytest

from dtpoly.render.grid import Cell, Grid
from dtpoly.render.shortened import shortened


def grid(rows: list[list[int]]) -> Grid:
    cells = tuple(tuple(Cell(n, str(n), n, f"number {n}") for n in row) for row in rows)
    return Grid("program", "x", "y", cells)


@pytest.mark.parametrize(
    ("rows", "short", "down", "across"),
    [
        ([[0, 0, 1], [0, 0, 1], [2, 2, 3]], [[0, 1], [2, 3]], ("0-1", "2"), ("0-1", "2")),
        ([[0, 1], [1, 0]], [[0, 1], [1, 0]], ("0", "1"), ("0", "1")),
        ([[0], [1], [0]], [[0], [1], [0]], ("0", "1", "2"), ("0",)),  # not neighbours
        ([[5, 5, 5]], [[5]], ("0",), ("0-2",)),
        ([], [], (), ()),
    ],
)
def test_neighbours_that_are_alike_are_one(
    rows: list[list[int]], short: list[list[int]], down: tuple[str, ...], across: tuple[str, ...]
) -> None:
    found = shortened(grid(rows))
    assert [[cell.number for cell in row] for row in found.rows] == short
    assert found.heads_down == down
    assert found.heads_across == across


def test_what_is_framed_otherwise_stays_apart() -> None:
    """Two cells of one number that belong to different tiles are not alike."""
    cells = (Cell(0, "0", 0, ""), Cell(0, "0", 1, ""))
    assert shortened(Grid("iteration", "", "y", (cells,))).heads_across == ("0", "1")
