"""Write formulas in the notation of isl, always in one way: equal formulas give equal texts.

Certificates and their checker compare such texts, so the text may not depend on the order in which
a formula was built.
"""

from __future__ import annotations

import re
from functools import cache

from dtpoly.verify.algebra.whole import (
    All,
    Atom,
    Either,
    Extreme,
    Floor,
    Not,
    Sign,
    Some,
    Truth,
    Whole,
    names_of,
)


def plain(name: str) -> str:
    """Return a name in a form that isl reads, with letters, digits and underscores only."""
    return re.sub(r"\W", "_", name)


def set_text(of: Truth) -> str:
    """Return the text of a set for isl: the points where the formula holds."""
    names = ", ".join(sorted({plain(one) for one in names_of(of)}))
    return f"[{names}] -> {{ : {truth_text(of)} }}"


@cache
def truth_text(of: Truth, depth: int = 0) -> str:
    """Return the text of a formula; `depth` counts the conditions of choices around it."""
    match of:
        case Sign(operand=operand, exactly=exactly):
            chosen: dict[Either, str] = {}
            parts = [f"{_sum(operand, chosen, depth)} {'=' if exactly else '>='} 0"]
            # isl has no choice between two numbers. So `exists e` introduces a number
            # e, and a condition says what e is on each side of the choice.
            while len(parts) <= len(chosen):
                one, to = list(chosen.items())[len(parts) - 1]
                parts.append(_choice(one, to, chosen, depth))
            inner = " and ".join(parts)
            return f"(exists ({', '.join(chosen.values())}: {inner}))" if chosen else inner
        case Not(operand=operand):
            return f"not ({truth_text(operand, depth)})"
        case All(parts=parts):
            return _joined("and", "true", [truth_text(one, depth) for one in parts])
        case Some(parts=parts):
            return _joined("or", "false", [truth_text(one, depth) for one in parts])


def _joined(word: str, nothing: str, parts: list[str]) -> str:
    return f"({f' {word} '.join(sorted(parts))})" if parts else nothing


def _choice(of: Either, to: str, chosen: dict[Either, str], depth: int) -> str:
    where = truth_text(of.condition, depth + 1)
    yes, no = _sum(of.yes, chosen, depth), _sum(of.no, chosen, depth)
    return f"(({where} and {to} = {yes}) or (not ({where}) and {to} = {no}))"


def whole_text(of: Whole) -> str:
    """Return the text of a number, which may also be a product of names."""
    return _sum(of, {}, 0)


def _sum(of: Whole, chosen: dict[Either, str], depth: int) -> str:
    parts: list[tuple[bool, str, int]] = []
    for monomial, coefficient in of.terms:
        factors = sorted(_atom(one, chosen, depth) for one in monomial)
        count = [] if factors and abs(coefficient) == 1 else [str(abs(coefficient))]
        parts.append((not factors, "*".join([*count, *factors]), coefficient))
    signed = [f"{'-' if c < 0 else '+'} {one}" for _, one, c in sorted(parts)]
    text = " ".join(signed).removeprefix("+ ")
    return f"-{text[2:]}" if text.startswith("- ") else text or "0"


def _atom(of: Atom, chosen: dict[Either, str], depth: int) -> str:
    match of:
        case str():
            return plain(of)
        case Floor(operand=operand, divisor=divisor):
            return f"floor(({_sum(operand, chosen, depth)})/{divisor})"
        case Extreme(largest=largest, left=left, right=right):
            both = sorted(_sum(one, chosen, depth) for one in (left, right))
            return f"{'max' if largest else 'min'}({', '.join(both)})"
        case Either():
            return chosen.setdefault(of, f"e{depth}_{len(chosen)}")
