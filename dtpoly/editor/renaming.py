"""Decides whether a name of a file can get another name."""

from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.editor.analysed_text import ReadText
from dtpoly.frontend.lexical import RESERVED
from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class RefusedName:
    """The answer to somebody who asked for a name that cannot be."""

    why: str


def check_new_name(new: str, old: str, read: ReadText) -> str | None:
    """Return why a name cannot be the new one, or None if it can."""
    if not (new.isidentifier() and new.isascii()):
        return f"'{new}' is not a name: write letters, digits and '_'"
    if new in RESERVED:
        return f"'{new}' is a word of the language"
    if new in CALL_NAMES:
        return f"'{new}' is a function of the language"
    if new != old and any(one.name == new for one in read.occurrences):
        return f"'{new}' is another name of this file"
    return None
