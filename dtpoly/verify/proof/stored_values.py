"""Find the values that loads see, where kernels of the function have stored them.

`Memory.seen` replaces loads in a term by the stored values. Which store a load sees is guessed: the
one of the same iterations of the loops around both. Then the guess is proved: for every instance of
the load there is such a store, there is only one, it comes before the load, and nothing else writes
the element in between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of, without
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.term_building import applied, is_any, rounded
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Case,
    Element,
    Literal,
    Pair,
    PlaceOf,
    Stored,
    Term,
    Total,
    ValueOf,
    children,
    pair,
    put,
    rebuilt,
)
from dtpoly.verify.algebra.whole import (
    Put,
    Truth,
    Whole,
    both,
    compare,
    name,
    number,
    put_truth,
    put_whole,
    within,
)
from dtpoly.verify.proof.accumulating import Accumulation, accumulation, one_operation
from dtpoly.verify.proof.paired import beginnings
from dtpoly.verify.proof.stored_pairs import stored_pair
from dtpoly.verify.triton.access import KernelAccess, Ran
from dtpoly.verify.triton.domains import before, domain, own_names, renaming
from dtpoly.verify.triton.gathering import gathered, operation_of, part
from dtpoly.verify.triton.shifts import check_cases


class Unwritten(Exception):
    """A load may see something that no store is sure to have left there."""

    def __init__(self, access: KernelAccess, where: Region, why: str) -> None:
        super().__init__(why)
        self.access = access
        self.where = where
        self.why = why


@dataclass
class LaunchMemory:
    """The launches of a reading, in order, and what holds of every call."""

    run: ProofRun
    launches: Sequence[Ran]
    inputs: frozenset[str]
    facts: Truth
    known: dict[tuple[int, int], tuple[Case, ...]] = field(
        default_factory=dict[tuple[int, int], tuple[Case, ...]]
    )
    open: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])
    # Tensors that hold a Func, proved where it is stored (see lemmas).
    funcs: dict[str, str] = field(default_factory=dict[str, str])
    # The types of tensors.
    types: Mapping[str, str] = field(default_factory=dict[str, str])
    # The extents of tensors.
    shapes: Mapping[str, tuple[Whole, ...]] = field(default_factory=dict[str, tuple[Whole, ...]])
    # Tensors of Funcs for which `atomic` asks that their parts are added up in their own types.
    atomics: frozenset[str] = frozenset()
    done: dict[tuple[int, Term], Term] = field(default_factory=dict[tuple[int, Term], Term])

    @cached_property
    def truths(self) -> frozenset[str]:
        """Return the tensors whose elements are truths."""
        return frozenset(one for one, kind in self.types.items() if kind == kinds.BOOL)

    def seen(self, at: int, term: Term) -> Term:
        """Return a term with stored values in the place of loads from tensors that kernels write.

        `at` is the number of the launch that the term is from.
        """
        key = (at, term)
        if key not in self.done:
            self.done[key] = self._seen(at, term)
        return self.done[key]

    def _seen(self, at: int, term: Term) -> Term:
        match term:
            case Element(tensor=tensor, indices=indices, load=load, at=where) if (
                tensor not in self.inputs
            ):
                if children(term):
                    raise Unread(0, f"a load at data from '{tensor}', which a kernel writes")
                (access,) = (a for a in self.launches[at].accesses if a.load == load)
                values = dict(zip((*access.lanes, *access.loops), where, strict=True))
                found = self.cases(at, access)
                if tensor in self.funcs:
                    return Element(self.funcs[tensor], indices, 0, ())
                check_cases(found, access.line)
                return put(self.run, Stored(found), values)
            case _:
                parts = tuple(self.seen(at, one) for one in children(term))
                if isinstance(term, Element):
                    # No launch writes it, so it does not matter which load it is.
                    return rebuilt(Element(term.tensor, term.indices, 0, ()), parts)
                word, kind = split(term)
                if isinstance(term, AppliedOperation) and term.operation == "where":
                    return applied("where", parts)
                # The type may hold the value that is known now: then the rounding disappears.
                if word == "round":
                    return rounded(kind, parts[0])
                is_asked = isinstance(term, AppliedOperation) and term.operation == "ne"
                truth = is_any(parts[0], self.truths) if is_asked else None
                # Or the value may be a truth that was stored as a number and is compared with 0.
                if truth is not None and parts[1] == Literal("0"):
                    return truth
                if isinstance(term, Pair):
                    return stored_pair(self.run, *parts)
                return rebuilt(term, parts)

    def left(self, at: int, store: KernelAccess) -> Term:
        """Return what a store leaves in memory: its value as a number of the tensor's type."""
        assert store.value is not None
        return settled(self.types[store.tensor], self.seen(at, store.value))

    def cases(self, at: int, access: KernelAccess) -> tuple[Case, ...]:
        """Return the stores that a load can see, as cases over the names of the load."""
        key = (at, access.load)
        if key not in self.known:
            if key in self.open:
                raise Unread(access.line, "a value that is accumulated in memory")
            self.open.add(key)
            self.known[key] = tuple(self._cases(at, access))
            self.open.remove(key)
        return self.known[key]

    def _cases(self, at: int, load: KernelAccess) -> list[Case]:
        check_time()
        here = both(self.facts, domain(self.launches[at], load))
        found: list[Case] = []
        later = gathered(self.launches, at, load)
        begins: list[tuple[int, KernelAccess]] = []
        for other in range(at + 1):
            stores = [a for a in self.launches[other].accesses if a.tensor == load.tensor]
            if any(one.data for one in stores if one.kind != "load"):
                raise Unread(
                    load.line, f"a load from '{load.tensor}', where data decide what is stored"
                )
            stores = [a for a in stores if a.kind == "store"]
            grown = self._accumulations(other, stores)
            plain = [store for store in stores if all(store != one.store for one in grown)]
            if grown and (not plain or not one_operation(grown)):
                raise Unread(load.line, f"what is accumulated in '{load.tensor}'")
            begun = self._begun(other, load, plain, grown)
            found += [self._case(at, load, other, store, grown, begun) for store in plain]
            begins += [(other, store) for store in plain]
        self.run.about(load.line, f"loads what one store left in '{load.tensor}'")
        self._check(here, load, found, is_filled=self._is_filled(at, load, here, begins))
        self._check_last(at, load, here)
        return [(own, where, self._gathered(load, value, later)) for own, where, value in found]

    def _gathered(
        self, load: KernelAccess, begun: Term, parts: Sequence[tuple[int, KernelAccess]]
    ) -> Term:
        """Return what an element began as, with all that atomic operations added to it."""
        kind = self.types[load.tensor]
        total = begun
        for other, one in parts:
            ran = self.launches[other]
            new = renaming(self.run, ran, one)
            where = both(put_truth(domain(ran, one), new), _same(load, one, new))
            is_asked = one.tensor in self.atomics
            value = part(one, kind, is_finite=ran.launch.is_finite, is_asked=is_asked)
            body = put(self.run, self.seen(other, value), new)
            bound = tuple(str(to.plain) for to in new.values())
            operation = operation_of(one, kind, is_asked=is_asked)
            total = AppliedOperation(operation, (total, Total(operation, bound, where, body)))
        if not parts:
            return begun
        if kinds.is_whole(kind):
            return settled(kind, total)
        return total if kind == "tl.float64" else rounded(kind, total)

    def _begun(
        self,
        at: int,
        load: KernelAccess,
        plain: Sequence[KernelAccess],
        grown: Sequence[Accumulation],
    ) -> Mapping[KernelAccess, KernelAccess]:
        """Return, for each store that begins a pair, the store that begins its other part.

        It is empty if no pairs of value and place are accumulated.
        """
        tensors = {one.other.tensor if one.other else "" for one in grown}
        if tensors <= {""}:
            return {}
        ran = self.launches[at]
        others = [a for a in ran.accesses if a.tensor in tensors and a.kind != "load"]
        theirs = self._accumulations(at, others)
        rest = [a for a in others if all(a != one.store for one in theirs)]
        found = beginnings(ran, plain, rest)
        parts = {type(one.store.value) for one in grown}
        if len(tensors) + len(parts) > 2 or len(theirs) != len(grown) or found is None:
            raise Unread(load.line, f"what is accumulated in '{load.tensor}'")
        return found

    def _accumulations(self, at: int, stores: Sequence[KernelAccess]) -> list[Accumulation]:
        found = (accumulation(self.run, self.launches[at], store, self.facts) for store in stores)
        return [one for one in found if one is not None]

    def _case(
        self,
        at: int,
        load: KernelAccess,
        other: int,
        store: KernelAccess,
        grown: Sequence[Accumulation],
        begun: Mapping[KernelAccess, KernelAccess],
    ) -> Case:
        """Return the case that a load sees a given store, and all that was added to it since."""
        ran = self.launches[other]
        shared = (
            set(load.loops).intersection(store.loops) | set(ran.programs)
            if other == at
            else set[str]()
        )
        new = {one: self.run.fresh(one) for one in own_names(ran, store) if one not in shared}
        values = {old: name(to) for old, to in new.items()}
        where = both(put_truth(domain(ran, store), values), _same(load, store, values))
        time = tuple(put_whole(one, values) for one in store.time)
        if other == at:
            where = both(where, before(time, load.time))
        # The stored value is a term over the names of the store's kernel. Loads in it are replaced
        # first, then all its names are renamed together.
        value = put(self.run, self.left(other, store), values)
        is_value = any(isinstance(one.store.value, ValueOf) for one in grown)
        if store in begun:
            rest = put(self.run, self.left(other, begun[store]), values)
            value = pair(value, rest) if is_value else pair(rest, value)
        for one in grown:
            # Instances of the accumulating store in the same program, after the first store.
            more = {
                n: self.run.fresh(n) for n in own_names(ran, one.store) if n not in ran.programs
            }
            again = {n: values[n] for n in ran.programs if n in values}
            again |= {old: name(to) for old, to in more.items()}
            later = tuple(put_whole(part, again) for part in one.store.time)
            since = both(put_truth(domain(ran, one.store), again), before(time, later))
            since = both(since, _same(load, one.store, again))
            if other == at:
                since = both(since, before(later, load.time))
            for piece in one.pieces:
                body = put(self.run, self.seen(other, piece), again)
                total = Total(one.operation, tuple(more.values()), since, body)
                value = AppliedOperation(one.operation, (value, total))
        if store in begun:
            value = ValueOf(value) if is_value else PlaceOf(value)
        elif grown:
            value = settled(self.types[store.tensor], value)
        return tuple(new.values()), where, value

    def _is_filled(
        self, at: int, load: KernelAccess, here: Truth, stores: Sequence[tuple[int, KernelAccess]]
    ) -> bool:
        """Return whether launches before a load's are seen to store every element of its tensor.

        This asks of each element whether it is stored, and not of each instance of the load. So
        the loops and lanes of the load and those of the stores are in questions of their own: with
        both in one, isl may need minutes for a window that is read at sums of labels.
        """
        shape = self.shapes.get(load.tensor, ())
        if len(shape) != len(load.indices) or any(other == at for other, _ in stores):
            return False
        inside = (within(number(0), *one) for one in zip(load.indices, shape, strict=True))
        if not stores or not self.run.is_subset(set_of(here), set_of(both(*inside))):
            return False
        element = tuple(name(self.run.fresh("element")) for _ in shape)
        whole = (within(number(0), *one) for one in zip(element, shape, strict=True))
        every = set_of(both(self.facts, *whole))
        left = every
        for other, store in stores:
            new = renaming(self.run, self.launches[other], store)
            same = (
                compare("==", one, put_whole(index, new))
                for one, index in zip(element, store.indices, strict=True)
            )
            there = set_of(both(put_truth(domain(self.launches[other], store), new), *same))
            bound = [str(one.plain) for one in new.values()]
            left = left.subtract(without(every.intersect(there), bound))
        return self.run.is_empty(left)

    def _check(
        self, here: Truth, load: KernelAccess, writers: Sequence[Case], *, is_filled: bool
    ) -> None:
        domain_here = set_of(here)
        written: Region | None = None
        for bound, where, _ in writers:
            pairs = domain_here.intersect(set_of(where))
            if not self.run.is_single(pairs, bound):
                raise Unread(
                    load.line, f"a load from '{load.tensor}' that several stores may reach"
                )
            one = without(pairs, bound)
            if written is not None and not self.run.is_disjoint(written, one):
                raise Unread(
                    load.line, f"a load from '{load.tensor}' that several stores may reach"
                )
            written = one if written is None else written.union(one)
        if is_filled:
            return
        missing = domain_here if written is None else domain_here.subtract(written)
        if not self.run.is_empty(missing):
            raise Unwritten(load, missing, "nothing has been stored there")

    def _check_last(self, at: int, load: KernelAccess, here: Truth) -> None:
        """Show that the same program does not write the element after the store that is seen.

        Raises Unwritten if it may.
        """
        ran = self.launches[at]
        stores = [a for a in ran.accesses if a.tensor == load.tensor and a.kind == "store"]
        grown = self._accumulations(at, stores)
        stores = [store for store in stores if all(store != one.store for one in grown)]
        common = [one for one in load.loops if any(one in store.loops for store in stores)]
        if not stores:
            return
        for store in stores:
            # A store in another iteration than the load's comes before the store that is seen, or
            # after the load. Here it is shown that none is between the two; the order follows from
            # the loops around both.
            values = {one: name(self.run.fresh(one)) for one in (*store.loops, *store.lanes)}
            where = put_truth(domain(ran, store), values)
            time = tuple(put_whole(one, values) for one in store.time)
            same = [
                compare("==", mine, put_whole(theirs, values))
                for mine, theirs in zip(load.indices, store.indices, strict=True)
            ]
            for seen in stores:
                again = {
                    one: name(self.run.fresh(one))
                    for one in (*seen.loops, *seen.lanes)
                    if one not in common
                }
                earlier = tuple(put_whole(one, again) for one in seen.time)
                seen_here = [
                    compare("==", mine, put_whole(theirs, again))
                    for mine, theirs in zip(load.indices, seen.indices, strict=True)
                ]
                between = both(
                    here,
                    where,
                    *same,
                    put_truth(domain(ran, seen), again),
                    *seen_here,
                    before(earlier, time),
                    before(time, load.time),
                )
                left = set_of(between)
                if not self.run.is_empty(left):
                    raise Unwritten(load, left, "it has been overwritten")


def _same(load: KernelAccess, store: KernelAccess, put: Put) -> Truth:
    """Return the formula that a load and a store access the same element."""
    return both(
        *(
            compare("==", mine, put_whole(theirs, put))
            for mine, theirs in zip(load.indices, store.indices, strict=True)
        )
    )
