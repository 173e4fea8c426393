"""Compare a kernel's term with the algorithm's where the two may differ in their frames.

`frames` takes `exp(x - m)` for `exp(-m) * exp(x)`. Numbers of a machine allow that only if m is
finite, and if `x - m` is neither large nor far below 0 for all x: so m must be the largest x. All
of this is proved here, for each place where the law is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from dataclasses import replace
from itertools import combinations

from dtpoly.verify.algebra.frame_keys import frame_key, is_side_of
from dtpoly.verify.algebra.frame_terms import (
    EXTREME,
    OF_START,
    guarded,
    inward,
    is_frame,
    is_start,
    is_taken_away,
    operation_of,
    sum_of,
    unstarted,
)
from dtpoly.verify.algebra.frame_uses import FrameUse, uses
from dtpoly.verify.algebra.frames import ODD, Framing
from dtpoly.verify.algebra.identities import IDENTITY
from dtpoly.verify.algebra.masked_quotients import unmasked
from dtpoly.verify.algebra.numerals import finite
from dtpoly.verify.algebra.part_frames import (
    with_factors_inside,
    with_parts_seen,
    with_parts_started,
    without_empty_sums,
)
from dtpoly.verify.algebra.pieces import cases
from dtpoly.verify.algebra.powers_of_two import OF_EXP2, in_base_e
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Region, set_of, without
from dtpoly.verify.algebra.rounding import literals, rounds, without_may
from dtpoly.verify.algebra.rows_of_nothing import are_alike
from dtpoly.verify.algebra.sums_of_algorithm import are_of_algorithm
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
    rebuilt,
    swapped,
    walk,
    weight,
)
from dtpoly.verify.algebra.tested_terms import where_all
from dtpoly.verify.algebra.value import Difference, difference, reduced_bag
from dtpoly.verify.algebra.whole import Truth, both, names_of

OF_FINITE = "the values of a running maximum are finite"
INFINITE = "where nothing is reduced, a maximum may be infinite or a total 0, and the result a nan"
NOT_LARGEST = "what is subtracted in an exponent is not proved to be the largest of its values"

NOT_OF_ALGORITHM = (
    "what is subtracted in the exponents of a sum is neither proved to be the largest"
    " of them, nor what the algorithm subtracts in that sum"
)

# So many summands of an exponent are looked at one by one.
MOST_SUMMANDS = 4


def up_to_frames(
    run: ProofRun,
    both_terms: tuple[Term, Term],
    where: Region,
    found: Difference,
    *,
    is_finite: bool,
) -> Difference | None:
    """Return a difference that was found, or None if it is one of frames alone.

    `is_finite` says that callers promise that inputs are finite.
    """
    kernel, algorithm = both_terms
    if not has_frame(run, kernel):
        return found
    plain = in_base_e(kernel)
    if plain is not None:
        run.take(OF_EXP2)
        kernel = plain
    kernel = with_parts_seen(run, kernel)
    wanted = without_may(algorithm, rounds(kernel), literals(kernel))
    wanted = in_base_e(wanted) or wanted
    for mine in cases(run, kernel, where):
        for theirs in cases(run, wanted, mine.where):
            for term, there in _decided(run, mine.term, theirs.where):
                why = _of_parts(run, term, theirs.term, there, is_finite)
                if why is not None:
                    return Difference(found.where, found.kernel, found.algorithm, why, found.layer)
    return None


def _of_parts(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region, is_finite: bool
) -> str | None:
    """Return why two terms are not proved equal up to frames, or None.

    Where the kernel merges parts, their factors go into their sums first (lemma 25). There nobody
    looks at their exponents again, so these are looked at before.
    """
    inside = with_factors_inside(run, kernel, where, _says_finite(run))
    if (
        inside != kernel
        and _is_small(run, kernel, algorithm, where)
        and not _framed_or_alike(run, inside, algorithm, where, is_finite)
    ):
        return None
    return _framed_or_alike(run, kernel, algorithm, where, is_finite)


def _is_small(run: ProofRun, kernel: Term, algorithm: Term, where: Region) -> bool:
    """Return whether a kernel's exponents are at most 0, or as large as the algorithm says."""
    framing = Framing(run)
    mine, theirs = (list(uses(run, framing, one, where)) for one in (kernel, algorithm))
    own = [one for one in mine if not _is_wanted(run, one, theirs)]
    return _are_largest(run, own, [one.frame for one in theirs if one.power])


