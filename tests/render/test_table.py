"""Tables: as wide as they need to be, harmless, coloured only if asked."""

from dtpoly.render.text_table import table

HEAD = ("Func", "shape")


def test_plain_table() -> None:
    text = table(HEAD, [("f", "[x=4]"), ("longer", "[]")], None, colour=False)
    assert text.splitlines() == [
        "Func     shape",
        "──────────────",
        "f        [x=4]",
        "longer   []",
    ]


def test_colour_and_control_characters() -> None:
    text = table(HEAD, [("f\x1b[2J", "[red]x")], None, colour=True)
    assert "\x1b[1m" in text
    assert "\x1b[2J" not in text
    assert "f␛[2J" in text
    assert "[red]x" in text


def test_wide_rows_are_not_broken_without_a_terminal() -> None:
    assert len(table(HEAD, [("f", "x" * 500)], None, colour=False).splitlines()) == 3
    assert max(map(len, table(HEAD, [("f", "x " * 99)], 40, colour=False).splitlines())) <= 40
