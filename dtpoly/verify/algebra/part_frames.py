"""Prepares the terms of a kernel that merges parts, each with a frame of its own (lemma 25).

The parts were stored by another kernel: a sum S(p) in the frame F(p), and the maximum T(p) of the
part. The merge multiplies S(p) by exp(T(p) - M). Here what was stored is put in the place of what
is loaded, the factor goes into the sum, and F(p) becomes T(p) where something is reduced in the
part. Then the two cancel, and the sum over the parts is one sum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.frame_terms import (
    NOTHING,
    OF_START,
    ZERO,
    inward,
    is_frame,
    operation_of,
    unstarted,
)
from dtpoly.verify.algebra.frame_uses import FrameUse
from dtpoly.verify.algebra.frames import Framing
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import (
    RUNNING,
    AppliedOperation,
    Choose,
    Literal,
    Stored,
    Term,
    Total,
    children,
    choose,
    names,
    put,
    rebuilt,
    renamed,
    walk,
)
from dtpoly.verify.algebra.whole import All, Sign, Truth, Whole, name, names_of, put_whole

NOTHING_KNOWN: Mapping[Truth, bool] = MappingProxyType({})
# Tells whether a frame is finite where it is used.
IsFinite = Callable[[FrameUse], bool]


def with_parts_seen(run: ProofRun, term: Term) -> Term:
    """Return a term with what parts stored, if there is any, as it is compared."""
    seen = _with_stores_seen(run, term)
    return term if seen == term else _with_masks_once(seen)


def _with_stores_seen(run: ProofRun, term: Term) -> Term:
    """Return a term in which the value of each load is written out whose store is known.

    A `Stored` says of which choice of program and lanes it is the value: those for which a
    condition holds. Each load sees just one store, which is proved where the load is read. So where
    there is one case, its condition holds for the programs that its equations say.
    """
    match term:
        case Stored(cases=((bound, condition, value),)):
            known = _said(condition, bound)
            if len(known) == len(bound):
                return _with_stores_seen(run, put(run, value, known))
            return term
        case _:
            parts = children(term)
            seen = tuple(_with_stores_seen(run, one) for one in parts)
            return term if seen == parts else rebuilt(term, seen)


def _with_masks_once(term: Term, known: Mapping[Truth, bool] = NOTHING_KNOWN) -> Term:
    """Return a term in which what is chosen by a condition is not chosen by it once more inside."""
    if isinstance(term, Choose):
        if term.condition in known:
            return _with_masks_once(term.yes if known[term.condition] else term.no, known)
        yes = _with_masks_once(term.yes, {**known, term.condition: True})
        no = _with_masks_once(term.no, {**known, term.condition: False})
        return choose(term.condition, yes, no)
    if isinstance(term, Total):
        known = {one: is_so for one, is_so in known.items() if names_of(one).isdisjoint(term.bound)}
    parts = children(term)
    seen = tuple(_with_masks_once(one, known) for one in parts)
    if isinstance(term, AppliedOperation) and term.operation == "add" and seen[1] == ZERO:
        return seen[0]  # so that a maximum of maxima is one
    return term if seen == parts else rebuilt(term, seen)


def with_parts_started(run: ProofRun, term: Term, where: Region, is_finite: IsFinite) -> Term:
    """Return a term in which the frames of parts have no start, where they reduce anything else.

    Each part of a sum has such a frame, which is compared with the one that the part stored.
    """
    frames = _FramesOfParts(run, Framing(run), is_finite, _kept_in(term))
    return frames.started(term, FrameUse(term, where))


def _kept_in(term: Term) -> frozenset[Term]:
    """Return the frames in which loops keep the values that stand in a term."""
    return frozenset(
        inward(frame)
        for one in walk(term)
        if isinstance(one, AppliedOperation) and one.operation == RUNNING
        for exponential in walk(one.operands[0])
        if isinstance(exponential, AppliedOperation) and exponential.operation == "exp"
        for frame in walk(exponential.operands[0])
        if is_frame(frame)
    )


@dataclass(frozen=True, slots=True)
class _FramesOfParts:
    """The frames that loops keep values in, in a term, and what says whether a frame is finite."""

    run: ProofRun
    framing: Framing
    is_finite: IsFinite
    kept: frozenset[Term]

    def started(self, term: Term, at: FrameUse) -> Term:
        """Return a term without the starts of frames; `at` says where the term stands.

        It has the set of points, the names that sums bind, the tests of data that hold there, and
        the summands beside the frames in the exponent of the product that the term is in.
        """
        match term:
            case Total():
                # Names stay where they can, since frames are equal only if they have the same ones.
                is_new = not at.where.names.isdisjoint(term.bound)
                new = renamed(self.run, term) if is_new else term
                inside = at.where.intersect(set_of(new.domain))
                tests = tuple(one for one in at.tests if names(one).isdisjoint(new.bound))
                within = FrameUse(term, inside, bound=(*at.bound, *new.bound), tests=tests)
                return Total(new.operation, new.bound, new.domain, self.started(new.body, within))
            case Choose(condition=condition, yes=yes, no=no):
                return self._chosen(condition, yes, no, at)
            case AppliedOperation(operation="where", operands=(test, yes, no)):
                tests = tuple(dict.fromkeys((*at.tests, test)))
                sides = (self.started(yes, replace(at, tests=tests)), self.started(no, at))
                return rebuilt(term, (self.started(test, at), *sides))
            case AppliedOperation(operation="mul") if at.bound and not at.rest:
                return self._of_children(term, replace(at, rest=self._beside(term)))
            case _ if is_frame(term) and inward(term) in self.kept:
                bare = unstarted(inward(term))
                below = replace(self, kept=frozenset())
                if bare == inward(term) or not self.is_finite(self._use(bare, at)):
                    return below.started(term, at)
                self.run.take(OF_START)
                return below.started(bare, at)
            case _:
                return self._of_children(term, at)

    def _of_children(self, term: Term, at: FrameUse) -> Term:
        parts = children(term)
        seen = tuple(self.started(one, at) for one in parts)
        return term if seen == parts else rebuilt(term, seen)

    def _beside(self, product: Term) -> tuple[tuple[Fraction, Term], ...]:
        """Return what stands beside the frames in the exponents of a product's exponentials."""
        found = list[tuple[Fraction, Term]]()
        for one in factors(product):
            if _is_exponential(one):
                found.extend(self.framing.exponent(children(one)[0]).rest)
        return tuple(found)

    def _use(self, bare: Term, at: FrameUse) -> FrameUse:
        """Return the use of a frame: what is beside it is not above it, if it is what it reduces.

        The power is that with which a frame is taken away from such an exponent.
        """
        power = Fraction(-1 if operation_of(bare) == "maximum" else 1)
        return replace(at, frame=bare, power=power if at.rest else Fraction(0))

    def _chosen(self, condition: Truth, yes: Term, no: Term, at: FrameUse) -> Term:
        holds = set_of(condition)
        inside, outside = at.where.intersect(holds), at.where.subtract(holds)
        if self.run.is_empty(outside):
            return self.started(yes, at)
        if self.run.is_empty(inside):
            return self.started(no, at)
        first, other = (replace(at, where=one) for one in (inside, outside))
        return choose(condition, self.started(yes, first), self.started(no, other))


