"""Functions whose bodies are not followed but known by their text: each is an assumption."""

from __future__ import annotations

from dtpoly.verify.helpers import MEANINGS
from dtpoly.verify.unit import texts
from dtpoly.verify.unit.allowed import is_own
from dtpoly.verify.unit.unit import Unit


def needed_by(file: Unit, one: str) -> list[str]:
    """A function, and what it uses of the file, and what that uses."""
    return texts.needed_by(file.texts, one)


def fingerprint(file: Unit, one: str) -> str:
    """The hash of the text of a function and of what it uses."""
    return texts.fingerprint(file.texts, one)


def meaning(file: Unit, one: str) -> str | None:
    """What a function of Triton is known to compute, if it is one of these."""
    found = MEANINGS.get(one)
    return found[1] if found is not None and found[0] == fingerprint(file, one) else None


def is_known(file: Unit, one: str) -> bool:
    """True if the text of a function of Python, and of what it uses, is the known one."""
    return is_own(file, one)
