"""Compare a kernel's term with the algorithm's, and say where and in what they differ.

`stored` calls `difference` for each value that a kernel stores; no difference means that the two
are proved equal.

The comparison takes these licences and no others: reductions may be done in any order; numbers are
real numbers; casts between floats are left out; the operands of a commutative operation may change
places.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.alone import only_operand
from dtpoly.verify.algebra.frame_terms import EXTREME
from dtpoly.verify.algebra.identities import IDENTITY, is_identity
from dtpoly.verify.algebra.listed import LISTS
from dtpoly.verify.algebra.numerals import results
from dtpoly.verify.algebra.pieces import BagPiece, cases, pieces
from dtpoly.verify.algebra.polynomials import is_same
from dtpoly.verify.algebra.proof_limits import check_time
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.recurrences import difference_of_steps, is_recurrence
from dtpoly.verify.algebra.regions import Region, is_affine, same, set_of, without
from dtpoly.verify.algebra.residues import settled
from dtpoly.verify.algebra.rounding import (
    allows,
    literals,
    rounds,
    split,
    without_may,
    without_steps,
)
from dtpoly.verify.algebra.scaled_extremes import with_factors_inside
from dtpoly.verify.algebra.term_building import plain, rounded, whole_in
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    AppliedOperation,
    Carried,
    Element,
    Given,
    Literal,
    Pair,
    Place,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    children,
    names,
    put,
    sources,
    weight,
)
from dtpoly.verify.algebra.unify import COMMUTATIVE, equal_to_0, guesses
from dtpoly.verify.algebra.whole import Whole, name, names_of

# If there are more pairs of pieces without choices than this, the pieces with choices are tried
# first.
MOST_PAIRS = 12
IDEMPOTENT = {"maximum", "minimum", "and", "or", *EXTREMES, *LISTS}


@dataclass(frozen=True)
class Difference:
    """A place where two terms are not proved equal, and what each of them is there."""

    where: Region
    kernel: Term
    algorithm: Term
    why: str
    # The layer that the difference belongs to.
    layer: str = "value"


def difference(run: ProofRun, kernel: Term, algorithm: Term, where: Region) -> Difference | None:
    """Return the first difference that is found on a set, or None if the terms are proved equal."""
    return run.compared(kernel, algorithm, where, lambda: _first(run, kernel, algorithm, where))


def _first(run: ProofRun, kernel: Term, algorithm: Term, where: Region) -> Difference | None:
    check_time()
    algorithm = without_may(algorithm, rounds(kernel), literals(kernel))
    for mine in cases(run, kernel, where):
        for theirs in cases(run, algorithm, mine.where):
            found = _difference(run, mine.term, theirs.term, theirs.where)
            if found is not None:
                return found
    return None


def _difference(run: ProofRun, kernel: Term, algorithm: Term, where: Region) -> Difference | None:  # noqa: C901  # one case for each pair of terms
    if kernel == algorithm and not isinstance(kernel, Carried):
        return None
    if isinstance(kernel, Literal) and kinds.exact(kernel.text) in results(algorithm):
        return None
    taken = _rounded(run, kernel, algorithm, where)
    if taken is not None:
        return taken[0]
    match kernel, algorithm:
        case ((Literal() | Given()), (Literal() | Given())):
            if plain(kernel) == plain(algorithm):
                return None
            return Difference(where, kernel, algorithm, "other values")
        case ((Place() | Literal()), (Place() | Literal())):
            first_number, second_number = whole_in(plain(kernel)), whole_in(plain(algorithm))
            if first_number is None or second_number is None:
                return Difference(where, kernel, algorithm, "other values")
            return _numbers(run, first_number, second_number, where, kernel, algorithm)
        case Element(tensor=a), Element(tensor=b) if a == b:
            return _elements(run, kernel, algorithm, where)
        case _, PlaceOf() if is_recurrence(algorithm):
            why = difference_of_steps(run, kernel, algorithm, where, difference)
            return None if why is None else Difference(where, kernel, algorithm, why)
        case Total(operation=operation), _ if operation in IDENTITY:
            return _bags(run, operation, kernel, algorithm, where)
        case _, Total(operation=operation) if operation in IDENTITY:
            return _bags(run, operation, kernel, algorithm, where)
        case AppliedOperation(operation=a, operands=mine), AppliedOperation(
            operation=b, operands=theirs
        ) if a == b and len(mine) == len(theirs):
            return _operations(run, kernel, algorithm, where)
        case Pair(value=a, place=i), Pair(value=b, place=j):
            return _lists(run, (a, i), (b, j), where)
        case (PlaceOf(pair=a), PlaceOf(pair=b)) | (ValueOf(pair=a), ValueOf(pair=b)):
            word = _pair_operation(b)
            return _bags(run, word, a, b, where) if word else difference(run, a, b, where)
        case AppliedOperation(operation=operation), _ if operation in IDENTITY and _is_bag(
            operation, kernel
        ):
            return _bags(run, operation, kernel, algorithm, where)
        case _:
            return Difference(where, kernel, algorithm, "other operations")


def _elements(
    run: ProofRun, kernel: Element, algorithm: Element, where: Region
) -> Difference | None:
    """Return where two elements of one tensor have other indices."""
    for one, other in zip(kernel.indices, algorithm.indices, strict=True):
        if isinstance(one, Whole) and isinstance(other, Whole):
            found = _numbers(run, one, other, where, kernel, algorithm)
        elif isinstance(one, Whole) or isinstance(other, Whole):
            found = Difference(where, kernel, algorithm, "another index")
        else:
            found = difference(run, one, other, where)
        if found is not None:
            return replace(found, layer="loads")
    return None


def _operations(
    run: ProofRun, kernel: AppliedOperation, algorithm: AppliedOperation, where: Region
) -> Difference | None:
    """Return where two values of one operation differ."""
    name, mine, theirs = kernel.operation, kernel.operands, algorithm.operands
    first = _lists(run, mine, theirs, where)
    if first is None:
        return None
    is_turned = name in COMMUTATIVE and len(mine) == 2 and _may_be_alike(mine[1], theirs[0])
    if is_turned and _lists(run, mine[::-1], theirs, where) is None:
        run.take(f"operands of '{name}' change places")
        return None
    if name in IDENTITY and (_is_bag(name, kernel) or _is_bag(name, algorithm)):
        return None if _bags(run, name, kernel, algorithm, where) is None else first
    return first


def _rounded(
    run: ProofRun, kernel: Term, algorithm: Term, where: Region
) -> tuple[Difference | None] | None:
    """Return the difference of two values of which one is or may be rounded.

    The result is a tuple, since the difference itself may be None; it is None if neither is
    rounded. If the algorithm gives several leaves to round, the first one that allows what the
    kernel rounds to is taken, and it stays for what is rounded further inside. That loses nothing,
    because later leaves still allow what they allow. Only where the algorithm itself rounds is the
    other way tried as well.
    """
    own, kind = split(kernel)
    word, allowed = split(algorithm)
    if not own and not word:
        return None
    inner = kernel.operands[0] if isinstance(kernel, AppliedOperation) else kernel
    wanted = algorithm.operands[0] if isinstance(algorithm, AppliedOperation) else algorithm
    if word == "may":
        if not own or not allows(allowed, kind):
            return (difference(run, kernel, wanted, where),)
        run.take(f"a value is rounded to '{kind}', where it may be to '{allowed}'")
        if kernel == rounded(kind, wanted):
            return (None,)  # A number as written, of which that is carried out.
        found = difference(run, inner, algorithm, where)
        if found is not None and _is_rounded(wanted):
            found = difference(run, kernel, wanted, where)
        return (found,)
    if own and word and kind == allowed:
        return (difference(run, inner, wanted, where),)
    if (
        word == "round"
        and isinstance(wanted, Total)
        and (one := only_operand(run, wanted)) is not None
    ):
        return (difference(run, kernel, settled(allowed, one), where),)
    why = f"is rounded to {kind}" if own else f"is not rounded to {allowed}"
    return (Difference(where, kernel, algorithm, why),)


def _is_rounded(term: Term) -> bool:
    """True if the algorithm itself rounds the value."""
    word, _ = split(term)
    return word == "round" or (word == "may" and _is_rounded(children(term)[0]))


def _pair_operation(term: Term) -> str | None:
    match term:
        case Total(operation=operation) | AppliedOperation(operation=operation):
            return operation if operation in EXTREMES else None
        case _:
            return None


def _is_bag(operation: str, term: Term) -> bool:
    """True if the term has a reduction by the operation in it, or the operation's identity."""
    match term:
        case Total(operation=own):
            return own == operation
        case AppliedOperation(operation=own, operands=operands) if own == operation:
            return any(_is_bag(operation, one) for one in operands)
        case _:
            return is_identity(operation, term)


