"""Recognise functions by their text, where the verifier does not follow their bodies.

The text of such a function, and of all that it uses of the file, is compared by its hash (see
helpers). That it does what it is known for is an assumption of the proof.
"""

from __future__ import annotations

from dtpoly.verify.triton.helpers import MEANINGS
from dtpoly.verify.triton.unit import texts
from dtpoly.verify.triton.unit.unit import Unit


def fingerprint(file: Unit, one: str) -> str:
    """Return the hash of the text of a function and of all that it uses."""
    return texts.fingerprint(file.texts, one)


def meaning(file: Unit, one: str) -> str | None:
    """Return what a function for kernels is known to compute; None if it is not a known one."""
    found = MEANINGS.get(one)
    return found[1] if found is not None and found[0] == fingerprint(file, one) else None
