"""Prove that the bits of a function's results do not depend on the size of a label.

Each tensor that the function makes is looked at in the order of the launches. It is made of inputs
and of tensors before it, of which this is known by then. See docs/same-bits.md for the theorem.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import combinations_with_replacement
from typing import Any

import islpy as isl

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.algorithm_terms import Unsaid
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_limits import limited
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import NotAffine, set_of
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.algebra.whole import (
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    put_truth,
    put_whole,
)
from dtpoly.verify.bits.bit_comparison import (
    AGAIN,
    BitComparison,
    BitDifference,
    BitScope,
    BitTensor,
)
from dtpoly.verify.bits.bit_reading import read_kernel
from dtpoly.verify.bits.bit_report import BitsFound, BitsVerdict
from dtpoly.verify.bits.bit_terms import BitKernel, BitStore
from dtpoly.verify.bits.watched_run import watched
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.plan.line_expressions import power_name
from dtpoly.verify.plan.numbers import lanes_name
from dtpoly.verify.proof.findings import Proof
from dtpoly.verify.proof.verify import CONFUSED, proof_of, results_of_function, told
from dtpoly.verify.triton.access import KernelAccess
from dtpoly.verify.triton.domains import domain
from dtpoly.verify.triton.unit.unit import Unit

SECONDS = 60.0


def bits_of(
    program: Program, text: str, func: str, label: str, seconds: float = SECONDS
) -> BitsFound:
    """Prove what can be proved of one function and one label. It never raises."""
    began = time.monotonic()
    found = BitsFound(func, label, BitsVerdict.UNKNOWN)
    try:
        with limited(seconds):
            file = file_of(program, text)
            results = results_of_function(program, file, func)
            answers = [_answered(question_of(program, file, func, one, label)) for one in results]
    except (Unread, *CONFUSED, NotAffine, Unsaid, OverBudgetError, RecursionError, isl.Error) as e:
        return replace(found, **_why(*told(e)), seconds=time.monotonic() - began)
    worst = next((one for one in answers if one.difference is not None), answers[0])
    if worst.difference is not None:
        difference = worst.difference
        found = replace(found, line=difference.line, why=difference.why, where=difference.where)
        return replace(found, seconds=time.monotonic() - began)
    fixed = next((one for one in answers if one.at_places is not None), None)
    tiles = {line: word for one in answers for line, word in one.tiles.items()}
    return BitsFound(
        func,
        label,
        BitsVerdict.PROVED,
        line=0 if fixed is None or fixed.at_places is None else fixed.at_places.line,
        why="" if fixed is None or fixed.at_places is None else fixed.at_places.why,
        is_for_places=fixed is None,
        assumed=tuple(f"line {line}: {word}" for line, word in sorted(tiles.items())),
        seconds=time.monotonic() - began,
    )


def _why(line: int, why: str) -> dict[str, Any]:
    return {"line": line, "why": why}


@dataclass(frozen=True)
class BitQuestion:
    """All launches of a function as they round, and the size that may differ between two calls."""

    run: ProofRun
    proof: Proof
    kernels: Sequence[BitKernel]
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


@dataclass(frozen=True)
class BitAnswer:
    """The answer for one result: a difference, if there may be one.

    `at_places` is a difference that there may be only for rows that stand at another place in the
    second call.
    """

    tiles: dict[int, str]
    difference: BitDifference | None = None
    at_places: BitDifference | None = None


def question_of(
    program: Program, file: Unit, func: str, result: str, label: str
) -> BitQuestion:
    """Read a function and all its kernels. Raises Unread."""
    run = ProofRun(is_empty)
    reading, proof = proof_of(run, program, file, func, result)
    size = proof.meaning.sizes.get(label)
    if size is None or size.plain is None:
        raise Unread(0, f"the size of '{label}' is no size of its own")
    kernels: list[BitKernel] = []
    for launch in reading.launches:
        notes, ran = watched(run, file, proof.arrays, launch, both(*reading.facts))
        kernels.append(read_kernel(notes, ran))
    # All else that the two calls share follows from the sizes of the other labels. A shape must not
    # be shared by itself: it may be the size that differs under another name.
    others = [of for one, of in proof.meaning.sizes.items() if one != label]
    shared = {one for of in others for one in names_of(of)} - {size.plain}
    apart = [of for of in others if names_of(of) <= shared]
    powers = {named(of) for of in apart for named in (lanes_name, power_name)}
    question = BitQuestion(run, proof, kernels, size.plain, frozenset(shared | powers))
    calls = both(*(question.as_call(proof.facts, call) for call in (0, 1)))
    differ = compare("!=", size, question.index(size, 1))
    if run.is_empty(set_of(both(calls, differ))):
        raise Unread(0, f"the size of '{label}' follows from other sizes")
    return question


def _answered(question: BitQuestion) -> BitAnswer:
    """Answer for rows at any place; if that fails, for rows that stay where they are."""
    tiles: dict[int, str] = {}
    moved = BitsOfTensors(question, is_moved=True, tiles=tiles).difference()
    if moved is None:
        return BitAnswer(tiles)
    tiles = {}
    still = BitsOfTensors(question, is_moved=False, tiles=tiles).difference()
    return BitAnswer(tiles, moved if still else None, moved)


@dataclass
class BitsOfTensors:
    """The comparison of all tensors that a function stores, in the order of its launches."""

    question: BitQuestion
    is_moved: bool
    tiles: dict[int, str]
    different: dict[str, BitDifference] = field(default_factory=dict[str, BitDifference])

    @property
    def stores(self) -> dict[str, list[tuple[int, BitStore]]]:
        """Return the stores to each tensor, each with the number of its launch."""
        found: dict[str, list[tuple[int, BitStore]]] = {}
        for at, kernel in enumerate(self.question.kernels):
            for store in kernel.stores:
                found.setdefault(store.access.tensor, []).append((at, store))
        return found

    def difference(self) -> BitDifference | None:
        """Return where the result may differ; None if it never does."""
        stores = self.stores
        for one in sorted(stores, key=lambda tensor: max(at for at, _ in stores[tensor])):
            found = self.tensor_differs(stores[one])
            if found is not None:
                self.different[one] = found
        result = self.question.proof.result
        if result not in stores:
            return BitDifference(0, "no store of the result was read", TRUE)
        return self.different.get(result)

    def tensor_differs(self, stores: Sequence[tuple[int, BitStore]]) -> BitDifference | None:
        """Compare each store with each: another one may store the element in the second call."""
        for one, other in combinations_with_replacement(stores, 2):
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
        comparison = BitComparison(
            question.run,
            (question.kernels[launches[0]], question.kernels[launches[1]]),
            {tensor: self.tensor(tensor, launches) for tensor in question.proof.arrays},
            (rows[0], rows[1]),
            question.shared,
            tiles=self.tiles,
        )
        scopes = [BitScope(call, {}, {}) for call in (0, 1)]
        found = comparison.same((one[1].term, scopes[0]), (other[1].term, scopes[1]), where)
        if found is not None and not found.line:
            return replace(found, line=accesses[0].line)
        return found

    def happens(self, launch: int, access: KernelAccess, call: int) -> Truth:
        """Return where a store happens in a call."""
        question = self.question
        ran = question.kernels[launch].ran
        return question.as_call(both(question.proof.facts, domain(ran, access)), call)

    def tensor(self, one: str, launches: tuple[int, int]) -> BitTensor:
        """Return what two launches, of two calls, may take for granted of a tensor."""
        array = self.question.proof.arrays[one]
        size = name(self.question.size)
        calls = set_of(self.question.proof.facts)
        rows = tuple(
            axis
            for axis, extent in enumerate(array.shape)
            if extent == size or self.question.run.equal(extent, size, calls)
        )
        versions = {self.version(one, at) for at in launches}
        others = (extent for axis, extent in enumerate(array.shape) if axis not in rows)
        if any(self.question.size in names_of(extent) for extent in others):
            return BitTensor(rows, f"the shape of '{one}' depends on the size in another way")
        if len(versions) > 1:
            return BitTensor(rows, f"'{one}' is loaded before and after it is stored")
        (version,) = versions
        return BitTensor(rows, version if version not in ("old", "new") else "")

    def version(self, one: str, launch: int) -> str:
        """Return whether a launch finds the values of before or those that were stored.

        Otherwise it is a text that says why the bits of the tensor are not known there.
        """
        stores = self.stores.get(one)
        is_input = one in {tensor.name for tensor in self.question.proof.meaning.program.tensors}
        is_input = is_input or one in self.question.proof.into.values()
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
