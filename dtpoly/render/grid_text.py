"""Tables of numbered cells in, lines of text out."""

from collections.abc import Iterable, Iterator

from dtpoly.render.grid import Grid, Section


def show_grids(sections: Iterable[Section]) -> Iterator[str]:
    """The same as the picture, without colours: sections and their grids below each other."""
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
    columns = [str(column) for column in range(len(grid.rows[0]) if grid.rows else 0)]
    texts = [cell.text for row in grid.rows for cell in row]
    width = max(map(len, (*texts, *columns)), default=0)
    side = len(str(len(grid.rows) - 1)) if grid.down else 0
    if grid.across:
        yield _row("", columns, side, width)
    for number, row in enumerate(grid.rows):
        head = str(number) if grid.down else ""
        yield _row(head, (cell.text for cell in row), side, width)


def _row(head: str, texts: Iterable[str], side: int, width: int) -> str:
    cells = "".join(f"  {text:>{width}}" for text in texts)
    return (f"  {head:>{side}}  {cells}" if side else f"  {cells}").rstrip()