def with_factors_inside(
    run: ProofRun, term: Term, where: Region, is_finite: IsFinite, *, is_kept: bool = False
) -> Term:
    """Return a term in which the factor exp(T(p) - M) of the sum of a part stands in that sum.

    A part may have nothing to sum. Then T(p) is -inf, and the product is 0 all the same, if M is
    finite. Inside of the sum, T(p) is the maximum of something. In a value that a loop keeps, M may
    stand in front of the sum of all parts.
    """
    match term:
        case Total():
            new = term if where.names.isdisjoint(term.bound) else renamed(run, term)
            inside = where.intersect(set_of(new.domain))
            body = with_factors_inside(run, new.body, inside, is_finite, is_kept=is_kept)
            return Total(new.operation, new.bound, new.domain, body)
        case Choose(condition=condition, yes=yes, no=no):
            inside, outside = where.intersect(set_of(condition)), where.subtract(set_of(condition))
            if run.is_empty(outside):
                return with_factors_inside(run, yes, where, is_finite, is_kept=is_kept)
            if run.is_empty(inside):
                return with_factors_inside(run, no, where, is_finite, is_kept=is_kept)
            first = with_factors_inside(run, yes, inside, is_finite, is_kept=is_kept)
            other = with_factors_inside(run, no, outside, is_finite, is_kept=is_kept)
            return choose(condition, first, other)
        case AppliedOperation(operation="mul", operands=(Choose() as a, b)):
            return _product_inside(run, (a, b), where, is_finite, is_kept=is_kept)
        case AppliedOperation(
            operation="mul",
            operands=(AppliedOperation(operation=operation, operands=(value, *needs)), factor),
        ) if operation == RUNNING and _is_number(run, factor, where, is_finite, is_kept=is_kept):
            return AppliedOperation(RUNNING, (_spread(run, factor, value), *needs))
        case _:
            parts = children(term)
            is_kept = is_kept or (isinstance(term, AppliedOperation) and term.operation == RUNNING)
            seen = tuple(
                with_factors_inside(run, one, where, is_finite, is_kept=is_kept) for one in parts
            )
            return term if seen == parts else rebuilt(term, seen)


