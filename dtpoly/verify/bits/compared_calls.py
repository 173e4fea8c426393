"""Compare all that two calls of a function store, to show that an element has the same bits.

Each tensor that the function makes is looked at in the order of the launches. It is made of inputs
and of tensors before it, of which this is known by then. See docs/same-bits.md for the theorem.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, replace
from itertools import combinations_with_replacement, product

from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.algebra.whole import (
    TRUE,
    All,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    put_truth,
    put_whole,
)
from dtpoly.verify.bits.bit_comparison import BitComparison
from dtpoly.verify.bits.bit_reading import read_kernel
from dtpoly.verify.bits.bit_scopes import AGAIN, BitDifference, BitScope, BitTensor
from dtpoly.verify.bits.bit_terms import BitKernel, BitStore
from dtpoly.verify.bits.watched_run import watched
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.plan.line_expressions import power_name
from dtpoly.verify.plan.numbers import lanes_name
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.verify import proof_of
from dtpoly.verify.triton.access import KernelAccess
from dtpoly.verify.triton.domains import domain

SECONDS = 60.0


@dataclass(frozen=True)
class BitsRead:
    """A function of a file as it rounds: its proof, and its launches."""

    proof: Proof
    kernels: Sequence[BitKernel]

    @property
    def stores(self) -> dict[str, list[tuple[int, BitStore]]]:
        """Return the stores to each tensor, each with the number of its launch."""
        found: dict[str, list[tuple[int, BitStore]]] = {}
        for at, kernel in enumerate(self.kernels):
            for store in kernel.stores:
                found.setdefault(store.access.tensor, []).append((at, store))
        return found

    @property
    def inputs(self) -> set[str]:
        """Return the names of the tensors that the caller passes."""
        mine = {tensor.name for tensor in self.proof.meaning.program.tensors}
        return mine | {*self.proof.into.values()}


@dataclass(frozen=True)
class BitQuestion:
    """Two calls that are compared: the function of each, and the names that both calls share.

    `size` is the size that may differ between the calls; it is empty if none does.
    """

    run: ProofRun
    sides: tuple[BitsRead, BitsRead]
    size: str
    shared: frozenset[str]

    def as_call(self, of: Truth, call: int) -> Truth:
        """Return a condition in the names of one of the two calls."""
        put = {one: name(one + AGAIN) for one in names_of(of) if one not in self.shared}
        return put_truth(of, put) if call else of

    def index(self, of: Whole, call: int) -> Whole:
        """Return a number in the names of one of the two calls."""
        put = {one: name(one + AGAIN) for one in names_of(of) if one not in self.shared}
        return put_whole(of, put) if call else of

    @property
    def facts(self) -> Truth:
        """Return what holds of the two calls."""
        return both(*(self.as_call(self.sides[at].proof.facts, at) for at in (0, 1)))


def bits_read(run: ProofRun, program: Program, text: str, func: str, result: str) -> BitsRead:
    """Read a function and all its kernels. Raises Unread."""
    file = file_of(program, text)
    reading, proof = proof_of(run, program, file, func, result)
    if reading.panels is not None:
        raise Unread(0, "a function that computes its results in panels")
    kernels: list[BitKernel] = []
    for launch in reading.launches:
        notes, ran = watched(run, file, proof.arrays, launch, both(*reading.facts))
        kernels.append(read_kernel(notes, ran))
    return BitsRead(proof, kernels)


def names_shared(proof: Proof, label: str) -> frozenset[str]:
    """Return the names that two calls share if their sizes differ at most in one label.

    All else that they share follows from these sizes. A shape must not be shared by itself: it may
    be the size that differs under another name.
    """
    sizes = proof.meaning.sizes
    own = names_of(sizes[label]) if label else frozenset[str]()
    others = [of for one, of in sizes.items() if one != label]
    shared = {one for of in others for one in names_of(of)} - own
    shared |= _free_shapes(proof, own, shared)
    apart = [of for of in others if names_of(of) <= shared]
    return frozenset(shared | {named(of) for of in apart for named in (lanes_name, power_name)})


def _free_shapes(proof: Proof, own: AbstractSet[str], shared: AbstractSet[str]) -> set[str]:
    """Return the shapes of inputs that no fact ties to the size that differs.

    Such an input is the same tensor in both calls. A fact about two names ties them, also by way of
    others, except for the sizes that the two calls share anyway.
    """
    facts = proof.facts.parts if isinstance(proof.facts, All) else (proof.facts,)
    tied, count = set(own), 0
    while len(tied) > count:
        count = len(tied)
        for fact in facts:
            names = names_of(fact) - shared
            if names & tied:
                tied |= names
    inputs = {tensor.name for tensor in proof.meaning.program.tensors}
    shapes = [
        frozenset[str]().union(*map(names_of, array.shape))
        for array in proof.arrays.values()
        if array.name in inputs
    ]
    return {one for names in shapes if not names & tied for one in names}


def question_of(program: Program, text: str, func: str, result: str, label: str) -> BitQuestion:
    """Ask about two calls of one function that differ in the size of a label. Raises Unread."""
    run = ProofRun(is_empty)
    read = bits_read(run, program, text, func, result)
    size = read.proof.meaning.sizes.get(label)
    if size is None or size.plain is None:
        raise Unread(0, f"the size of '{label}' is no size of its own")
    question = BitQuestion(run, (read, read), size.plain, names_shared(read.proof, label))
    differ = compare("!=", size, question.index(size, 1))
    if run.is_empty(set_of(both(question.facts, differ))):
        raise Unread(0, f"the size of '{label}' follows from other sizes")
    return question


@dataclass
class BitsOfTensors:
    """The comparison of all tensors that functions store, in the order of their launches.

    If the row `is_moved`, it may stand at another place in the second call.
    """

    question: BitQuestion
    is_moved: bool
    tiles: dict[int, str] = field(default_factory=dict[int, str])
    different: dict[str, BitDifference] = field(default_factory=dict[str, BitDifference])

    def difference(self) -> BitDifference | None:
        """Return where the result may differ; None if it never does."""
        first, second = (side.stores for side in self.question.sides)
        result = self.question.sides[0].proof.result
        if result not in first or result not in second:
            return BitDifference(0, "no store of the result was read", TRUE)
        last = {one: max(at for at, _ in of) for one, of in first.items()}
        for one in sorted(last, key=lambda tensor: last[tensor]):
            found = self.tensor_differs(first[one], second.get(one, ()))
            if found is not None:
                self.different[one] = found
        return self.different.get(result)

    def tensor_differs(
        self, stores: Sequence[tuple[int, BitStore]], others: Sequence[tuple[int, BitStore]]
    ) -> BitDifference | None:
        """Compare each store with each: another one may store the element in the second call."""
        is_same = self.question.sides[0] is self.question.sides[1]
        pairs = combinations_with_replacement(stores, 2) if is_same else product(stores, others)
        for one, other in pairs:
            found = self.stores_differ(one, other)
            if found is not None:
                return found
        return None

    def stores_differ(
        self, one: tuple[int, BitStore], other: tuple[int, BitStore]
    ) -> BitDifference | None:
        """Compare what two stores leave at an element, the second one in another call."""
        question = self.question
        launches = one[0], other[0]
        accesses = one[1].access, other[1].access
        known = self.tensor(accesses[0].tensor, launches)
        meet: list[Truth] = []
        rows: list[Whole] = [name("no row of this call"), name("no row of that call")]
        for axis, (a, b) in enumerate(zip(accesses[0].indices, accesses[1].indices, strict=True)):
            first, second = question.index(a, 0), question.index(b, 1)
            if axis in known.rows:
                rows = [first, second]
            if axis not in known.rows or not self.is_moved:
                meet.append(compare("==", first, second))
        where = both(*meet, *(self.happens(launches[at], accesses[at], at) for at in (0, 1)))
        if question.run.is_empty(set_of(where)):
            return None
        for access in accesses:
            if access.kind != "store":
                why = "the order of atomic operations is not determined"
                return BitDifference(access.line, why, where)
        kernels = [side.kernels[at] for side, at in zip(question.sides, launches, strict=True)]
        comparison = BitComparison(
            question.run,
            (kernels[0], kernels[1]),
            {tensor: self.tensor(tensor, launches) for tensor in question.sides[0].proof.arrays},
            (rows[0], rows[1]),
            question.shared,
            tiles=self.tiles,
        )
        scopes = BitScope(0, {}, {}), BitScope(1, {}, {})
        found = comparison.same((one[1].term, scopes[0]), (other[1].term, scopes[1]), where)
        if found is None:
            return None
        return replace(found, line=found.line or accesses[0].line, rows=(rows[0], rows[1]))

    def happens(self, launch: int, access: KernelAccess, call: int) -> Truth:
        """Return where a store happens in a call."""
        side = self.question.sides[call]
        ran = side.kernels[launch].ran
        return self.question.as_call(both(side.proof.facts, domain(ran, access)), call)

    def tensor(self, one: str, launches: tuple[int, int]) -> BitTensor:
        """Return what two launches, of two calls, may take for granted of a tensor."""
        question = self.question
        if any(one not in side.proof.arrays for side in question.sides):
            return BitTensor((), f"only one of two functions has '{one}'")
        array = question.sides[0].proof.arrays[one]
        size, calls = name(question.size), set_of(question.sides[0].proof.facts)
        rows = tuple(
            axis
            for axis, extent in enumerate(array.shape)
            if question.size and (extent == size or question.run.equal(extent, size, calls))
        )
        others = (extent for axis, extent in enumerate(array.shape) if axis not in rows)
        if any(question.size in names_of(extent) for extent in others):
            return BitTensor(rows, f"the shape of '{one}' depends on the size in another way")
        versions = {self.version(one, at, call) for call, at in enumerate(launches)}
        if len(versions) > 1:
            return BitTensor(rows, f"'{one}' is loaded before and after it is stored")
        (version,) = versions
        return BitTensor(rows, version if version not in ("old", "new") else "")

    def version(self, one: str, launch: int, call: int) -> str:
        """Return whether a launch finds the values of before or those that were stored.

        Otherwise it is a text that says why the bits of the tensor are not known there.
        """
        side = self.question.sides[call]
        stores = side.stores.get(one)
        is_input = one in side.inputs
        if stores is None:
            return "old" if is_input else f"'{one}' is loaded, and nothing stores it"
        when = [at for at, _ in stores]
        if launch <= min(when) and is_input:
            return "old"
        if launch <= max(when):
            return f"'{one}' is loaded by a launch that stores it"
        if one in self.different:
            return f"the bits of '{one}' may differ: {self.different[one].why}"
        return "new"
