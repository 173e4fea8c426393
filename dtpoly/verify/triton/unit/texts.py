"""Recognize by the hash of their text the functions that dtpoly writes into each file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

WORD = re.compile(r"\bdt_\w+")


def needed_by(texts: Mapping[str, str], one: str) -> list[str]:
    """Return a function, and all that it uses of the file, directly or through others."""
    needed: dict[str, None] = {}
    pending = [one]
    while pending:
        found = pending.pop()
        if found in texts and found not in needed:
            needed[found] = None
            pending += WORD.findall(texts[found])
    return sorted(needed)


def fingerprint(texts: Mapping[str, str], one: str) -> str:
    """Return a hash of the text of a function and of all that it uses."""
    found = "\n".join(texts[found] for found in needed_by(texts, one))
    return hashlib.sha256(found.encode()).hexdigest()[:32]
