"""Rows of an indented list as a picture."""

from xml.etree import ElementTree

from dtpoly.render.nested import StyledWords, WordRow, draw_nested

SVG = "{http://www.w3.org/2000/svg}"
ROWS = [
    WordRow(0, (StyledWords("kernel", "f"),)),
    WordRow(1, (StyledWords("loop", "x by 1"),)),
    WordRow(2, (StyledWords("", "f"), StyledWords("lanes", "y at once"))),
    WordRow(1, (StyledWords("", "g"),)),
]


def test_a_row_a_line() -> None:
    root = ElementTree.fromstring(draw_nested("a title", ROWS))
    texts = [(text.text, float(text.attrib["y"])) for text in root.iter(f"{SVG}text")]
    assert [text for text, _ in texts] == ["kernel f", "loop x by 1", "f", "lanes y at once", "g"]
    heights = [height for _, height in texts]
    assert heights[2] == heights[3]
    assert sorted(set(heights)) == list(dict.fromkeys(heights))


def test_a_line_goes_down_to_what_is_inside() -> None:
    root = ElementTree.fromstring(draw_nested("a title", ROWS))
    assert len(list(root.iter(f"{SVG}path"))) == 2
    assert not list(ElementTree.fromstring(draw_nested("a title", [])).iter(f"{SVG}path"))
