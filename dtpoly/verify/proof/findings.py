"""The data of a proof: `Proof` is what its layers look at, and a `Finding` is what they find."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.algorithm_places import is_written
from dtpoly.verify.algebra.algorithm_terms import AlgorithmMeaning
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region
from dtpoly.verify.algebra.terms import Term
from dtpoly.verify.algebra.whole import Truth, Whole, both, name, number, within
from dtpoly.verify.proof.stored_values import LaunchMemory
from dtpoly.verify.triton.access import KernelAccess, KernelTensor, Ran
from dtpoly.verify.triton.data_names import MARK

# The names of indices of the result begin with this. They end with a bracket, while the names of
# loops and lanes of a kernel end with a number: so no name can be both.
OUTPUT = "out["

# What is found of an element of a result that no launch stores.
NOT_STORED = "is not stored"


@dataclass(frozen=True)
class Finding:
    """A mistake, or something that could not be proved: its line, and for which instances it holds.

    `where` is the set of sizes and instances for which it is so.
    """

    layer: str
    line: int
    what: str
    where: Region
    access: KernelAccess | None = None
    # The term that is stored, the term that should be, and the types to which it may be rounded.
    terms: tuple[Term, Term, frozenset[str]] | None = None
    # The whole number that may not fit its type.
    number: Whole | None = None
    # False if there may be no call for which this happens, or if it may do no harm.
    is_exact: bool = True
    # True if a load finds a result in the place of an input, as a person may mean it.
    finds_new: bool = False


@dataclass(frozen=True)
class Proof:
    """Everything that the layers of a proof look at."""

    run: ProofRun
    runs: Sequence[Ran]
    arrays: dict[str, KernelTensor]
    result: str
    func: str
    meaning: AlgorithmMeaning
    memory: LaunchMemory
    facts: Truth
    # For a result in place, the input whose memory it has.
    into: Mapping[str, str]
    # For each store to a place in an input, the store of the element of the Func that goes there.
    elements: Mapping[KernelAccess, KernelAccess]
    # Whether a person wrote the kernels, who need not put barriers where dtpoly does.
    is_by_hand: bool = False
    # Whether values are compared; if not, data are unknown numbers with names.
    is_valued: bool = True

    @property
    def is_placed(self) -> bool:
        """True if the elements of the result go to places in an input."""
        into = self.meaning.program.func(self.func).into
        return into is not None and into.at is not None

    @property
    def outputs(self) -> tuple[str, ...]:
        """Return a name for each index of an element of the result; no loop has such a name."""
        rank = len(self.arrays[self.result].shape)
        if self.is_placed:
            rank = len(self.meaning.program.func(self.func).labels)
        return tuple(f"{OUTPUT}{axis}]" for axis in range(rank))

    @property
    def is_partly(self) -> bool:
        """Return whether callers need only some elements of the result."""
        names = (self.result, self.into.get(self.result, self.result))
        return any(self.arrays[one].is_partly for one in names if one in self.arrays)

    def box(self, outputs: Sequence[str]) -> Truth:
        """Return the formula that names are the indices of an element of the output.

        An element that goes to a place outside of an input is none.
        """
        func = self.meaning.program.func(self.func)
        sizes = [self.meaning.sizes[label] for label in func.labels]
        indices = tuple(map(name, outputs))
        inside = (within(number(0), o, s) for o, s in zip(indices, sizes, strict=True))
        return both(*inside, is_written(self.run, self.meaning, self.func, indices))

    def stores(self) -> Iterator[tuple[int, Ran, KernelAccess]]:
        """Yield every access that writes the output, with its launch and the launch's number."""
        for at, ran in enumerate(self.runs):
            for access in ran.accesses:
                if access.tensor != self.result or access.kind == "load":
                    continue
                # Of a result that begins as another Func, a proof is about one of the two.
                if (access in self.elements) is self.is_placed:
                    yield at, ran, self.elements.get(access, access)


def is_of_data(proof: Proof, finding: Finding) -> bool:
    """Return whether a finding may be one of data that no caller passes.

    Where no values are compared, little is known of data, and so nothing is refuted by it.
    """
    if not any(ran.data for ran in proof.runs):
        return False
    if finding.access is not None and finding.access.data:
        return True
    return any(one.startswith(f"{MARK}.") for one in finding.where.names)
