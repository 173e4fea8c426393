"""Read the `# verify:` and `# assume:` lines of a hand-written file.

Such a file has no plans. A `# verify:` line says how a kernel is launched, and an `# assume:`
line says what callers promise.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread

LINE = re.compile(r"#\s*(verify|assume)\s*:(.*)")
FORM = (
    "write the call alone, without a result: # verify: kernel[(cdiv(len(m), 64),)](A, out, len(m));"
    " what a kernel stores is one of its arguments"
)


@dataclass(frozen=True)
class Said:
    """A line for the verifier: `# verify:` is a launch, and `# assume:` a promise of callers."""

    word: str
    what: ast.expr
    text: str
    line: int


def is_by_hand(text: str) -> bool:
    """Return whether a file says itself how its kernels are launched, so that it has no plans."""
    return any(LINE.fullmatch(line.strip()) is not None for line in text.splitlines())


def said_in(text: str) -> tuple[Said, ...]:
    """Return all these lines in order; a line with an open bracket goes on in the comment below."""
    if LINE.search(text) is None:
        return ()
    try:
        tokens = [*tokenize.generate_tokens(io.StringIO(text).readline)]
    except (tokenize.TokenError, SyntaxError) as error:
        raise Unread(1, f"this is not Python: {error}") from error
    comments = {one.start[0]: one.string for one in tokens if one.type == tokenize.COMMENT}
    found: list[Said] = []
    for line, comment in comments.items():
        match = LINE.fullmatch(comment)
        if match is None:
            continue
        parts = [match[2].strip()]
        while (below := comments.get(line + len(parts))) and _is_open("\n".join(parts)):
            parts.append(below.lstrip("# "))
        written = "\n".join(parts)
        found.append(
            Said(match[1], _parsed(written, line, match[1]), " ".join(written.split()), line)
        )
    return tuple(found)


def _is_open(text: str) -> bool:
    return sum(text.count(one) for one in "([") > sum(text.count(one) for one in ")]")


def _parsed(text: str, line: int, word: str) -> ast.expr:
    try:
        body = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        way = FORM if word == "verify" else ""
        raise Unread(line, f"this is not an expression: '{text}'", way) from error
    for node in ast.walk(body):
        ast.increment_lineno(node, 0)
        if isinstance(node, ast.expr):
            node.lineno += line - 1
    return body