def _product_inside(
    run: ProofRun,
    operands: tuple[Term, Term],
    where: Region,
    is_finite: IsFinite,
    *,
    is_kept: bool,
) -> Term:
    """Return a product; its first operand is a choice, which may be decided on the set."""
    seen = tuple(
        with_factors_inside(run, one, where, is_finite, is_kept=is_kept) for one in operands
    )
    product = AppliedOperation("mul", seen)
    if isinstance(seen[0], Choose):
        return product
    return with_factors_inside(run, product, where, is_finite, is_kept=is_kept)


def _is_number(
    run: ProofRun, factor: Term, where: Region, is_finite: IsFinite, *, is_kept: bool
) -> bool:
    """Return whether an exponential is a number, though a maximum that is added may be -inf.

    As much must be subtracted as is added, since the exponential of a maximum alone may be
    infinite. In a value that a loop keeps, that was proved when the loop was read.
    """
    match factor:
        case AppliedOperation(operation="exp", operands=(exponent,)):
            found = Framing(run).exponent(exponent)
            is_bounded = is_kept or not sum(found.frames.values())
            return (
                is_bounded
                and not found.rest
                and all(
                    (power > 0) is (operation_of(frame) == "maximum")
                    or is_finite(FrameUse(frame, where))
                    for frame, power in found.frames.items()
                )
            )
        case _:
            return False


def _is_exponential(term: Term) -> bool:
    return isinstance(term, AppliedOperation) and term.operation == "exp"


def factors(term: Term) -> Iterator[Term]:
    """Yield the factors of a product, also those inside of what is rounded."""
    match term:
        case AppliedOperation(operation="mul", operands=operands):
            for one in operands:
                yield from factors(one)
        case AppliedOperation(operands=(inner,)) if split(term)[0]:
            yield from factors(inner)
        case _:
            yield term


def _spread(run: ProofRun, factor: Term, value: Term) -> Term:
    """Return a sum times a factor, as the sum of its operands times the factor."""
    match value:
        case AppliedOperation(operation="add", operands=operands):
            return rebuilt(value, tuple(_spread(run, factor, one) for one in operands))
        case AppliedOperation(operation="mul", operands=(a, b)) if _is_exponential(a):
            return _spread(run, AppliedOperation("mul", (a, factor)), b)
        case Choose(condition=condition, yes=yes, no=no):
            return choose(condition, _spread(run, factor, yes), _spread(run, factor, no))
        case AppliedOperation(operation="where", operands=(test, yes, no)) if no == ZERO and any(
            map(_is_exponential, walk(yes))
        ):
            return AppliedOperation("where", (test, _spread(run, factor, yes), ZERO))
        case Total(operation="add"):
            new = renamed(run, value)
            return Total("add", new.bound, new.domain, _spread(run, factor, new.body))
        case _ if value == ZERO:
            return ZERO
        case _:
            return AppliedOperation("mul", (factor, value))


