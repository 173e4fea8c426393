"""Values that a test of data chooses: `where(test, yes, no)`, where no set says what a test is."""

from __future__ import annotations

from collections.abc import Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.terms import AppliedOperation, Term


@dataclass(frozen=True, slots=True)
class Tested:
    """A value that is `yes` where a test of data holds, and `no` elsewhere."""

    test: Term
    yes: Term
    no: Term

    @property
    def term(self) -> Term:
        """Return the value as a term; a test whose answer is known is not asked again."""
        yes, no = self.sides_of(self.yes)[0], self.sides_of(self.no)[1]
        return yes if yes == no else AppliedOperation("where", (self.test, yes, no))

    def sides_of(self, other: Term) -> tuple[Term, Term]:
        """Return what another value is where the test holds, and elsewhere."""
        theirs = tested(other)
        is_same = theirs is not None and theirs.test == self.test
        return (theirs.yes, theirs.no) if theirs is not None and is_same else (other, other)


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
