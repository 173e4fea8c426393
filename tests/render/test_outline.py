"""Items under headings: columns, line breaks, harmless text."""

from dtpoly.render.diagnostic_text import plain
from dtpoly.render.outline import Heading, Item, outline

ITEMS = (
    Item("changes", ("programs of 'f': 1", "the loop over x of 'f': 16 of x in steps of 4")),
    Item("keeps", ("it changes no order",)),
)


def text(*headings: Heading, width: int | None = None) -> str:
    return plain(outline(headings, width))


def test_words_stand_in_a_column() -> None:
    assert text(Heading("f.block(x:16);", "f.dt:3", "Make blocks.", ITEMS)) == (
        "f.dt:3: f.block(x:16);\n"
        "  Make blocks.\n"
        "  changes  programs of 'f': 1\n"
        "           the loop over x of 'f': 16 of x in steps of 4\n"
        "  keeps    it changes no order\n"
    )


def test_a_blank_line_stands_between_headings() -> None:
    assert text(Heading("one"), Heading("two", items=ITEMS[1:])) == (
        "one\n\ntwo\n  keeps  it changes no order\n"
    )
    assert text() == ""


def test_what_is_too_long_is_broken_and_set_in() -> None:
    broken = text(Heading("f.block(x:16);", "", "Make blocks of a label.", ITEMS), width=40)
    assert broken == (
        "f.block(x:16);\n"
        "  Make blocks of a label.\n"
        "  changes  programs of 'f': 1\n"
        "           the loop over x of 'f': 16\n"
        "             of x in steps of 4\n"
        "  keeps    it changes no order\n"
    )
    assert max(map(len, broken.splitlines())) <= 40


def test_a_narrow_terminal_does_no_harm() -> None:
    assert "steps of 4" in " ".join(text(Heading("f", items=ITEMS), width=1).split())


def test_escape_sequences_of_a_file_name_are_harmless() -> None:
    shown = text(Heading("f.block(x:16);", "a\x1b[31mb.dt:1", "", (Item("w", ("\x1b[2J",)),)))
    assert "\x1b" not in shown
