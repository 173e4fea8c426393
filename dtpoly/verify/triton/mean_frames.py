"""Recognise sums of powers of deviations that each iteration moves to a new mean (lemma 27).

In `s = s + n * (c_new - c)**2 + (the sum of (t - c_new)**2)`, c is the mean of the n elements so
far and c_new that with the tile of this iteration. So after the loop s is the sum of the squared
deviations of all elements from the last mean. That sum is what the variable is read as. A sum of
cubes moves by the sum of squares, too, which the loop must keep beside it. Nothing here needs trust
but `_update` and what it calls: a value that is not recognised is lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_terms import ZERO
from dtpoly.verify.algebra.proof_run import Lemma, ProofRun
from dtpoly.verify.algebra.regions import NotAffine, Region, same, set_of, without
from dtpoly.verify.algebra.term_polynomials import (
    Polynomial,
    named,
    plus,
    polynomial_of,
    put_polynomial,
    said_polynomial,
)
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Carried,
    Choose,
    Element,
    Given,
    Place,
    Term,
    Total,
    names,
    put,
    swapped,
    walk,
)
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
    within,
)
from dtpoly.verify.triton.mean_moves import (
    DEVIATION,
    NEW,
    OF_ELEMENT,
    OF_NEW,
    OLD,
    moves_of,
)

# Symbols for the sum of the elements before an iteration and after it, and for an element.
OLD_SUM, NEW_SUM = Given("sum before", False), Given("sum after", False)
ELEMENT = Given("element", False)
OF_MEANS = "a sum of squared deviations is moved from one mean to another"
OF_POWERS = "a sum of higher powers of deviations is moved from one mean to another"
SQUARES = 2
# What other sums of a loop sum, by symbols for them: powers of deviations of so many elements.
Lower = Mapping[Given, Callable[[Whole], Polynomial | None]]


@dataclass(frozen=True, slots=True)
class LowerSum:
    """A sum of powers of deviations that a loop keeps, and of how many elements in an iteration."""

    powers: Polynomial
    before: Whole


@dataclass(frozen=True, slots=True)
class SumOfSums:
    """A sum, maybe of sums, as one: over all values of the names for which the domain holds."""

    bound: tuple[str, ...]
    domain: Truth
    body: Term


@dataclass(frozen=True, slots=True)
class MeanUpdate:
    """An iteration takes a tile into a sum, and into a sum of powers of deviations.

    `part` is what it adds to the second one, with NEW for the mean; `before` and `until` are the
    numbers of elements without the tile and with it.
    """

    part: Term
    before: Whole
    until: Whole
    powers: Polynomial
    moves: Polynomial
    tile: SumOfSums

    def looks_at(self) -> frozenset[str]:
        """Return the names that the update depends on, without those of the tile's elements."""
        of_tile = names_of(self.tile.domain) - {*self.tile.bound}
        return names(self.part) | names_of(self.before) | names_of(self.until) | of_tile


@dataclass(frozen=True, slots=True)
class SumUpdate:
    """How a sum of elements changes: what it was, and what it is with one more tile."""

    old: Term
    new: Term

    @property
    def tile(self) -> Term | None:
        """Return the sum of the elements that come in; None if something else happens."""
        match self.new:
            case AppliedOperation(operation="add", operands=(one, other)) if one == self.old:
                return other
            case AppliedOperation(operation="add", operands=(other, one)) if one == self.old:
                return other
            case _:
                return None


def moved_in_loop(
    run: ProofRun,
    term: Term,
    me: Carried,
    total: SumUpdate,
    loop: tuple[str, Truth, Region, AbstractSet[str]],
    others: Mapping[Carried, LowerSum],
) -> MeanUpdate | None:
    """Return how an iteration updates a sum of powers of deviations from a running mean, or None.

    `loop` has the counter, its range, all that is known in an iteration, and the names that may
    mean something else in each. Both sums must begin with 0, and `total` must be a sum that is
    recognised; so must `others`, sums of powers of deviations from its mean.
    """
    counter, here, known, moving = loop
    lower: dict[Given, Callable[[Whole], Polynomial | None]] = {}
    for one, of in others.items():
        symbol = _symbol(len(lower))
        term = swapped(term, one, symbol)
        lower[symbol] = partial(_as_many, run, of, known)
    try:
        found = _update(run, term, me, total, known, lower)
        if found is None or found.looks_at() & moving - {counter}:
            return None
        earlier = run.fresh(counter)
        values = {counter: name(earlier)}
        tile = found.tile
        lanes = {one: run.fresh(one) for one in tile.bound}
        inside = put_truth(tile.domain, values | {old: name(to) for old, to in lanes.items()})
        comes = compare("<", name(earlier), name(counter))
        bound = (earlier, *lanes.values())
        body = put(run, tile.body, values | {old: name(to) for old, to in lanes.items()})
        all_before = SumOfSums(bound, both(put_truth(here, values), comes, inside), body)
        if not _is_count(run, all_before, number(0), found.before, known):
            return None
    except NotAffine:
        return None
    _take(run, me, found)
    return found


