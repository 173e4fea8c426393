"""Asks isl once where two questions differ in names alone.

If a Func is computed anew for each of its readers, the questions about these copies are the same,
but for the names of statements and of axes. In the text of a question these names are numbered, in
the order in which they appear. Two questions with the same text have the same answer, up to names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from dtpoly.frozen import dataclass
from dtpoly.poly.remembered import is_remembering, remembered

T = TypeVar("T")

NAME = re.compile(r"([^\W\d][\w.@^]*)")


@dataclass(frozen=True, slots=True)
class NumberedText:
    """A text in which some names are numbers, and these names in the order of the numbers."""

    text: str
    names: tuple[str, ...]


def numbered(text: str, names: Collection[str]) -> NumberedText:
    """Return a text with a number for each of some names; all other words stay as they are."""
    if not all(NAME.fullmatch(name) for name in names):
        return NumberedText(text, ())
    parts = NAME.split(text)  # every other one is a word
    numbers: dict[str, int] = {}
    for at in range(1, len(parts), 2):
        if parts[at] in names:
            parts[at] = f"<{numbers.setdefault(parts[at], len(numbers))}>"
    return NumberedText("".join(parts), tuple(numbers))


def with_numbers(text: str, names: Sequence[str]) -> NumberedText:
    """Return a text with the position of each name in its place; other words stay as they are."""
    if not all(NAME.fullmatch(name) for name in names):
        return NumberedText(text, ())
    numbers = {name: f"<{at}>" for at, name in enumerate(names)}
    parts = NAME.split(text)
    parts[1::2] = [numbers.get(word, word) for word in parts[1::2]]
    return NumberedText("".join(parts), tuple(names))


def remembered_apart_from_names(
    kind: str,
    question: Callable[[], NumberedText],
    ask: Callable[[], T],
    renamed: Callable[[T, Mapping[str, str]], T],
) -> T:
    """Return the answer to a question, which may be known from one with other names.

    `renamed` gives the answer its own names. The answer must hold no set and no relation, since
    isl may simplify these in place.
    """
    if not is_remembering():
        return ask()
    mine = question()
    answer, names = remembered(lambda: (kind, mine.text), lambda: (ask(), mine.names))
    if names == mine.names:
        return answer
    return renamed(answer, dict(zip(names, mine.names, strict=True)))
