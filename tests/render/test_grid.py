"""Grids of numbered cells, as a picture and as text."""

import re
from xml.etree import ElementTree

import pytest

from dtpoly.render.cell_tables import show_grids
from dtpoly.render.grid import TIPS, Cell, Grid, Section, draw_grids

SVG = "{http://www.w3.org/2000/svg}"


def grid(rows: list[list[int]], title: str = "program") -> Grid:
    cells = tuple(tuple(Cell(n, str(n), n, f"number {n}") for n in row) for row in rows)
    return Grid(title, "x", "y", cells)


def drawn(*grids: Grid) -> ElementTree.Element:
    svg = draw_grids("a title", (Section("f[x, y]", grids),))
    assert svg == draw_grids("a title", (Section("f[x, y]", grids),))
    return ElementTree.fromstring(svg)


def borders(root: ElementTree.Element) -> set[tuple[float, float, float, float]]:
    """The thick lines, in cells from the top left corner."""
    rects = [r for r in root.iter(f"{SVG}rect") if r.get("stroke") is None]
    left, top = float(rects[0].attrib["x"]), float(rects[0].attrib["y"])
    width, height = float(rects[0].attrib["width"]), float(rects[0].attrib["height"])
    *_, path = root.iter(f"{SVG}path")
    found: set[tuple[float, float, float, float]] = set()
    for x, y, way, end in re.findall(r"M([\d.]+) ([\d.]+)([HV])([\d.]+)", path.attrib["d"]):
        at = ((float(x) - left) / width, (float(y) - top) / height)
        to = (float(end) - (left if way == "H" else top)) / (width if way == "H" else height)
        found.add((*at, to, at[1]) if way == "H" else (*at, at[0], to))
    return {tuple(round(value, 6) for value in line) for line in found}  # type: ignore[misc]


def test_a_cell_has_its_text_and_its_words() -> None:
    root = drawn(grid([[0, 1], [2, 3]]))
    (table,) = [g for g in root.iter(f"{SVG}g") if g.get("data-table") == "program"]
    assert [text.text for text in table.findall(f"{SVG}text")] == ["0", "1", "2", "3"]
    tips = [rect.findtext(f"{SVG}title") for rect in table.findall(f"{SVG}rect")]
    assert tips == ["number 0", "number 1", "number 2", "number 3"]


def test_alike_is_coloured_alike() -> None:
    root = drawn(grid([[0, 5, 0], [5, 9, 9]]))
    colours = [r.attrib["fill"] for r in root.iter(f"{SVG}rect") if r.get("stroke") is None]
    assert colours[0] == colours[2] != colours[1] == colours[3] != colours[4] == colours[5]


def test_lines_go_around_what_belongs_together() -> None:
    assert borders(drawn(grid([[0, 0, 1], [0, 0, 1]]))) == {
        (0, 0, 3, 0),
        (0, 2, 3, 2),
        (0, 0, 0, 2),
        (2, 0, 2, 2),
        (3, 0, 3, 2),
    }
    assert (0, 1, 1, 1) in borders(drawn(grid([[0, 1], [2, 1]])))


def test_a_cell_without_a_number_is_empty() -> None:
    empty = Grid("programs", "", "x", ((Cell(None, "", 0, "not needed"), Cell(0, "0", 1, "")),))
    fills = [r.attrib["fill"] for r in drawn(empty).iter(f"{SVG}rect") if r.get("stroke") is None]
    assert len(set(fills)) == 2


def test_a_large_grid_has_no_words_for_each_cell() -> None:
    side = int(TIPS**0.5) + 1
    root = drawn(grid([[0] * side] * side))
    assert [title.text for title in root.iter(f"{SVG}title")] == ["a title"]
    # What is coloured alike is one shape.
    assert len(list(root.iter(f"{SVG}rect"))) == 1 + side


@pytest.mark.parametrize("rows", [[], [[]], [[], []]])
def test_nothing_to_draw(rows: list[list[int]]) -> None:
    assert len(list(drawn(grid(rows)).iter(f"{SVG}rect"))) == 1


def test_everything_is_inside_of_the_picture() -> None:
    root = drawn(grid([[0, 100], [2, 3]]), grid([[1, 1], [1, 1]], "a rather long title"))
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for rect in root.iter(f"{SVG}rect"):
        assert float(rect.attrib["x"]) + float(rect.attrib["width"]) < width
        assert float(rect.attrib["y"]) + float(rect.attrib["height"]) < height


def test_the_picture_needs_nothing_from_elsewhere_and_changes_nothing() -> None:
    svg = draw_grids("<&>", (Section("f", (grid([[0]]),)),))
    assert "&lt;&amp;&gt;" in svg
    assert re.findall(r"https?://[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<(style|script|image|use|defs)|url\(|\bid=|\bclass=", svg)


def test_text() -> None:
    sections = (
        Section(
            "f[x, y]", (grid([[0, 10], [2, 3]]), Grid("lane", "", "", ((Cell(0, "0", 0, ""),),)))
        ),
        Section("g[y]", (Grid("program", "", "y", grid([[0, 1]]).rows),)),
    )
    assert list(show_grids(sections)) == [
        "f[x, y]",
        "",
        "  program: x down, y across",
        "        0   1",
        "  0     0  10",
        "  1     2   3",
        "",
        "  lane",
        "    0",
        "",
        "g[y]",
        "",
        "  program: y across",
        "    0  1",
        "    0  1",
    ]