def _symbol(number: int) -> Given:
    return Given(f"lower sum {number}", False)


def _as_many(run: ProofRun, of: LowerSum, known: Region, before: Whole) -> Polynomial | None:
    """Return what a sum sums, if it is one of so many elements."""
    return of.powers if run.equal(of.before, before, known) else None


def moved_in_branch(
    run: ProofRun,
    terms: tuple[Term, Term],
    total: SumUpdate,
    me: Carried,
    known: Region,
    others: Sequence[Term],
) -> Term | None:
    """Return what a sum of powers of deviations is after a branch that takes a tile in, or None.

    `terms` are the values before and after. Before the branch it must be such a sum already.
    `others` are values before the branch that may be such sums, too, if they have a mean in them.
    """
    old, new = terms
    term = swapped(new, old, me)
    lower: dict[Given, Callable[[Whole], Polynomial | None]] = {}
    for one in others:
        symbol = _symbol(len(lower))
        if any(_quotients(one, total.old)) and any(part == one for part in walk(term)):
            term = swapped(term, one, symbol)
            lower[symbol] = partial(_powers_before, run, one, total.old, known)
    try:
        found = _update(run, term, me, total, known, lower)
        kept = None if found is None else _kept_before(run, old, total.old, found, known)
    except NotAffine:
        return None
    if found is None or kept is None:
        return None
    _take(run, me, found)
    mean = mean_of(total.new, found.until)
    return AppliedOperation("add", (swapped(kept, NEW, mean), swapped(found.part, NEW, mean)))


def mean_of(total: Term, count: Whole) -> Term:
    """Return the mean of some elements of which the sum and the number are known."""
    return AppliedOperation("div", (total, Place(count)))


def _take(run: ProofRun, me: Carried, found: MeanUpdate) -> None:
    powers, moves = (said_polynomial(one) for one in (found.powers, found.moves))
    run.assume(Lemma.MEANS, me.variable, powers, moves)
    run.take(OF_POWERS if any(len(one) > SQUARES for one in found.powers) else OF_MEANS)


def _kept_before(
    run: ProofRun, old: Term, old_sum: Term, update: MeanUpdate, known: Region
) -> Term | None:
    """Return a sum of powers of deviations with NEW for its mean, if that is one of all elements.

    The elements are those of the sum, and `update.before` is their number.
    """
    for powers, whole in _sums_before(run, old, old_sum, update.before, known):
        if powers == update.powers:
            return whole
    return None


def _powers_before(
    run: ProofRun, old: Term, old_sum: Term, known: Region, before: Whole
) -> Polynomial | None:
    """Return what a value is the sum of, if that is powers of deviations of so many elements."""
    return next((one for one, _ in _sums_before(run, old, old_sum, before, known)), None)


def _sums_before(
    run: ProofRun, old: Term, old_sum: Term, before: Whole, known: Region
) -> Iterator[tuple[Polynomial, Term]]:
    """Yield what a value is the sum of, and the value with NEW for the mean.

    That mean is the one of the sum of the same elements, of which there are so many.
    """
    for mean in _quotients(old, old_sum):
        whole = swapped(old, mean, NEW)
        elements = _sum_of_sums(run, old_sum)
        if elements is None or any(one == old_sum for one in walk(whole)):
            continue
        found = _powers(run, whole, elements, known)
        if found is None:
            continue
        some = known.intersect(set_of(compare(">", before, number(0))))
        if not run.equal(_count_of(mean), before, some):
            continue
        if _is_count(run, found[1], number(0), before, known):
            yield found[0], whole