def without_empty_sums(run: ProofRun, term: Term, where: Region) -> Term:
    """Return a term in which a sum of nothing, for all points of a set, is 0."""
    if isinstance(term, Total) and term.operation == "add":
        new = term if where.names.isdisjoint(term.bound) else renamed(run, term)
        inside = where.intersect(set_of(new.domain))
        if run.is_empty(inside):
            return ZERO
        # A sum of sums of nothing is one, too.
        return ZERO if without_empty_sums(run, new.body, inside) == ZERO else term
    if _is_exponential(term) and _is_lowest(children(term)[0]):
        return ZERO  # the factor of a part that reduces nothing
    parts = children(term)
    seen = tuple(without_empty_sums(run, one, where) for one in parts)
    if isinstance(term, AppliedOperation) and term.operation == RUNNING and _is_zero_kept(seen[0]):
        return ZERO
    if isinstance(term, AppliedOperation) and term.operation == "add" and ZERO in seen:
        return seen[1] if seen[0] == ZERO else seen[0]
    if isinstance(term, AppliedOperation) and term.operation == "mul" and ZERO in seen:
        others = [one for one in seen if one != ZERO]
        if all(isinstance(one, Literal) and finite(one.text) is not None for one in others):
            return ZERO
    return term if seen == parts else rebuilt(term, seen)


def _is_zero_kept(value: Term) -> bool:
    """Return whether a value that a loop keeps is a sum of nothing, in a frame that is finite."""
    match value:
        case AppliedOperation(operation="mul", operands=(frame, inner)):
            return _is_exponential(frame) and inner == ZERO
        case _:
            return value == ZERO


def _is_lowest(term: Term) -> bool:
    """Return whether a term is -inf, or the largest of several that are."""
    match term:
        case AppliedOperation(operation="maximum", operands=operands):
            return all(map(_is_lowest, operands))
        case _:
            return term == NOTHING


# The programs and lanes that stored a value


def _said(condition: Truth, bound: tuple[str, ...]) -> dict[str, Whole]:
    """Return what equations say that bound names are, as numbers over other names."""
    parts = condition.parts if isinstance(condition, All) else (condition,)
    signs = [one for one in parts if isinstance(one, Sign)]
    widths = _widths([one.operand for one in signs if not one.exactly], bound)
    found = dict[str, Whole]()
    for one in signs:
        if one.exactly:
            found |= _digits(put_whole(one.operand, found), bound, widths)
    return found


def _widths(bounds: Sequence[Whole], bound: tuple[str, ...]) -> dict[str, int]:
    """Return how many values each name has that goes from 0 to below a written number."""
    least = {one.plain for one in bounds}
    found = dict[str, int]()
    for one in bound:
        ends = ((end + name(one)).constant for end in bounds if one in names_of(end))
        known = [end + 1 for end in ends if end is not None]
        if known and one in least:
            found[one] = min(known)
    return found


def _digits(equation: Whole, bound: tuple[str, ...], widths: Mapping[str, int]) -> dict[str, Whole]:
    """Return the names that a number which is 0 has with factors, as digits of its other parts.

    In `4 * a + b - e`, where b has the values 0 to 3, a is e // 4 and b is e % 4. There is no other
    choice of them, if each factor is the product of the factor before and of the values there.
    """
    factors = dict[str, int]()
    rest = equation
    for monomial, factor in equation.terms:
        if len(monomial) == 1 and isinstance(monomial[0], str) and monomial[0] in bound:
            factors[monomial[0]] = factor
            rest = rest - name(monomial[0]) * factor
    if not factors or not names_of(rest).isdisjoint(bound):
        return {}
    sign = 1 if min(factors.values()) > 0 else -1
    number = rest * -sign
    found, unit = dict[str, Whole](), 1
    order = sorted(factors, key=lambda one: factors[one] * sign)
    for at, one in enumerate(order):
        if factors[one] * sign != unit:
            return {}
        if at + 1 == len(order):
            found[one] = number.floor(unit)
        elif one in widths:
            found[one] = number.floor(unit).modulo(widths[one])
            unit *= widths[one]
        else:
            return {}
    return found
