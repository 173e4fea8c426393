"""Graphs of nodes below each other."""

import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from dtpoly.render.graph import Edge, Node, Style, draw_graph
from tests.generation.choice import seeded

SVG = "{http://www.w3.org/2000/svg}"
RIGHT, LEFT = Style("flow", "#00f"), Style("anti", "#f00", "6 3", is_left=True)
NODES = [Node(f"s{at}", "value", f"f{at // 2}") for at in range(6)]


def lines(svg: str) -> list[tuple[float, float, float]]:
    """The column of each edge, and from where to where it goes."""
    root = ElementTree.fromstring(svg)
    paths = (p.attrib["d"] for p in root.iter(f"{SVG}path") if p.find(f"{SVG}title") is not None)
    found: list[tuple[float, float, float]] = []
    for path in paths:
        match = re.match(r"M\S+ (\S+)H\S+?Q(\S+) .* (\S+)H\S+$", path)
        assert match is not None
        start, column, end = (float(value) for value in match.groups())
        found.append((column, min(start, end), max(start, end)))
    return found


def random_edges(seed: int) -> list[Edge]:
    choose = seeded(seed)
    edges: list[Edge] = []
    for _ in range(2 + choose(12)):
        source = choose(6)
        edges.append(Edge(source, source + choose(6 - source), (LEFT, RIGHT)[choose(2)], "words"))
    return edges


@pytest.mark.parametrize("seed", range(20))
def test_no_two_edges_lie_on_each_other(seed: int) -> None:
    edges = random_edges(seed)
    found = lines(draw_graph("a title", NODES, edges))
    assert len(found) == len(edges)
    for (column, top, end), (other, other_top, other_end) in combinations(found, 2):
        assert column != other or end < other_top or other_end < top


@pytest.mark.parametrize("seed", range(5))
def test_everything_is_inside_of_the_picture(seed: int) -> None:
    svg = draw_graph("a title", NODES, random_edges(seed))
    root = ElementTree.fromstring(svg)
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    assert all(0 < column < width and 0 < end < height for column, _, end in lines(svg))
    assert svg == draw_graph("a title", NODES, random_edges(seed))


def test_nodes_stand_in_frames_with_a_legend() -> None:
    svg = draw_graph("a title", NODES[:3], [Edge(0, 2, LEFT, "<tip>")], "and a note")
    texts = [text.text for text in ElementTree.fromstring(svg).iter(f"{SVG}text")]
    assert texts == ["f0", "s0", "value", "s1", "value", "f1", "s2", "value", "anti", "and a note"]
    assert "&lt;tip&gt;" in svg
    assert 'stroke-dasharray="6 3"' in svg


def test_an_empty_graph() -> None:
    assert (
        ElementTree.fromstring(draw_graph("a title", [], [])).findtext(f"{SVG}title") == "a title"
    )
