"""What the layers of a proof look at, and what they find."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.access import Access, Array, Ran
from dtpoly.verify.algorithm import Meaning
from dtpoly.verify.memory import Memory
from dtpoly.verify.regions import Region
from dtpoly.verify.terms import Term
from dtpoly.verify.whole import Truth, Whole, both, name, number, within

# What the names of indices of the result begin with. They end with a bracket, and what a kernel's
# names of loops and lanes end with is a number.
OUTPUT = "out["


@dataclass(frozen=True)
class Finding:
    """What is wrong, where in the text, and for which sizes and instances."""

    layer: str
    line: int
    what: str
    where: Region
    access: Access | None = None
    # What is stored, what should be, and to what it may be rounded.
    terms: tuple[Term, Term, frozenset[str]] | None = None
    # The whole number that may not fit its type.
    number: Whole | None = None
    # False where there may be no such call, or no harm in it.
    is_exact: bool = True


@dataclass(frozen=True)
class Proof:
    """Everything that the layers look at."""

    runs: Sequence[Ran]
    arrays: dict[str, Array]
    result: str
    func: str
    meaning: Meaning
    memory: Memory
    facts: Truth

    @property
    def outputs(self) -> tuple[str, ...]:
        """A name for each index of an element of the result; no loop's counter is called so."""
        return tuple(f"{OUTPUT}{axis}]" for axis in range(len(self.arrays[self.result].shape)))

    def box(self, outputs: Sequence[str]) -> Truth:
        """That names are indices of an element of the output."""
        func = self.meaning.program.func(self.func)
        sizes = [self.meaning.sizes[label] for label in func.labels]
        return both(*(within(number(0), name(o), s) for o, s in zip(outputs, sizes, strict=True)))

    def stores(self) -> Iterator[tuple[int, Ran, Access]]:
        """Every access that writes the output."""
        for at, ran in enumerate(self.runs):
            for access in ran.accesses:
                if access.tensor == self.result and access.kind != "load":
                    yield at, ran, access
