"""Refuse a file whose characters or lines two readers might understand in different ways.

Python, its module `tokenize` (with which Triton finds where a kernel ends) and editors have their
own ideas of where a line ends, what a space is, and which letters are the same. They all agree if a
file has only printing ASCII characters and plain line ends, and no line that a backslash continues.
Comments may have other printing characters, since all readers skip them.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Sequence

from dtpoly.verify.algebra.kernel_values import Unread

# A comment of this form in the first two lines of a file tells Python the file's encoding.
ENCODING = re.compile(r"[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
UTF_8 = ("utf-8", "utf8")


def lines_of(text: str) -> list[str]:
    """Return the lines of a file, if all readers see the same lines. Raises Unread."""
    lines = text.replace("\r\n", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        for character in line:
            if character == "\0":
                raise Unread(number, "this is not Python: a character in it has the code 0")
            if not character.isprintable():
                what = f"the character {character!a}, which is no letter, sign, space or line end"
                raise Unread(number, what)
        if line.endswith("\\"):
            raise Unread(number, "a line that goes on behind a backslash: put it in brackets")
    _check_encoding(lines)
    return lines


def check_tokens(lines: Sequence[str]) -> None:
    """Refuse characters outside of ASCII that are not in a comment. Raises Unread."""
    if all(line.isascii() for line in lines):
        return
    text = "\n".join(lines)
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type != tokenize.COMMENT and not token.string.isascii():
                what = f"'{token.string}': only comments may have letters other than a to z"
                raise Unread(token.start[0], what)
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unread(1, f"this is not Python: {error}") from error


def _check_encoding(lines: Sequence[str]) -> None:
    """Refuse an encoding with which Python reads other characters than dtpoly. Raises Unread.

    Python looks for it in the first two lines. Here all comments at the top are looked at, because
    lines may have been put between the first of them.
    """
    for number, line in enumerate(lines, start=1):
        if line.strip() and not line.lstrip().startswith("#"):
            return
        said = ENCODING.match(line)
        if said is not None and said[1].lower().replace("_", "-") not in UTF_8:
            raise Unread(number, f"the encoding '{said[1]}'")
