"""Writes tables of numbered cells as lines of text, for a terminal."""

from collections.abc import Iterable, Iterator

from dtpoly.render.grid import Grid, Section


def show_grids(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the lines of sections and their grids, one below the other."""
    for number, section in enumerate(sections):
        if number:
            yield ""
        yield section.title
        for grid in section.grids:
            yield ""
            yield from _grid(grid)


def _grid(grid: Grid) -> Iterator[str]:
    directions = ((grid.down, "down"), (grid.across, "across"))
    ways = [f"{name} {way}" for name, way in directions if name]
    yield f"  {grid.title}" + (f": {', '.join(ways)}" if ways else "")
    columns = grid.heads_across
    texts = [cell.text for row in grid.rows for cell in row]
    width = max(map(len, (*texts, *columns)), default=0)
    side = max(map(len, grid.heads_down), default=0) if grid.down else 0
    if grid.across:
        yield _row("", columns, side, width)
    for head, row in zip(grid.heads_down, grid.rows, strict=True):
        yield _row(head if grid.down else "", (cell.text for cell in row), side, width)


def _row(head: str, texts: Iterable[str], side: int, width: int) -> str:
    cells = "".join(f"  {text:>{width}}" for text in texts)
    return (f"  {head:>{side}}  {cells}" if side else f"  {cells}").rstrip()
