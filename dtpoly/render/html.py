"""Shows a schedule as a part of a notebook's page: verdict, messages, tree and pictures.

It uses the colours of the page around it, light or dark, and no script or style sheet. All text is
escaped. Pictures are SVG that dtpoly drew.
"""

from collections.abc import Iterable
from html import escape

GOOD, WRONG = "#2da44e", "#d1495b"  # readable on white and on black
_BOX = "border:1px solid #8888;border-radius:6px;padding:.6em .9em;max-width:fit-content"
# Carets point at the right characters only if all characters have one width. In a notebook `pre`
# inherits the font of the page around it, so the font is named here.
_CODE = (
    "background:transparent;color:inherit;margin:.5em 0;padding:0;line-height:1.35;"
    "font-family:monospace;white-space:pre;overflow-x:auto"
)


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


def block(text: str) -> str:
    """Return a block of text whose columns line up."""
    return f'<pre style="{_CODE}">{escape(text.rstrip())}</pre>'


def _code(text: str) -> str:
    return block(text) if text.strip() else ""
