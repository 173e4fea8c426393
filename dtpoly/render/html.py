"""Shows a schedule as a part of a notebook's page: verdict, messages, tree and pictures.

It uses the colours of the page around it, light or dark, and no script or style sheet. All text is
escaped. Pictures are SVG that dtpoly drew.
"""

from collections.abc import Iterable, Sequence
from html import escape

GOOD, WRONG = "#2da44e", "#d1495b"  # readable on white and on black
_BOX = "border:1px solid #8888;border-radius:6px;padding:.6em .9em;max-width:fit-content"
# Carets point at the right characters only if all characters have one width. In a notebook `pre`
# inherits the font of the page around it, so the font is named here.
_CODE = (
    "background:transparent;color:inherit;margin:.5em 0;padding:0;line-height:1.35;"
    "font-family:monospace;white-space:pre;overflow-x:auto"
)
# A notebook gives tables a background of its own, which may not suit the colour of the text.
_TABLE = "border-collapse:collapse;margin:.5em 0;background:transparent;color:inherit"
_CELL = "text-align:left;padding:.15em 1em .15em 0;background:transparent;color:inherit"


def page(
    title: str,
    verdict: str,
    tree: str,
    *,
    is_good: bool,
    messages: str = "",
    text: str = "",
    pictures: Iterable[str] = (),
) -> str:
    """Return the title, the verdict, the messages, the tree, the pictures, and the folded text."""
    colour = GOOD if is_good else WRONG
    parts = [
        f"<div><b>{escape(title)}</b> "
        f'<span style="color:{colour};font-weight:bold">{escape(verdict)}</span></div>',
        _code(messages),
        _code(tree),
        *(f'<div style="overflow-x:auto">{picture}</div>' for picture in pictures),
    ]
    if text:
        parts.append(f"<details><summary>text</summary>{_code(text)}</details>")
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def boxed(title: str, said: str, *parts: str) -> str:
    """Return a box with a title and what is said of it; the parts are HTML already."""
    head = f"<div><b>{escape(title)}</b> {escape(said)}</div>"
    return f'<div style="{_BOX}">{head}{"".join(parts)}</div>'


def word_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of words, whose columns begin at the left; without a head it has no line."""
    heads = "".join(f'<th style="{_CELL};font-weight:bold">{escape(word)}</th>' for word in head)
    lines = [f"<tr>{heads}</tr>"] if head else []
    for row in rows:
        cells = "".join(f'<td style="{_CELL}">{escape(word)}</td>' for word in row)
        lines.append(f"<tr>{cells}</tr>")
    return f'<div style="overflow-x:auto"><table style="{_TABLE}">{"".join(lines)}</table></div>'


def block(text: str) -> str:
    """Return a block of text whose columns line up."""
    return f'<pre style="{_CODE}">{escape(text.rstrip())}</pre>'


def _code(text: str) -> str:
    return block(text) if text.strip() else ""