def _update(
    run: ProofRun, term: Term, me: Carried, total: SumUpdate, known: Region, lower: Lower
) -> MeanUpdate | None:
    """Return how a value changes that is a sum of powers of deviations from a running mean.

    The induction: if the value is the sum of P(x - c) over n elements with the mean c, it is the
    sum of P(x - c') over these and the tile after it. So are, before it, the values that symbols in
    `lower` stand for, with polynomials of their own.
    """
    tile = None if total.tile is None else _tile(run, total.tile)
    marked = swapped(swapped(term, total.new, NEW_SUM), total.old, OLD_SUM)
    news, olds = (tuple(_quotients(marked, one)) for one in (NEW_SUM, OLD_SUM))
    if tile is None or len(news) != 1 or len(olds) != 1:
        return None
    until, guard = _count_of(news[0]), _count_of(olds[0])
    marked = swapped(swapped(marked, news[0], NEW), olds[0], OLD)
    if any(one in (NEW_SUM, OLD_SUM) for one in walk(marked)):
        return None
    addends = list(_addends(marked))
    moves = [one for one in addends if any(part == OLD for part in walk(one))]
    parts = [one for one in addends if one != me and one not in moves]
    part = _together(parts)
    if part is None or addends.count(me) != 1 or any(_carries(one, me) for one in addends):
        return None
    found = _powers(run, part, tile, known)
    counts = {one for move in moves for one in _counts(move)}
    if found is None or len(counts) != 1:
        return None
    (count,) = counts
    powers, elements = found
    before, one = count.value, number(1)
    sums = _lower_in(moves, lower, before)
    added = None if sums is None else moves_of(moves, powers, count, sums)
    if added is None:
        return None
    some = known.intersect(set_of(compare(">=", before, one)))
    are_numbers = all(run.holds(compare(">=", each, one), known) for each in (guard, until))
    if not are_numbers or not run.equal(guard, before, some):
        return None
    if not _is_count(run, elements, before, until, known):
        return None
    return MeanUpdate(part, before, until, powers, added, elements)


def _together(parts: Sequence[Term]) -> Term | None:
    """Return what is added for a tile as one term; None if these are several sums."""
    if not parts or (len(parts) > 1 and any(isinstance(one, Total) for one in parts)):
        return None
    whole = parts[0]
    for one in parts[1:]:
        whole = AppliedOperation("add", (whole, one))
    return whole


def _carries(term: Term, me: Carried) -> bool:
    """Return whether a part of a sum, other than the old value, looks at what the loop carries."""
    return term != me and any(
        isinstance(one, Carried) and one.loop == me.loop for one in walk(term)
    )


def _lower_in(moves: Sequence[Term], lower: Lower, before: Whole) -> dict[Given, Polynomial] | None:
    """Return what the sums sum that stand in some terms; None if one of them is none."""
    found: dict[Given, Polynomial] = {}
    for symbol, powers_of in lower.items():
        if any(part == symbol for one in moves for part in walk(one)):
            powers = powers_of(before)
            if powers is None:
                return None
            found[symbol] = powers
    return found


def _powers(
    run: ProofRun, part: Term, tile: SumOfSums, known: Region
) -> tuple[Polynomial, SumOfSums] | None:
    """Return a sum over a tile as that of a polynomial of deviations from NEW, and its elements.

    The sum of these elements is that of the tile.
    """
    found = _tile(run, part)
    domain, body = found.domain, found.body
    while isinstance(body, Choose) and body.no == ZERO:
        domain, body = both(domain, body.condition), body.yes
    if len(found.bound) != len(tile.bound):
        return None
    values = {old: name(to) for old, to in zip(tile.bound, found.bound, strict=True)}
    element, all_of = put(run, tile.body, values), put_truth(tile.domain, values)
    for one, some, others in _masked(element, all_of):
        powers = _of_deviations(swapped(body, one, ELEMENT))
        if powers is None:
            continue
        inside = known.intersect(set_of(domain))
        is_all = run.is_subset(known.intersect(set_of(some)), set_of(domain))
        if is_all and run.is_subset(inside, set_of(others)):
            return powers, SumOfSums(found.bound, domain, one)
    return None


