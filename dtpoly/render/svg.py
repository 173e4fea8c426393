"""Builds SVG text from shapes and words; it uses no external font, script or style.

A picture brings its own background. It uses only attributes, since a `<style>` in a picture would
change the page that a notebook puts it into.
"""

from collections.abc import Iterable
from html import escape

FONT = "ui-monospace, SFMono-Regular, Menlo, Consolas, monospace"
SIZE = 12  # of the letters
LETTER = 7.3  # the width of a letter, rounded up a little
BACKGROUND, FRAME, INK, PALE = "#ffffff", "#d0d7de", "#1f2328", "#59636e"


def tag(name: str, attributes: str, inner: str = "") -> str:
    """Return an element; its inner text is already SVG."""
    return f"<{name} {attributes}>{inner}</{name}>" if inner else f"<{name} {attributes}/>"


def attributes(**given: object) -> str:
    """Return attributes: `stroke_width=2` becomes `stroke-width="2"`, without needless digits."""
    return " ".join(
        f'{name.replace("_", "-")}="{escape(shown(value))}"' for name, value in given.items()
    )


def shown(value: object) -> str:
    """Return a number with at most one digit after the point, or a word."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def words(x: float, y: float, text: str, **more: object) -> str:
    """Return a line of text that starts at x, or is centred there with `text_anchor`."""
    return f"<text {attributes(x=x, y=y, **more)}>{escape(text)}</text>"


def tip(text: str) -> str:
    """Return the element that lets a browser show this text when the mouse is on a shape."""
    return f"<title>{escape(text)}</title>"


def width_of(text: str) -> float:
    """Estimate how wide a text is."""
    return len(text) * LETTER


def picture(width: float, height: float, title: str, shapes: Iterable[str]) -> str:
    """Return a whole picture on its own background, to be readable on light and dark pages."""
    across, down = round(width), round(height)
    ground = tag(
        "rect",
        attributes(
            x=0.5, y=0.5, width=across - 1, height=down - 1, rx=6, fill=BACKGROUND, stroke=FRAME
        ),
    )
    head = attributes(
        xmlns="http://www.w3.org/2000/svg",
        width=across,
        height=down,
        viewBox=f"0 0 {across} {down}",
        role="img",
        font_family=FONT,
        font_size=SIZE,
        fill=INK,
    )
    return "\n".join((f"<svg {head}>", tip(title), ground, *shapes, "</svg>")) + "\n"
