"""The known word that a misspelt one most likely means."""

from collections.abc import Iterable
from difflib import get_close_matches


def near(word: str, known: Iterable[str]) -> str | None:
    """Return the closest known word, first regardless of case; None if none is close."""
    candidates = [candidate for candidate in known if candidate != word]
    if len(word) > 64:
        return None
    for candidate in candidates:
        if candidate.lower() == word.lower():
            return candidate
    close = get_close_matches(word, candidates, n=1, cutoff=0.6)
    return close[0] if close else None


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'block'?`, or nothing where no word is near."""
    meant = near(word, known)
    return f"; did you mean '{meant}'?" if meant else ""
