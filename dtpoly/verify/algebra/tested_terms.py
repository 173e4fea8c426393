"""Values that a test of data chooses: `where(test, yes, no)`, where no set says what a test is."""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Stored,
    Term,
    Total,
    children,
    names,
    rebuilt,
)


@dataclass(frozen=True, slots=True)
class Tested:
    """A value that is `yes` where a test of data holds, and `no` elsewhere."""

    test: Term
    yes: Term
    no: Term

    @property
    def term(self) -> Term:
        """Return the value as a term; a test whose answer is known is not asked again."""
        above, below = tested(self.yes), tested(self.no)
        yes = above.yes if above and above.test == self.test else self.yes
        no = below.no if below and below.test == self.test else self.no
        return yes if yes == no else AppliedOperation("where", (self.test, yes, no))

    def sides_of(self, other: Term) -> tuple[Term, Term]:
        """Return what another value is where the test holds, and elsewhere."""
        own = names(self.test)
        yes, no = (_Answered(self.test, own, holds, {}) for holds in (True, False))
        return _known(other, yes), _known(other, no)


@dataclass(frozen=True, slots=True)
class _Answered:
    """The answer of a test, the names that it has, and the terms in which it is already known."""

    test: Term
    own: frozenset[str]
    holds: bool
    seen: dict[Term, Term]


def _known(term: Term, answer: _Answered) -> Term:
    """Return a term where the answer of a test is known. A term that is shared is seen once."""
    found = answer.seen.get(term)
    if found is None:
        found = answer.seen[term] = _known_anew(term, answer)
    return found


def _known_anew(term: Term, answer: _Answered) -> Term:
    match term:
        case AppliedOperation(operation="where", operands=(asked, yes, no)) if asked == answer.test:
            return _known(yes if answer.holds else no, answer)
        case Total(bound=bound) if not answer.own.isdisjoint(bound):
            return term  # these names mean something else there
        case Stored():
            return term
        case _:
            return rebuilt(term, tuple(_known(one, answer) for one in children(term)))


def tested(term: Term) -> Tested | None:
    """Return a term as a value that a test of data chooses; None for others."""
    match term:
        case AppliedOperation(operation="where", operands=(test, yes, no)):
            return Tested(test, yes, no)
        case _:
            return None


def where_all(tests: Sequence[Term], value: Term, other: Term) -> Term:
    """Return a value where all tests hold, and the other one elsewhere; the first is outermost."""
    for test in reversed(tests):
        value = Tested(test, value, other).term
    return value