def _numbers(
    run: ProofRun, mine: Whole, theirs: Whole, where: Region, kernel: Term, algorithm: Term
) -> Difference | None:
    if mine == theirs:
        return None
    if not is_affine(mine - theirs):
        why = "another product"
        return (
            None if is_same(run, mine, theirs, where) else Difference(where, kernel, algorithm, why)
        )
    alike = same(mine, theirs)
    if run.is_subset(where, alike):
        return None
    return Difference(where.subtract(alike), kernel, algorithm, "another index")


def _lists(
    run: ProofRun, mine: tuple[Term, ...], theirs: tuple[Term, ...], where: Region
) -> Difference | None:
    # Small operands come first: if they differ, the others need not be looked at.
    for one, other in sorted(zip(mine, theirs, strict=True), key=lambda pair: weight(pair[1])):
        found = difference(run, one, other, where)
        if found is not None:
            return found
    return None


def _bags(
    run: ProofRun, operation: str, kernel: Term, algorithm: Term, where: Region
) -> Difference | None:
    run.take(f"reductions by '{operation}' are done in any order")
    if operation in EXTREME:
        kernel, algorithm = (
            with_factors_inside(run, operation, one, where, difference)
            for one in (kernel, algorithm)
        )
    mine = reduced_bag(run, operation, kernel, where)
    theirs = reduced_bag(run, operation, algorithm, where)
    if len(mine) * len(theirs) > MOST_PAIRS:
        # With the choices left in them there are fewer pieces, and equal terms choose
        # alike.
        few, fewer = (_unsplit(run, operation, term, where) for term in (kernel, algorithm))
        if _laid_over(run, operation, few, fewer, (kernel, algorithm), is_thorough=False) is None:
            return None
    found = _laid_over(run, operation, mine, theirs, (kernel, algorithm), is_thorough=False)
    if found is not None and operation in IDEMPOTENT:
        few, fewer = _shown(mine), _shown(theirs)
        found = _laid_over(run, operation, few, fewer, (kernel, algorithm), is_thorough=True)
    if found is not None:
        # A reduction in two steps may be rounded between the steps, but need not be.
        bare = without_steps(operation, algorithm)
        if bare != algorithm and _bags(run, operation, kernel, bare, where) is None:
            return None
    return found


