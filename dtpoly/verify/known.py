"""Functions whose bodies are not followed but known by their text: each is an assumption."""

from __future__ import annotations

import hashlib
import re

from dtpoly.verify.file import File
from dtpoly.verify.helpers import HELPERS, MEANINGS

WORD = re.compile(r"\bdt_\w+")


def needed_by(file: File, one: str) -> list[str]:
    """A function, and what it uses of the file, and what that uses."""
    needed: dict[str, None] = {}
    pending = [one]
    while pending:
        found = pending.pop()
        if found in file.texts and found not in needed:
            needed[found] = None
            pending += WORD.findall(file.texts[found])
    return sorted(needed)


def fingerprint(file: File, one: str) -> str:
    """The hash of the text of a function and of what it uses."""
    texts = "\n".join(file.texts[found] for found in needed_by(file, one))
    return hashlib.sha256(texts.encode()).hexdigest()[:32]


def meaning(file: File, one: str) -> str | None:
    """What a function of Triton is known to compute, if it is one of these."""
    found = MEANINGS.get(one)
    return found[1] if found is not None and found[0] == fingerprint(file, one) else None


def is_known(file: File, one: str) -> bool:
    """True if the text of a function of Python, and of what it uses, is the known one."""
    # The text of a function is without what decorates it.
    is_python = not any(found in file.jitted for found in needed_by(file, one))
    return is_python and fingerprint(file, one) == HELPERS.get(one)
