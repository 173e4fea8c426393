"""Where terms are rounded: what the algorithm allows is laid over what the kernel does."""

from __future__ import annotations

from functools import cache

from dtpoly.verify import kinds
from dtpoly.verify.building import SIGNS, applied
from dtpoly.verify.numerals import options
from dtpoly.verify.terms import Apply, Literal, Place, Term, Total, children, rebuilt


@cache
def rounds(term: Term) -> frozenset[str]:
    """The types to which something in the term is rounded."""
    found = frozenset[str]().union(*(rounds(one) for one in children(term)))
    word, kind = split(term)
    return found | {kind} if word == "round" else found


@cache
def literals(term: Term) -> frozenset[str]:
    """The numbers as written in the term."""
    own = frozenset((term.text,)) if isinstance(term, Literal) else frozenset[str]()
    return own.union(*(literals(one) for one in children(term)))


def split(term: Term) -> tuple[str, str]:
    """`round` or `may`, and the type; nothing of other terms."""
    if isinstance(term, Apply):
        word, _, kind = term.operation.partition(" ")
        if word in ("round", "may"):
            return word, kind
    return "", ""


@cache
def without_may(
    term: Term, kept: frozenset[str] = frozenset(), texts: frozenset[str] = frozenset()
) -> Term:
    """The term without leave to round, but where the kernel may use it.

    That is for one of these types; or of a number as written that is another one then, if the
    kernel has numbers as written: what the kernel has may be computed from that one.
    """
    parts = tuple(without_may(one, kept, texts) for one in children(term))
    word, kind = split(term)
    if word == "may" and not any(allows(kind, one) for one in kept):
        is_other = isinstance(parts[0], Literal) and options(term) - {parts[0].text}
        return term if texts and is_other else parts[0]
    if isinstance(term, Apply) and term.operation in SIGNS and any(map(_is_index, parts)):
        # Beside an index only the number itself is carried out, unless the kernel has another.
        parts = tuple(_as_written(one, texts) for one in parts)
    # Without it, arithmetic of whole numbers can be carried out.
    return applied(term.operation, parts) if isinstance(term, Apply) else rebuilt(term, parts)


def _is_index(term: Term) -> bool:
    return isinstance(term, Place)


def _as_written(term: Term, texts: frozenset[str]) -> Term:
    """A number without leave to round, unless it may be one of these."""
    match term:
        case Apply(operands=(Literal() as number,)) if split(term)[0] == "may":
            return term if options(term) - {number.text} & texts else number
        case _:
            return term


def without_steps(operation: str, term: Term) -> Term:
    """A reduction without leave to round what is reduced by the same operation inside of it."""
    match term:
        case Apply(operation=own) | Total(operation=own) if own == operation:
            return rebuilt(term, tuple(without_steps(operation, one) for one in children(term)))
        case Apply(operands=(inner,)) if split(term)[0] == "may":
            bare = without_steps(operation, inner)
            is_step = isinstance(bare, Apply | Total) and bare.operation == operation
            return bare if is_step else term
        case _:
            return term


def allows(may: str, kind: str) -> bool:
    """True if a value may be rounded to a type where the language allows another."""
    return may == kind or kinds.holds(kind, may)
