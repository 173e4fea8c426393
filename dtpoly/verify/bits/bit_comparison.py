"""Compare how an element is rounded in two calls that differ in one size.

The two calls have names of their own for everything that may differ: the size, all strides, all
programs and lanes. The sizes that they share have one name. `BitComparison.same` goes through two
terms side by side and asks isl, at each number, condition and index, whether the two calls agree
wherever both compute the element. Whatever it cannot show is a difference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import lanes_of
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.algebra.whole import (
    FALSE,
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    names_of,
    negation,
    number,
    one_of,
    put_truth,
    put_whole,
    within,
)
from dtpoly.verify.bits.bit_scopes import (
    AGAIN,
    BitDifference,
    BitScope,
    BitTensor,
    LoopPair,
    Seen,
    about,
    key_of,
    line_of,
    with_names,
)
from dtpoly.verify.bits.bit_terms import (
    BitChoice,
    BitElement,
    BitKernel,
    BitLoopEnd,
    BitLoopStart,
    BitMoved,
    BitNumber,
    BitOperation,
    BitTerm,
    BitTile,
    BitUnknown,
)

# So many pairs of terms are compared at most, and so many variables of two loops.
MOST_PAIRS = 20_000
MOST_VARIABLES = 64


@dataclass
class BitComparison:
    """The comparison of two stores: of the first in one call, and of the second in another.

    `rows` are the indices of the row in both calls. `shared` are names that both calls share.
    """

    run: ProofRun
    kernels: tuple[BitKernel, BitKernel]
    tensors: Mapping[str, BitTensor]
    rows: tuple[Whole, Whole]
    shared: frozenset[str]
    done: dict[tuple[object, ...], BitDifference | None] = field(
        default_factory=dict[tuple[object, ...], BitDifference | None]
    )
    # Tiles whose lanes were taken to be put together alike, by line.
    tiles: dict[int, str] = field(default_factory=dict[int, str])
    # The pairs of loops, which are kept since they tell one scope from another.
    pairs: list[LoopPair] = field(default_factory=list[LoopPair])
    names: int = 0
    # Where the last claim that was not shown may be false.
    apart: Truth = TRUE

    def fresh(self) -> str:
        """Return a name that both calls share."""
        self.names += 1
        return f"shared.{self.names}"

    def put(self, names: frozenset[str], scope: BitScope) -> dict[str, Whole]:
        """Return what names stand for in a call."""
        return {
            one: found if (found := scope.names.get(one)) is not None else self.own(one, scope.call)
            for one in names
        }

    def own(self, one: str, call: int) -> Whole:
        """Return the name of a call for a name of the kernel."""
        is_one = call == 0 or one in self.shared or one.startswith("shared.")
        return name(one if is_one else one + AGAIN)

    def whole(self, of: Whole, scope: BitScope) -> Whole:
        """Return a number as it is in a call."""
        return put_whole(of, self.put(names_of(of), scope))

    def truth(self, of: Truth, scope: BitScope) -> Truth:
        """Return a condition as it is in a call."""
        return put_truth(of, self.put(names_of(of), scope))

    def is_possible(self, where: Truth) -> bool:
        """Return whether a condition holds for some two calls."""
        return where != FALSE and not self.run.is_empty(set_of(where))

    def always(self, claim: Truth, where: Truth) -> bool:
        """Return whether a claim holds wherever a condition does."""
        if claim == TRUE:
            return True
        if not self.is_possible(both(about(claim, where), negation(claim))):
            return True
        apart = both(where, negation(claim))
        if not self.is_possible(apart):
            return True
        self.apart = apart
        return False

    def equal(self, one: Whole, other: Whole, where: Truth) -> bool:
        """Return whether two numbers are the same wherever a condition holds."""
        return one == other or self.always(compare("==", one, other), where)

    def alike(self, one: Truth, other: Truth, where: Truth) -> bool:
        """Return whether two conditions hold together wherever another one does."""
        if one == other:
            return True
        apart = one_of(both(one, negation(other)), both(other, negation(one)))
        apart = both(where, apart)
        if not self.is_possible(apart):
            return True
        self.apart = apart
        return False

    def same(self, one: Seen, other: Seen, where: Truth) -> BitDifference | None:
        """Return where two terms may differ in bits; None if they never do."""
        one, other = self.peeled(one), self.peeled(other)
        key = (one[0], key_of(one[1]), other[0], key_of(other[1]), where)
        if key not in self.done:
            if len(self.done) > MOST_PAIRS:
                return BitDifference(0, "there is too much to compare", where)
            self.done[key] = self.compared(one, other, where)
        return self.done[key]

    def peeled(self, seen: Seen) -> Seen:
        """Return a term without the numbers that are put in the place of its names."""
        term, scope = seen
        while isinstance(term, BitMoved):
            put = {old: self.whole(new, scope) for old, new in term.names}
            scope = replace(scope, names={**scope.names, **put})
            term = term.of
        return term, scope

    def compared(self, one: Seen, other: Seen, where: Truth) -> BitDifference | None:
        """Compare two terms that are no choices by place, and go into those that are."""
        for at, seen in enumerate((one, other)):
            sides = self.sides(seen)
            if sides is not None:
                return self.by_sides(sides, (one, other), at, where)
        (a, first), (b, second) = one, other
        match a, b:
            case (BitUnknown(line=line, why=why), _) | (_, BitUnknown(line=line, why=why)):
                return BitDifference(line, f"{why} is not followed", where)
            case BitNumber(), BitNumber():
                return self.numbers_differ(a, b, (first, second), where)
            case BitElement(), BitElement():
                return self.elements_differ(a, b, (first, second), where)
            case BitOperation(), BitOperation():
                if a.word != b.word or len(a.operands) != len(b.operands):
                    why = f"'{a.word}' in one call, '{b.word}' in the other"
                    return BitDifference(a.line, why, where)
                pairs = zip(a.operands, b.operands, strict=True)
                return self.all_same(pairs, (first, second), where)
            case BitTile(), BitTile():
                return self.tiles_differ(a, b, (first, second), where)
            case ((BitLoopStart() | BitLoopEnd()), (BitLoopStart() | BitLoopEnd())):
                return self.loops_differ((a, first), (b, second), where)
            case _:
                line = line_of(a) or line_of(b)
                return BitDifference(line, "one call rounds here, and the other does not", where)

    def all_same(
        self,
        pairs: Iterable[tuple[BitTerm, BitTerm]],
        scopes: tuple[BitScope, BitScope],
        where: Truth,
    ) -> BitDifference | None:
        """Compare several pairs of terms in two scopes."""
        for a, b in pairs:
            found = self.same((a, scopes[0]), (b, scopes[1]), where)
            if found is not None:
                return found
        return None

    def sides(self, seen: Seen) -> tuple[Truth, Seen, Seen] | None:
        """Return a choice that does not depend on data: its condition and both sides."""
        term, scope = seen
        match term:
            case BitChoice(condition=condition, yes=yes, no=no):
                return self.truth(condition, scope), (yes, scope), (no, scope)
            case BitOperation(word="where", operands=(condition, yes, no)):
                found, inner = self.peeled((condition, scope))
                if not isinstance(found, BitNumber):
                    return None
                item = found.item
                truth = compare("!=", item, number(0)) if isinstance(item, Whole) else item
                return self.truth(truth, inner), (yes, scope), (no, scope)
            case _:
                return None

    def by_sides(
        self,
        sides: tuple[Truth, Seen, Seen],
        pair: tuple[Seen, Seen],
        at: int,
        where: Truth,
    ) -> BitDifference | None:
        """Compare each side of a choice where its condition holds."""
        condition, yes, no = sides
        for holds, side in ((condition, yes), (negation(condition), no)):
            here = both(where, holds)
            if here != where and not self.is_possible(here):
                continue
            one, other = (side, pair[1]) if at == 0 else (pair[0], side)
            found = self.same(one, other, here)
            if found is not None:
                return found
        return None

    def numbers_differ(
        self, a: BitNumber, b: BitNumber, scopes: tuple[BitScope, BitScope], where: Truth
    ) -> BitDifference | None:
        """Compare two numbers that follow from places and sizes."""
        first, second = a.item, b.item
        if isinstance(first, Whole) and isinstance(second, Whole):
            numbers = self.whole(first, scopes[0]), self.whole(second, scopes[1])
            is_same = a.kind == b.kind and self.equal(*numbers, where)
        elif isinstance(first, Whole) or isinstance(second, Whole):
            is_same = False
        else:
            truths = self.truth(first, scopes[0]), self.truth(second, scopes[1])
            is_same = self.alike(*truths, where)
        if is_same:
            return None
        return BitDifference(0, "a number that is computed with depends on the size", self.apart)

    def elements_differ(
        self, a: BitElement, b: BitElement, scopes: tuple[BitScope, BitScope], where: Truth
    ) -> BitDifference | None:
        """Compare two elements that are loaded."""
        if a.tensor != b.tensor:
            why = f"'{a.tensor}' in one call, '{b.tensor}' in the other"
            return BitDifference(a.line, why, where)
        known = self.tensors[a.tensor]
        if known.doubt:
            return BitDifference(a.line, known.doubt, where)
        for axis, (one, other) in enumerate(zip(a.indices, b.indices, strict=True)):
            first, second = self.whole(one, scopes[0]), self.whole(other, scopes[1])
            if axis in known.rows:
                rows = zip((first, second), self.rows, strict=True)
                if not all(self.equal(index, row, where) for index, row in rows):
                    why = f"axis {axis} of '{a.tensor}' is loaded at another row"
                    return BitDifference(a.line, why, self.apart)
            elif not self.equal(first, second, where):
                why = f"which element along axis {axis} of '{a.tensor}' is loaded"
                return BitDifference(a.line, f"{why} depends on the size or the place", self.apart)
        return None

    def tiles_differ(
        self, a: BitTile, b: BitTile, scopes: tuple[BitScope, BitScope], where: Truth
    ) -> BitDifference | None:
        """Compare two numbers that are made of all lanes along axes of tiles."""
        extents = [self.kernels[at].extents for at in (0, 1)]
        if a.word != b.word or len(a.inside) != len(b.inside) or len(a.bound) != len(b.bound):
            return BitDifference(a.line, "lanes are put together in two ways", where)
        if not self.are_laid_out_alike():
            why = "kernels put the lanes of a tile together, whose warps or stages are not the same"
            return BitDifference(a.line, why, where)
        for one, other in zip(a.shape, b.shape, strict=True):
            if not self.equal(self.whole(one, scopes[0]), self.whole(other, scopes[1]), where):
                why = "the number of lanes of a tile that is summed depends on the size"
                return BitDifference(a.line, why, self.apart)
        self.tiles.setdefault(a.line, a.word)
        found = self.all_same(zip(a.beside, b.beside, strict=True), scopes, where)
        if found is not None:
            return found
        inner = [dict(scope.names) for scope in scopes]
        for lane, lane_too in zip(a.bound, b.bound, strict=True):
            shared = name(self.fresh())
            lengths = [self.whole(extents[0][lane], scopes[0])]
            lengths.append(self.whole(extents[1][lane_too], scopes[1]))
            if not self.equal(lengths[0], lengths[1], where):
                return BitDifference(a.line, "two tiles have axes of other lengths", where)
            where = both(where, within(number(0), shared, lengths[0]))
            inner[0][lane], inner[1][lane_too] = shared, shared
        within_tile = replace(scopes[0], names=inner[0]), replace(scopes[1], names=inner[1])
        return self.all_same(zip(a.inside, b.inside, strict=True), within_tile, where)

    def are_laid_out_alike(self) -> bool:
        """Return whether both kernels spread a tile over as many warps."""
        one, other = (kernel.ran.launch for kernel in self.kernels)
        if self.kernels[0] is self.kernels[1]:
            return True
        return one.warps is not None and (one.warps, one.stages) == (other.warps, other.stages)

    def loops_differ(
        self,
        one: tuple[BitLoopStart | BitLoopEnd, BitScope],
        other: tuple[BitLoopStart | BitLoopEnd, BitScope],
        where: Truth,
    ) -> BitDifference | None:
        """Compare what two variables hold at the end of loops, or when an iteration begins."""
        (a, first), (b, second) = one, other
        loops = self.kernels[0].loops[a.loop], self.kernels[1].loops[b.loop]
        pair = first.pairs.get(a.loop)
        is_inside = isinstance(a, BitLoopStart) and isinstance(b, BitLoopStart)
        if is_inside and pair is not None and pair is second.pairs.get(b.loop):
            self.asked_for(pair, a, b, (first, second), where)
            return None
        if type(a) is not type(b) or (is_inside and (a.loop in first.pairs)):
            return BitDifference(loops[0].line, "a loop that only one call runs", where)
        pair = LoopPair(loops, {})
        self.pairs.append(pair)
        shared = {one: name(self.fresh()) for one in loops[0].ranges}
        if len(loops[0].ranges) != len(loops[1].ranges):
            return BitDifference(loops[0].line, "two loops that count in two ways", where)
        again = dict(zip(loops[1].ranges, shared.values(), strict=True))
        scopes = (
            self.in_loop(first, pair, a.loop, shared),
            self.in_loop(second, pair, b.loop, again),
        )
        ranges = [
            self.truth(both(*loop.ranges.values()), scope)
            for loop, scope in zip(loops, scopes, strict=True)
        ]
        if is_inside:
            counters = [
                (self.whole(name(own), scope), shared[mine])
                for scope, keys in ((first, loops[0].ranges), (second, loops[1].ranges))
                for own, mine in zip(keys, shared, strict=True)
            ]
            if len(shared) != 1 or not self.equal(counters[0][0], counters[1][0], where):
                why = "how many iterations came before depends on the size or the place"
                return BitDifference(loops[0].line, why, self.apart)
            ranges = [
                both(truth, compare("<", inner, at))
                for truth, (at, inner) in zip(ranges, counters, strict=True)
            ]
        if not self.alike(ranges[0], ranges[1], where):
            why = "how often a loop runs, or from where, depends on the size or the place"
            return BitDifference(loops[0].line, why, self.apart)
        self.asked_for(pair, a, b, (first, second), where)
        return self.variables_differ(pair, scopes, (first, second), ranges[0], where)

    def in_loop(
        self, scope: BitScope, pair: LoopPair, key: str, counters: Mapping[str, Whole]
    ) -> BitScope:
        """Return the scope of an iteration of a loop."""
        return replace(scope, names={**scope.names, **counters}, pairs={**scope.pairs, key: pair})

    def asked_for(
        self,
        pair: LoopPair,
        a: BitLoopStart | BitLoopEnd,
        b: BitLoopStart | BitLoopEnd,
        scopes: tuple[BitScope, BitScope],
        where: Truth,
    ) -> None:
        """Note that two variables must be the same at the start of each iteration, at some lanes.

        Lanes that are the same in both calls stand for all lanes, so that the question is asked
        only once. Any others are kept.
        """
        lanes = [
            tuple(self.whole(lane, scope) for lane in one.lanes)
            for one, scope in zip((a, b), scopes, strict=True)
        ]
        if len(lanes[0]) != len(lanes[1]):
            pair.asked[("shapes", a.variable, b.variable)] = (
                a.variable,
                b.variable,
                lanes[0],
                lanes[1],
            )
            return
        key: list[object] = [a.variable, b.variable]
        for one, other in zip(*lanes, strict=True):
            key.append("any" if one == other else (one, other))
        pair.asked.setdefault(tuple(key), (a.variable, b.variable, lanes[0], lanes[1]))

    def variables_differ(
        self,
        pair: LoopPair,
        inner: tuple[BitScope, BitScope],
        outer: tuple[BitScope, BitScope],
        here: Truth,
        where: Truth,
    ) -> BitDifference | None:
        """Compare by induction: before the loop, and after an iteration that began alike."""
        done = set[tuple[object, ...]]()
        while left := [one for one in pair.asked if one not in done]:
            if len(done) > MOST_VARIABLES:
                return BitDifference(pair.loops[0].line, "a loop has too many variables", where)
            key = left[0]
            done.add(key)
            found = self.variable_differs(pair, pair.asked[key], inner, outer, (here, where))
            if found is not None:
                return found
        return None

    def variable_differs(
        self,
        pair: LoopPair,
        asked: tuple[str, str, tuple[Whole, ...], tuple[Whole, ...]],
        inner: tuple[BitScope, BitScope],
        outer: tuple[BitScope, BitScope],
        conditions: tuple[Truth, Truth],
    ) -> BitDifference | None:
        """Compare one variable of two loops: its first value, and what an iteration makes of it."""
        a, b, lanes, lanes_too = asked
        here, where = conditions
        line = pair.loops[0].line
        first = pair.loops[0].first.get(a), pair.loops[1].first.get(b)
        last = pair.loops[0].last.get(a), pair.loops[1].last.get(b)
        if first[0] is None or first[1] is None or last[0] is None or last[1] is None:
            return BitDifference(line, f"'{a}' is not followed through a loop", where)
        own = lanes_of(first[0].axes), lanes_of(first[1].axes)
        if not len(own[0]) == len(own[1]) == len(lanes) == len(lanes_too):
            return BitDifference(line, f"'{a}' changes its shape in a loop", where)
        put: tuple[dict[str, Whole], dict[str, Whole]] = ({}, {})
        for mine, too, one, other in zip(*own, lanes, lanes_too, strict=True):
            found, also = one, other
            if one == other:
                found = also = name(self.fresh())
                length = self.whole(self.kernels[0].extents[mine], outer[0])
                length_too = self.whole(self.kernels[1].extents[too], outer[1])
                if not self.equal(length, length_too, where):
                    return BitDifference(line, f"the shape of '{a}' depends on the size", where)
                where = both(where, within(number(0), found, length))
            put[0][mine], put[1][too] = found, also
        before = with_names(outer, put)
        after = with_names(inner, put)
        different = self.same((first[0].term, before[0]), (first[1].term, before[1]), where)
        if different is not None:
            return different
        where = both(where, here)
        if not self.is_possible(where):
            return None
        return self.same((last[0].term, after[0]), (last[1].term, after[1]), where)