def _decided(run: ProofRun, term: Term, where: Region) -> Iterator[tuple[Term, Region]]:
    """Yield a term without the choices that are the same for all of a reduction, on parts of a set.

    Such a choice is a branch of the kernel, which is taken for a tile that is not whole.
    """
    condition = _outer_condition(term, frozenset())
    if condition is None:
        yield term, where
        return
    holds = set_of(condition)
    for is_so, there in ((True, where.intersect(holds)), (False, where.subtract(holds))):
        if not run.is_empty(there):
            yield from _decided(run, _chosen(term, condition, is_so=is_so), there)


def _outer_condition(term: Term, bound: frozenset[str]) -> Truth | None:
    """Return a condition inside of a reduction that looks at none of the names bound there."""
    match term:
        case Choose(condition=condition) if bound and not names_of(condition) & bound:
            return condition
        case Total(bound=more):
            bound = bound | {*more}
        case Stored():
            return None  # its cases bind names, too
        case _:
            pass
    found = (_outer_condition(one, bound) for one in children(term))
    return next((one for one in found if one is not None), None)


def _chosen(term: Term, condition: Truth, *, is_so: bool) -> Term:
    """Return a term where a condition is known to hold, or not to hold."""
    if isinstance(term, Choose) and term.condition == condition:
        return _chosen(term.yes if is_so else term.no, condition, is_so=is_so)
    return rebuilt(term, tuple(_chosen(one, condition, is_so=is_so) for one in children(term)))


def has_frame(run: ProofRun, term: Term) -> bool:
    """Return whether a term has a frame in it that a loop keeps values in, or an exp of a frame."""
    return any(
        _is_kept(run, one)
        or (isinstance(one, AppliedOperation) and (one.operation == RUNNING or _is_framed(one)))
        for one in walk(term)
    )


def _is_kept(run: ProofRun, frame: Term) -> bool:
    """Return whether some loop keeps values in a frame."""
    return _is_among(run, frame, run.frames)


def _is_among(run: ProofRun, frame: Term, frames: Set[Term]) -> bool:
    if not frames or not is_frame(frame):
        return False
    key = frame_key(run, frame)
    return key is not None and (key in frames or any(is_side_of(key, one) for one in frames))


def _is_framed(term: AppliedOperation) -> bool:
    """Return whether a term is an exponential in which a frame may be subtracted."""
    return term.operation in ("exp", "exp2") and any(map(is_frame, walk(term.operands[0])))


def _framed_or_alike(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region, is_finite: bool
) -> str | None:
    """Return why two terms without choices are not proved equal up to frames, or None.

    Where a frame of the algorithm is that of nothing, they may be alike without it: `0 / (0 + inf)`
    is 0, as `0 / (0 + exp(1 - start))` is.
    """
    found = _framed(run, kernel, algorithm, where, is_finite)
    apart = found and _rows_apart(run, kernel, where)
    if apart and not any(_framed(run, kernel, algorithm, part, is_finite) for part in apart):
        return None
    if found != INFINITE:
        return found
    empty = _without_frames(run, algorithm, where)
    if run.is_empty(empty) or not are_alike(run, kernel, algorithm, empty):
        return found
    rest = where.subtract(empty)
    return None if run.is_empty(rest) else _framed(run, kernel, algorithm, rest, is_finite)


def _rows_apart(run: ProofRun, kernel: Term, where: Region) -> tuple[Region, ...]:
    """Return where a maximum of a kernel reduces a number beside its start, and where it may not.

    The result is empty if the two are not told apart.
    """
    for one in dict.fromkeys(map(inward, walk(kernel))):
        if not _is_kept(run, one) or unstarted(one) == one:
            continue
        known = _known_finite(run, unstarted(one), where, is_finite=True)
        parts = () if known is None else (where.intersect(known), where.subtract(known))
        if parts and not any(map(run.is_empty, parts)):
            return parts
    return ()


def _without_frames(run: ProofRun, term: Term, where: Region) -> Region:
    """Return where some frame that stands outside of all sums is not known to reduce a number."""
    empty = where.subtract(where)
    for use in uses(run, Framing(run), term, where):
        if not use.bound and not _is_known_finite(run, use, is_finite=True):
            known = _known_finite(run, use.frame, use.where, is_finite=True)
            empty = empty.union(use.where if known is None else use.where.subtract(known))
    return empty