Bag = list[tuple[BagPiece, Region]]
Guess = dict[str, Whole]
# A guess, and those of the names bound by the kernel's piece that occur in it.
Learned = tuple[Guess, frozenset[str]]


def _laid_over(
    run: ProofRun,
    operation: str,
    mine: Bag,
    theirs: Bag,
    whole: tuple[Term, Term],
    *,
    is_thorough: bool,
) -> Difference | None:
    kernel, algorithm = whole
    # For each piece of the algorithm, the part of it that the kernel has reduced so far.
    got: list[Region | None] = [None] * len(theirs)
    learned: list[Learned] = []
    # Values that show which instance they are come first. What they teach helps with the
    # others.
    for piece, domain in sorted(mine, key=lambda one: names(one[0].body).isdisjoint(one[0].bound)):
        left = domain
        for at, (wanted, wanted_domain) in _likely_first(piece.body, theirs):
            if run.is_empty(left) and not is_thorough:
                break
            if not _may_be_alike(piece.body, wanted.body):
                continue
            ways = _ways(run, piece, wanted, learned, domain)
            # A thorough search also looks whether a value that was found is another of
            # the algorithm's values too.
            of = domain if is_thorough else left
            taken = _matched(
                run,
                operation,
                piece,
                of,
                wanted,
                wanted_domain,
                before=got[at],
                ways=ways,
                is_thorough=is_thorough,
            )
            if taken is not None:
                image, rest, guess = taken
                used = frozenset[str]().union(*map(names_of, guess.values()))
                learned.append((guess, used & {*piece.bound}))
                so_far = got[at]
                got[at] = image if so_far is None else so_far.union(image)
                left = left.intersect(rest) if is_thorough else rest
        if not run.is_empty(left):
            why = "something is reduced that is not in the algorithm's reduction"
            # If a part of the piece was found, or if it is a number, then a mask is
            # missing.
            is_outside = left is not domain or (bool(piece.bound) and not sources(piece.body))
            layer = "lanes" if is_outside else "value"
            return Difference(left, piece.body, algorithm, why, layer)
    for (wanted, wanted_domain), so_far in zip(theirs, got, strict=True):
        missing = wanted_domain if so_far is None else wanted_domain.subtract(so_far)
        if not run.is_empty(missing) and not _is_nothing(run, operation, wanted.body, missing):
            why = "something of the algorithm's reduction is left out"
            return Difference(missing, kernel, wanted.body, why)
    return None


def _likely_first(value: Term, theirs: Bag) -> list[tuple[int, tuple[BagPiece, Region]]]:
    """Return pieces with their places, those with values of the same tensors first.

    Where a mask leaves 0 * W beside X * W, all guesses would be tried in vain for the other one.
    """
    own = sources(value)
    return sorted(enumerate(theirs), key=lambda one: sources(one[1][0].body) != own)


