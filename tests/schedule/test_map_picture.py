"""Every schedule of the thesis: the table that is drawn from the tree is the one made by hand."""

from xml.etree import ElementTree

import pytest

from dtpoly.pictures import map_picture
from dtpoly.schedule.element_table import Element, ElementTable, Most, tables
from tests.conftest import Golden
from tests.schedule.by_hand import BY_HAND, Tables
from tests.schedule.tables import scheduled
from tests.test_thesis import DATA, LISTINGS

SVG = "{http://www.w3.org/2000/svg}"
# The labels that are the two sizes, as the files call them.
LABELS = {
    "listing_3_17_sum": "xk",
    "listing_3_19_sum_tensorize": "xk",
    "listing_3_20_sum_block": "xk",
    "listing_4_03_2mm": "mn",
    "listing_4_04_attention": "mn",
}


def sizes(listing: str, two: tuple[int, int]) -> dict[str, int]:
    return dict(zip(LABELS.get(listing, "xy"), two, strict=True))


def text(listing: str) -> str:
    return (DATA / f"{listing}.dt").read_text()


def rows(table: ElementTable) -> Tables:
    """A table as the one by hand; one label is x."""
    down, across = (*table.extents, 1)[:2]

    def at(i: int, j: int) -> Element:
        return (i, j)[: len(table.extents)]

    spots = [[table.spots[at(i, j)] for j in range(across)] for i in range(down)]
    return (
        [[spot.program for spot in row] for row in spots],
        [[spot.iteration for spot in row] for row in spots],
        [[spot.lane for spot in row] for row in spots],
    )


def drawn(svg: str) -> list[tuple[str, list[str]]]:
    """The tables of a picture, by title, with what is written into their cells, row by row."""
    root = ElementTree.fromstring(svg)
    groups = {group: group.get("data-table") for group in root.iter(f"{SVG}g")}
    return [
        (title, [cell.text or "" for cell in group.findall(f"{SVG}text")])
        for group, title in groups.items()
        if title is not None
    ]


def written(by_hand: Tables) -> list[tuple[str, list[str]]]:
    """The same of tables by hand."""
    programs, iterations, lanes = by_hand
    shown = [
        ("program", [str(number) for row in programs for number in row]),
        ("iteration", [str(number) for row in iterations for number in row]),
        ("lane", [",".join(map(str, lane)) for row in lanes for lane in row]),
    ]
    return shown if any(lane for row in lanes for lane in row) else shown[:2]


@pytest.mark.parametrize(
    "listing", ["figure_3_04b_square", "figure_3_05d_map", "listing_3_20_sum_block"]
)
def test_pictures_as_they_are(listing: str, golden: Golden) -> None:
    svg = map_picture(scheduled(text(listing)), sizes(listing, (4, 4)))
    golden(f"pictures/{listing}.svg", svg)


def test_every_schedule_has_a_table_by_hand() -> None:
    assert sorted(BY_HAND) == LISTINGS


@pytest.mark.parametrize("listing", LISTINGS)
def test_the_picture_of_four_by_four(listing: str) -> None:
    by_hand = [made(4, 4) for made in BY_HAND[listing][0]]
    svg = map_picture(scheduled(text(listing)), sizes(listing, (4, 4)))
    own = [(title, cells) for title, cells in drawn(svg) if title != "programs"]
    assert own == [one for tables_of in by_hand for one in written(tables_of)]


@pytest.mark.sampled
@pytest.mark.parametrize("listing", LISTINGS)
def test_the_table_where_there_are_several_of_each(listing: str) -> None:
    make, two = BY_HAND[listing]
    by_hand = [made(*two) for made in make]
    found = tables(scheduled(text(listing)), sizes(listing, two), most=Most(2000, 2000**2))
    assert [rows(table) for table in found] == by_hand
    numbers = {n for t in by_hand for table in t[:2] for row in table for n in row}
    assert len(numbers) > 1 or listing == "figure_3_04d_full"