def _framed(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region, is_finite: bool
) -> str | None:
    """Return why two terms without choices are not proved equal up to frames, or None."""
    if kernel == algorithm and difference(run, kernel, algorithm, where) is None:
        return None
    framing = Framing(run)
    mine = list(uses(run, framing, kernel, where))
    theirs = list(uses(run, framing, algorithm, where))
    if not all(_is_known_finite(run, one, is_finite=is_finite) for one in mine):
        return INFINITE
    if not all(_is_finite_or_nan(run, one) for one in theirs):
        return INFINITE
    own = [one for one in mine if not _is_wanted(run, one, theirs)]
    if not _are_largest(run, own, [one.frame for one in theirs if one.power]):
        return NOT_LARGEST
    if not are_of_algorithm(run, framing, kernel, algorithm, where):
        return NOT_OF_ALGORITHM
    run.take(OF_FINITE)
    kernel = with_parts_started(run, kernel, where, _says_finite(run))
    found = _framed_apart(run, framing, kernel, algorithm, where)
    if found is None:
        return None
    # Where nothing is summed, frames need not be the same.
    few, fewer = (without_empty_sums(run, one, where) for one in (kernel, algorithm))
    if (few, fewer) != (kernel, algorithm):
        found = _framed_apart(run, framing, few, fewer, where)
    return None if found is None else found.why


def _framed_apart(
    run: ProofRun, framing: Framing, kernel: Term, algorithm: Term, where: Region
) -> Difference | None:
    """Return the difference of two terms, each with its frames apart."""
    mine = _started(run, framing.framed(kernel), where)
    return difference(run, mine, framing.framed(algorithm), where)


def _says_finite(run: ProofRun) -> Callable[[FrameUse], bool]:
    """Return what says whether a frame is finite where it is used."""
    return lambda use: _is_known_finite(run, use, is_finite=True)


def _is_finite_or_nan(run: ProofRun, use: FrameUse) -> bool:
    """Return whether a frame of the algorithm is finite, or its product a nan where it is not.

    It is one where the frame is infinite only if the exponential is masked (lemma 24).
    """
    if _is_known_finite(run, use, is_finite=True):
        return True
    if not use.is_nan:
        return False
    bare = unmasked(use.rest)
    there = use.where.intersect(set_of(both(*bare.conditions)))
    tests = tuple(dict.fromkeys((*use.tests, *bare.tests)))
    inside = replace(use, where=there, rest=bare.rest, tests=tests)
    return _is_known_finite(run, inside, is_finite=True)


def _is_known_finite(run: ProofRun, use: FrameUse, *, is_finite: bool) -> bool:
    """Return whether a frame is finite where it is used: it reduces some number there."""
    bare = guarded(use.frame)
    if bare is not None and operation_of(bare) == "maximum":
        return True  # a guard asks for -inf, which is what a maximum of nothing is
    known = _known_finite(run, use.frame, use.where, is_finite=is_finite)
    if run.is_empty(use.where) if known is None else run.is_subset(use.where, known):
        return True
    if not (use.bound or use.is_nan) or not use.tests or not use.power:
        return False
    # Where data leaves elements out, the frame is not below those that it leaves in (lemma 20).
    # A rounding makes no number infinite, so it does not matter which of those that are allowed
    # a kernel has.
    exact = replace(
        use,
        frame=without_may(use.frame),
        rest=tuple((factor, without_may(one)) for factor, one in use.rest),
        tests=tuple(map(without_may, use.tests)),
    )
    return any(
        _is_number(sum_of(one.rest), is_finite=is_finite) and _is_above(run, one, [])
        for one in _weaker(exact)
    )


def _known_finite(run: ProofRun, frame: Term, where: Region, *, is_finite: bool) -> Region | None:
    """Return a part of a set on which a frame reduces some number; None if there is none."""
    known: Region | None = None
    for piece, at in reduced_bag(run, operation_of(frame), frame, where):
        if _is_number(piece.body, is_finite=is_finite):
            there = without(at, piece.bound)
            known = there if known is None else known.union(there)
    return known


def _weaker(use: FrameUse) -> Iterator[FrameUse]:
    """Yield a use, and such in which an exponent lacks some summands, or is tested less often.

    Where the frame is not below one of them, it is not -inf.
    """
    rest = use.rest if len(use.rest) <= MOST_SUMMANDS else ()
    parts = [use.rest, *(one for n in range(len(rest) - 1, 0, -1) for one in combinations(rest, n))]
    each = [(one,) for one in use.tests] if len(use.tests) > 1 else []
    for part in parts:
        for tests in (use.tests, *each):
            yield replace(use, rest=part, tests=tests)


def _is_number(term: Term, *, is_finite: bool) -> bool:
    """Return whether a value is a finite number, if data are; a maximum may be that of nothing."""
    match term:
        case Literal(text=text):
            return finite(text) is not None
        case _:
            return is_finite and not any(
                (isinstance(one, Literal) and one.text in ODD)
                or (isinstance(one, Total) and one.operation != "add")
                for one in walk(term)
            )