def _is_nothing(run: ProofRun, operation: str, algorithm: Term, where: Region) -> bool:
    """True if an operand changes nothing in the reduction once the leave to round is used.

    This is sound because the kernel may round it so. A value of data never counts: `0 * A[x]` may
    be a nan.
    """
    return not sources(algorithm) and difference(run, IDENTITY[operation], algorithm, where) is None


def reduced_bag(run: ProofRun, operation: str, term: Term, where: Region) -> Bag:
    """Return the bag of a term on a set, in pieces without choices and without identities."""
    found: list[tuple[BagPiece, Region]] = []
    for piece in pieces(run, operation, term):
        inside = where.intersect(set_of(piece.domain))
        for case in cases(run, piece.body, inside):
            if is_identity(operation, case.term):
                continue
            new = BagPiece((*piece.bound, *case.bound), piece.domain, case.term, piece.own)
            found.append((new, case.where))
    return found


def _shown(bag: Bag) -> Bag:
    """Return the same values, where each piece has only the names that its values depend on.

    That is enough where reducing a value twice changes nothing: { A[x] : x, y in D } and { A[x] : x
    in D for some y } are one set.
    """
    found: Bag = []
    for piece, where in bag:
        own = names(piece.body)
        hidden = tuple(one for one in piece.bound if one not in own)
        bound = tuple(one for one in piece.bound if one in own)
        new = BagPiece(bound, piece.domain, piece.body, tuple(o for o in piece.own if o in own))
        found.append((new, without(where, hidden) if hidden else where))
    return found


def _unsplit(run: ProofRun, operation: str, term: Term, where: Region) -> Bag:
    """Return the bag of a term on a set, in pieces that may still have choices in them.

    Each piece is a value wherever it is in the bag.
    """
    found = ((one, where.intersect(set_of(one.domain))) for one in pieces(run, operation, term))
    return [(piece, domain) for piece, domain in found if not run.is_empty(domain)]


def _matched(
    run: ProofRun,
    operation: str,
    piece: BagPiece,
    domain: Region,
    wanted: BagPiece,
    wanted_domain: Region,
    *,
    before: Region | None,
    ways: Iterable[Guess],
    is_thorough: bool,
) -> tuple[Region, Region, Guess] | None:
    """Match a piece of the kernel with one of the algorithm's; None if no guess fits.

    The result has the part of the wanted piece that the kernel's piece is, over the wanted piece's
    bound names, the part of the kernel's piece that is left, and the guess that fitted first.
    """
    images: Region | None = None
    fits: Guess = {}
    rest = domain
    for guess in ways:
        where = domain
        # This brings `wanted_domain` in. The names that it binds are numbers over the
        # kernel's now.
        for one, value in guess.items():
            where = where.intersect(same(name(one), value))
        where = where.intersect(wanted_domain)
        here = without(where, wanted.bound)
        if run.is_empty(here):
            continue
        image = without(where, piece.bound)
        if operation not in IDEMPOTENT:
            if before is not None and not run.is_disjoint(before, image):
                continue
            if not run.is_single(where, piece.bound):
                continue
        if difference(run, piece.body, put(run, wanted.body, guess), here) is not None:
            continue
        fits = fits or guess
        images = image if images is None else images.union(image)
        rest = rest.subtract(here)
        if operation not in IDEMPOTENT:
            break
        # This operation may reduce a value twice, so every guess that fits counts.
        if run.is_empty(rest) and (not is_thorough or run.is_subset(wanted_domain, images)):
            break
    return None if images is None else (images, rest, fits)


def _ways(
    run: ProofRun, piece: BagPiece, wanted: BagPiece, learned: Sequence[Learned], domain: Region
) -> Iterator[Guess]:
    """Yield guesses of numbers over a piece's names for the wanted piece's; none is proved here.

    Guesses that fitted another piece with the same names come first. A written number does not show
    which instance it is, but a value beside it in the same reduction may.
    """
    again = [
        guess for guess, own in learned if guess.keys() == {*wanted.bound} and own <= {*piece.bound}
    ]
    yield from again
    equal = tuple(equal_to_0(domain))
    yield from (guess for guess in guesses(run, piece, wanted, equal) if guess not in again)


def _may_be_alike(kernel: Term, algorithm: Term) -> bool:
    """False for values of different tensors. This only saves time: it decides nothing."""
    mine, theirs = sources(kernel), sources(algorithm)
    return not mine or not theirs or bool(mine & theirs)
