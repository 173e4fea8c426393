"""Makes the edits that remove a name from its declaration, or that declare it with another word.

Messages offer such edits, for instance to turn a Var into an RVar.
"""

import re

from dtpoly.diagnostics import Edit
from dtpoly.source import Span

# The text around a name in its declaration. An edit does not touch comments there, so a declaration
# that has some gets no edit.
_BEFORE = re.compile(r"(?:(?P<word>\b(?:Func|In|SIn|Var|RVar)\s+)|(?P<comma>,\s*))\Z")
_AFTER = re.compile(
    r"(?P<dtype>(?:\s*:\s*\w+)?(?:\s+into\s+\w+)?(?:\s+packed\s+\w+)?)\s*(?:(?P<comma>,\s*)|;)"
)
_NEAR = 80  # characters that are looked at


def undeclare(name: Span) -> tuple[Edit, ...]:
    """Return the edits that leave a name out of its declaration, or remove the whole declaration.

    The declaration is removed if it has no other name.
    """
    around = _around(name)
    if around is None:
        return ()
    before, after = around
    if before["comma"]:
        end = after.end("dtype") if after["dtype"] else name.end
        return (_edit(name, name.start - len(before["comma"]), end, ""),)
    if after["comma"]:
        return (_edit(name, name.start, after.end(), ""),)
    text, start, end = name.source.text, name.start - len(before["word"]), after.end()
    if text[end : end + 1] == "\n" and text[start - 1 : start] in ("", "\n"):
        end += 1  # so that no empty line stays behind
    return (_edit(name, start, end, ""),)


def redeclare(name: Span, word: str, neighbours: str) -> tuple[Edit, ...]:
    """Return the edits that declare a name without a dtype by another word than its neighbours.

    Var x, k, y;  -->  Var x; RVar k; Var y;
    """
    around = _around(name)
    if around is None:
        return ()
    before, after = around
    if before["comma"]:
        edits = [_edit(name, name.start - len(before["comma"]), name.start, f"; {word} ")]
    else:
        edits = [_edit(name, name.start - len(before["word"]), name.start, f"{word} ")]
    if after["comma"]:
        edits.append(_edit(name, after.start("comma"), after.end("comma"), f"; {neighbours} "))
    return tuple(edits)


def _around(name: Span) -> tuple[re.Match[str], re.Match[str]] | None:
    text = name.source.text
    before = _BEFORE.search(text, max(name.start - _NEAR, 0), name.start)
    after = _AFTER.match(text, name.end, name.end + _NEAR)
    return (before, after) if before and after else None


def _edit(name: Span, start: int, end: int, text: str) -> Edit:
    return Edit(Span(name.source, start, end), text)