def _is_wanted(run: ProofRun, use: FrameUse, wanted: list[FrameUse]) -> bool:
    """Return whether the algorithm has an exponential, too, so that it is as large as it says.

    One is such as that of a sink beside a sum. One in a sum of a kernel has to be small itself.
    """
    if not use.power or use.bound:
        return False
    bare = unstarted(guarded(use.frame) or use.frame)
    return any(
        other.power == use.power
        and not other.bound
        and difference(run, sum_of(use.rest), sum_of(other.rest), use.where) is None
        and difference(run, bare, other.frame, use.where) is None
        for other in wanted
    )


def _are_largest(run: ProofRun, uses: list[FrameUse], wanted: list[Term]) -> bool:
    """Return whether each exponent of a kernel is at most 0, and some exponent in each frame is 0.

    For values that a loop keeps, that was proved when the loop was read. `wanted` are frames of the
    algorithm. If a kernel's frame is one of them, it is easier to see there what it reduces.
    """
    of_exp = [one for one in uses if one.power]
    return all(
        _is_reached(run, guarded(one.frame) or one.frame, of_exp) and _is_above(run, one, wanted)
        for one in of_exp
    )


def _value_of(use: FrameUse) -> Term | None:
    """Return x for `exp(c * (x - m))`, or for `exp(c * (m - x))`; None if there is no x."""
    if not use.rest or not use.power:
        return None
    return unstarted(sum_of([(one / -use.power, term) for one, term in use.rest]))


def _is_above(run: ProofRun, use: FrameUse, wanted: list[Term]) -> bool:
    """Return whether m is at least x: to put x to what m reduces changes nothing."""
    value, frame = _value_of(use), guarded(use.frame) or use.frame
    operation = operation_of(frame)
    if value is None or not is_taken_away(use.frame, use.power):
        return False
    x = where_all(use.tests, value, IDENTITY[operation])
    bare = unstarted(frame)
    parts = _operands(bare, operation)
    # What is seen soonest comes first: x itself, or one tile that x is in.
    if x in parts or any(adds_nothing(run, operation, one, x, use.where) for one in parts):
        return True
    return any(
        (other == bare or difference(run, bare, other, use.where) is None)
        and adds_nothing(run, operation, other, x, use.where)
        for other in dict.fromkeys((bare, *wanted))
    )


def adds_nothing(run: ProofRun, operation: str, frame: Term, x: Term, where: Region) -> bool:
    """Return whether a maximum is at least x, since reducing x too does not change it."""
    more = AppliedOperation(operation, (frame, x))
    return difference(run, more, frame, where) is None


def _operands(term: Term, operation: str) -> list[Term]:
    """Return the operands of a maximum of maxima, the smallest ones first."""
    match term:
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            found = [part for one in operands for part in _operands(one, operation)]
            return sorted(found, key=weight)
        case _:
            return [term]


def _is_reached(run: ProofRun, frame: Term, uses: list[FrameUse]) -> bool:
    """Return whether m is an exponent's x of some sum: of a loop, or of one that is written.

    If it is the larger one of two, both must be.
    """
    if _is_among(run, frame, run.reached):
        return True
    match frame:
        case AppliedOperation(operation=operation, operands=operands) if operation in EXTREME:
            parts = [one for one in operands if not is_start(one, operation)]
            if all(_is_reached(run, one, uses) for one in parts):
                return True
        case _:
            pass
    # Where an exponent's x is a frame, lanes are put together: that is seldom.
    in_sums = sorted((one for one in uses if one.bound), key=_weight_of_rest)
    return any(_is_largest(run, frame, one) for one in in_sums)


def _weight_of_rest(use: FrameUse) -> int:
    return sum(weight(one) for _, one in use.rest)


def _is_largest(run: ProofRun, frame: Term, use: FrameUse) -> bool:
    """Return whether m is the largest x of the sums in which an exponential stands."""
    x = _value_of(use)
    if x is None or use.outside is None:
        return False
    # A lane may have a frame of its own.
    bound = tuple(one for one in use.bound if one not in names(frame))
    there = use.outside.intersect(without(set_of(use.domain), bound))
    operation = operation_of(frame)
    nothing = IDENTITY[operation]
    inside = choose(use.masks, where_all(use.tests, x, nothing), nothing)
    largest = Total(operation, bound, use.domain, inside) if bound else inside
    return difference(run, largest, unstarted(frame), there) is None


def _started(run: ProofRun, term: Term, where: Region) -> Term:
    """Return a term in which frames have no start, where they reduce anything else."""
    for one in list(walk(term)):
        frame = inward(one)
        if not _is_kept(run, frame):
            continue
        bare = unstarted(frame)
        if bare != frame and _is_known_finite(run, FrameUse(bare, where), is_finite=True):
            run.take(OF_START)
            term = swapped(term, one, bare)
    return term