def _masked(element: Term, all_of: Truth) -> Iterator[tuple[Term, Truth, Truth]]:
    """Yield an element of a sum, where it may be other than 0, and where it is that element.

    If it has a mask, it is yielded without it, too.
    """
    yield element, both(all_of, _some(element)), all_of
    if isinstance(element, Choose) and element.no == ZERO:
        some = both(all_of, element.condition)
        yield element.yes, some, some


def _some(element: Term) -> Truth:
    """Return where an element may be other than 0: where no mask takes it away."""
    match element:
        case Choose(condition=condition, yes=yes, no=no):
            taken = both(condition, _some(yes)), both(negation(condition), _some(no))
            return one_of(*taken)
        case _:
            return FALSE if element == ZERO else TRUE


def _of_deviations(body: Term) -> Polynomial | None:
    """Return a value as a polynomial of the deviation of ELEMENT from NEW; None if it is none."""
    powers = polynomial_of(body, {ELEMENT: OF_ELEMENT, NEW: OF_NEW})
    if powers is None:
        return None
    powers = put_polynomial(powers, OF_ELEMENT, plus(named(DEVIATION), named(OF_NEW)))
    return None if any(OF_NEW in monomial for monomial in powers) else powers


def _sum_of_sums(run: ProofRun, term: Term) -> SumOfSums | None:
    """Return a sum, maybe of sums, as one sum; None if a term is no sum."""
    match term:
        case AppliedOperation(operation="add", operands=(one, other)) if ZERO in (one, other):
            return _sum_of_sums(run, other if one == ZERO else one)
        case Total(operation="add", bound=bound, domain=domain, body=body):
            inner = _sum_of_sums(run, body)
            if inner is None:
                return SumOfSums(bound, domain, _without_zero(body))
            return SumOfSums((*bound, *inner.bound), both(domain, inner.domain), inner.body)
        case _:
            return None


def _tile(run: ProofRun, term: Term) -> SumOfSums:
    """Return what is added as a sum, which may be that of one element."""
    return _sum_of_sums(run, term) or SumOfSums((), TRUE, _without_zero(term))


def _without_zero(term: Term) -> Term:
    match term:
        case AppliedOperation(operation="add", operands=(one, other)) if ZERO in (one, other):
            return other if one == ZERO else one
        case _:
            return term


def _quotients(term: Term, total: Term) -> Iterator[AppliedOperation]:
    """Yield the quotients of a sum by a number in a term, each once."""
    for one in walk(term):
        match one:
            case AppliedOperation(operation="div", operands=(dividend, Place())) if (
                dividend == total
            ):
                yield one
            case _:
                pass


def _count_of(mean: AppliedOperation) -> Whole:
    divisor = mean.operands[1]
    assert isinstance(divisor, Place)
    return divisor.value


def _counts(term: Term) -> Iterator[Place]:
    """Yield the whole numbers that a term is multiplied by."""
    for one in walk(term):
        if isinstance(one, Place):
            yield one


def _addends(term: Term) -> Iterator[Term]:
    match term:
        case AppliedOperation(operation="add", operands=operands):
            for one in operands:
                yield from _addends(one)
        case _:
            yield term


def _is_count(run: ProofRun, of: SumOfSums, low: Whole, high: Whole, known: Region) -> bool:
    """Return whether there are `high - low` elements: some number of each goes from low to high.

    No two elements have the same number, and each number between has an element.
    """
    there = known.intersect(set_of(of.domain))
    at = run.fresh("element")
    wanted = known.intersect(set_of(within(low, name(at), high)))
    for guess in dict.fromkeys(_numbers(of, low)):
        numbered = there.intersect(same(name(at), guess))
        if (
            run.holds(within(low, guess, high), there)
            and run.is_subset(wanted, without(numbered, of.bound))
            and run.is_single(numbered, of.bound)
        ):
            return True
    return False


def _numbers(of: SumOfSums, low: Whole) -> Iterator[Whole]:
    """Yield what may number the elements of a sum; nothing is proved here."""
    if not of.bound:
        yield low
        return
    for one in walk(of.body):
        if isinstance(one, Element):
            for index in one.indices:
                if isinstance(index, Whole) and {*of.bound} <= names_of(index):
                    yield index
    yield sum((name(one) for one in of.bound), start=number(0))
