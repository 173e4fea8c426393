"""Recognise functions by their text, where the verifier does not follow their bodies.

The text of such a function, and of all that it uses of the file, is compared by its hash (see
helpers). That it does what it is known for is an assumption of the proof.
"""

from __future__ import annotations

from dtpoly.verify.triton.earlier_texts import entries
from dtpoly.verify.triton.unit import texts
from dtpoly.verify.triton.unit.unit import Unit


def fingerprint(file: Unit, one: str) -> str:
    """Return the hash of the text of a function and of all that it uses."""
    return texts.fingerprint(file.texts, one)


def entry(file: Unit, one: str) -> tuple[str, str] | None:
    """Return the hash of a function for kernels and what it computes, if it is a known one."""
    text = fingerprint(file, one)
    return next((found for found in entries(one) if found[0] == text), None)


def meaning(file: Unit, one: str) -> str | None:
    """Return what a function for kernels is known to compute; None if it is not a known one."""
    found = entry(file, one)
    return None if found is None else found[1]
