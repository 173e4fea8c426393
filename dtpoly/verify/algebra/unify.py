"""Guess what the algorithm's bound names are in terms of the kernel's, for two reductions.

The kernel may cut an index k into `32 * i + lane`, for example. `value` asks for guesses, tries one
after the other, and proves that a guess is right before it uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from dtpoly.verify.algebra.alone import inequalities, only_number
from dtpoly.verify.algebra.pieces import BagPiece, pieces
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.regions import Meet, Region, WhereTrue
from dtpoly.verify.algebra.rounding import split
from dtpoly.verify.algebra.terms import (
    AppliedOperation,
    Choose,
    Element,
    Index,
    Pair,
    Place,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    children,
)
from dtpoly.verify.algebra.whole import (
    All,
    Atom,
    Extreme,
    Floor,
    Sign,
    Truth,
    Whole,
    atoms_of,
    exchanged,
    name,
    names_of,
    put_whole,
)

COMMUTATIVE = {
    *("add", "mul", "maximum", "minimum", "and", "or", "eq", "ne"),
    *("bitand", "bitor", "bitxor"),
}
Equation = tuple[Whole, Whole]
MOST_WAYS = 64
MOST_SUMS = 24
MOST_PRODUCTS = 4096


def guesses(
    run: ProofRun, kernel: BagPiece, algorithm: BagPiece, equal: Sequence[Whole] = ()
) -> Iterator[dict[str, Whole]]:
    """Yield numbers over the kernel's names for each of the algorithm's; nothing is proved here.

    `equal` holds numbers that are 0 where the kernel reduces. They help to divide a number without
    a remainder.
    """
    tried: set[tuple[tuple[str, Whole], ...]] = set()
    alone = {
        one: number for one in algorithm.bound if (number := only_number(algorithm.domain, one))
    }
    ways = islice(_equations(run, kernel.body, algorithm.body), MOST_WAYS)
    steps = _steps(algorithm)
    solved = [_solved(equations, algorithm.bound, alone, equal, steps) for equations in ways]
    # What shows most names comes first. Factors laid over each other in the wrong order show none,
    # and guesses for all names would use up the tries.
    for found in sorted(solved, key=len, reverse=True):
        left = [one for one in algorithm.bound if one not in found]
        for chosen in _likeliest([_numbers(kernel, algorithm, one) for one in left]):
            guess = found | dict(zip(left, chosen, strict=True))
            key = tuple(sorted(guess.items(), key=lambda one: one[0]))
            if key not in tried:
                tried.add(key)
                yield guess
            if len(tried) > MOST_WAYS:
                return


def _likeliest(choices: Sequence[Sequence[Whole]]) -> list[tuple[Whole, ...]]:
    """Return choices of one number from each list, the likeliest first.

    Numbers stand in each list with the likeliest in front, so a choice is likely if all of its
    numbers stand far in front.
    """
    ways = product(*(range(len(one)) for one in choices))
    ordered = sorted(islice(ways, MOST_PRODUCTS), key=lambda way: (sum(way), max(way, default=0)))
    return [
        tuple(one[at] for one, at in zip(choices, way, strict=True)) for way in ordered[:MOST_WAYS]
    ]


def _numbers(kernel: BagPiece, algorithm: BagPiece, unknown: str) -> list[Whole]:
    """Return what a bound name may be if the values do not show it.

    These are numbers that stay below the same size, or sums of the kernel's own names.
    """
    found: dict[Whole, int] = {}
    for part in inequalities(algorithm.domain):
        factor = dict(part.operand.terms).get((unknown,))
        if factor is None:
            continue
        for other in inequalities(kernel.domain):
            # `size - 1 - 2 * unknown >= 0` and `size - 1 - 2 * number >= 0`, or `unknown >= 0`.
            apart = other.operand - part.operand
            number = name(unknown) + (apart if factor > 0 else -apart).floor(abs(factor))
            if unknown not in names_of(number) and names_of(number) & {*kernel.bound}:
                found[number] = found.get(number, 0) + 1
    # Numbers without sizes, with the same bounds and with the most names come first: a value
    # that shows none of the names is there for each choice of them.
    own, bound = {*kernel.own}, {*kernel.bound}
    likely = sorted(
        found,
        key=lambda one: (
            not names_of(one) <= bound,
            not names_of(one) <= own,
            -found[one],
            -len(names_of(one)),
        ),
    )
    mixed = [one for one in likely if not names_of(one) <= bound]
    known = {one: None for one in likely if names_of(one) <= bound}
    for count in (2, 1, 0):
        for chosen in combinations(kernel.own, count):
            total = Whole(())
            for one in chosen:
                total = total + name(one)
            known[total] = None
    return [*known, *(one for one in mixed if names_of(one) & own)][:MOST_SUMS]


def _equations(run: ProofRun, kernel: Term, algorithm: Term) -> Iterator[list[Equation]]:
    """Yield every way to lay one term over the other.

    A way is a list of pairs of numbers that must be equal; the algorithm's number is the first.
    """
    if split(kernel)[0] or split(algorithm)[0]:
        yield from _equations(run, *(_unrounded(one) for one in (kernel, algorithm)))
        return
    match kernel, algorithm:
        case Choose(yes=yes, no=no), _:
            yield from _equations(run, yes, algorithm)
            yield from _equations(run, no, algorithm)
        case _, Choose(yes=yes, no=no):
            yield from _equations(run, kernel, yes)
            yield from _equations(run, kernel, no)
        case Element(tensor=a, indices=mine), Element(tensor=b, indices=theirs) if a == b:
            yield from _indices(run, mine, theirs)
        case Place(value=mine), Place(value=theirs):
            yield [(theirs, mine)]
        case AppliedOperation(operation=a, operands=mine), AppliedOperation(
            operation=b, operands=theirs
        ) if a == b and len(mine) == len(theirs):
            yield from _lists(run, mine, theirs)
            if a in COMMUTATIVE and len(mine) == 2:
                yield from _lists(run, mine[::-1], theirs)
        case Pair(value=a, place=i), Pair(value=b, place=j):
            yield from _lists(run, (a, i), (b, j))
        case PlaceOf(pair=a), PlaceOf(pair=b):
            yield from _equations(run, a, b)
        case ValueOf(pair=a), ValueOf(pair=b):
            yield from _equations(run, a, b)
        case _:
            # Reductions inside, and terms that do not match at all, give no equations
            # here.
            yield from _inside(run, kernel, algorithm)


def _indices(
    run: ProofRun, mine: Sequence[Index], theirs: Sequence[Index]
) -> Iterator[list[Equation]]:
    """Yield every way to lay the indices of two elements over each other, data on data."""
    pairs = [*zip(mine, theirs, strict=True)]
    known = [(b, a) for a, b in pairs if isinstance(a, Whole) and isinstance(b, Whole)]
    data = [(a, b) for a, b in pairs if not isinstance(a, Whole) and not isinstance(b, Whole)]
    for rest in _lists(run, [a for a, _ in data], [b for _, b in data]):
        yield [*known, *rest]


def _unrounded(term: Term) -> Term:
    return children(term)[0] if split(term)[0] else term


def _inside(run: ProofRun, kernel: Term, algorithm: Term) -> Iterator[list[Equation]]:
    if not isinstance(algorithm, Total):
        yield []
        return
    mine, theirs = (
        pieces(run, algorithm.operation, kernel),
        pieces(run, algorithm.operation, algorithm),
    )
    if not mine or not theirs:
        yield []
    for one in mine[:4]:
        for other in theirs[:4]:
            for equations in _equations(run, one.body, other.body):
                own = {*one.bound, *other.bound}
                yield [e for e in equations if not own & {*names_of(e[0]), *names_of(e[1])}]


def _lists(run: ProofRun, mine: Sequence[Term], theirs: Sequence[Term]) -> Iterator[list[Equation]]:
    if not mine:
        yield []
        return
    for first in _equations(run, mine[0], theirs[0]):
        for rest in _lists(run, mine[1:], theirs[1:]):
            yield [*first, *rest]


def _solved(
    equations: list[Equation],
    unknown: Sequence[str],
    known: Mapping[str, Whole],
    equal: Sequence[Whole],
    steps: Mapping[str, int],
) -> dict[str, Whole]:
    found = {**known}
    # An index at a quotient says what the quotient is in other indices.
    quotients: dict[Atom, Whole] = {
        atom: mine for theirs, mine in equations if (atom := _only_quotient(theirs))
    }
    changed = True
    while changed:
        changed = False
        for theirs, mine in _with_divided(equations):
            open_ = put_whole(exchanged(theirs, quotients), found)
            names = [one for one in dict.fromkeys(names_of(open_)) if one in unknown]
            if len(names) != 1:
                continue
            factor = dict(open_.terms).get((names[0],))
            if factor is None:
                continue
            rest = mine - (open_ - name(names[0]) * factor)
            if names[0] in names_of(rest):
                continue
            found[names[0]] = _divided(rest if factor > 0 else -rest, abs(factor), equal)
            changed = True
    for theirs, mine in equations:
        open_ = put_whole(theirs, found)
        found |= _in_tiles(open_, mine, [one for one in unknown if one in names_of(open_)], steps)
    return found


def _in_tiles(
    open_: Whole, mine: Whole, unknown: Sequence[str], steps: Mapping[str, int]
) -> dict[str, Whole]:
    """Return a number as the start of the tile that it is in, and the lane in this tile."""
    starts = [one for one in unknown if one in steps]
    if len(unknown) != 2 or len(starts) != 1:
        return {}
    (start,) = starts
    (lane,) = (one for one in unknown if one != start)
    rest = mine - (open_ - name(start) - name(lane))
    if not names_of(rest).isdisjoint(unknown):
        return {}
    first = rest.floor(steps[start]) * steps[start]
    return {start: first, lane: rest - first}


def _steps(piece: BagPiece) -> dict[str, int]:
    """Return of which number each bound name is a multiple, as the start of a tile is."""
    found = dict[str, int]()
    parts = piece.domain.parts if isinstance(piece.domain, All) else (piece.domain,)
    for one in parts:
        if not isinstance(one, Sign) or not one.exactly:
            continue
        for atom in atoms_of(one.operand):
            if not isinstance(atom, Floor) or len(names_of(atom.operand)) != 1:
                continue
            (bound,) = names_of(atom.operand)
            whole = name(bound) - atom.operand.floor(atom.divisor) * atom.divisor
            if bound in piece.bound and one.operand in (whole, -whole):
                found[bound] = atom.divisor
    return found


def _only_quotient(value: Whole) -> Floor | None:
    match value.terms:
        case (((Floor() as atom,), 1),):
            return atom
        case _:
            return None


def _with_divided(equations: list[Equation]) -> Iterator[Equation]:
    """Yield the equations, and after them that what is divided by one number may be equal."""
    yield from equations
    for theirs, mine in equations:
        floors = [atom for atom in atoms_of(mine) if isinstance(atom, Floor)]
        for atom in atoms_of(theirs):
            if isinstance(atom, Floor):
                for other in floors:
                    if other.divisor == atom.divisor:
                        yield atom.operand, _above_0(other.operand)


def _above_0(value: Whole) -> Whole:
    """Return the number that is divided where it is above 0; elsewhere a kernel divides 0."""
    match value.terms:
        case (((Extreme(largest=True, left=left, right=right),), 1),):
            return right if left.constant is not None else left
        case _:
            return value


def _divided(value: Whole, by: int, equal: Sequence[Whole]) -> Whole:
    """Return the value divided by a number; if that leaves a remainder, try an equal value first.

    For example, `g[z]` may hide that z is `3 * x + 5 * y`; then a fifth of z less `3 * x` is y.
    """
    if not _has_rest(value, by):
        return value.floor(by)
    other, left = value, list(equal)
    for one in (*equal, *equal):
        known = dict(other.terms)
        shared = [(m, c) for m, c in one.terms if abs(c) == 1 and m in known]
        if shared and one in left:
            left.remove(one)
            monomial, coefficient = shared[0]
            other = other - one * (known[monomial] * coefficient)
            if not _has_rest(other, by):
                return other.floor(by)
    return value.floor(by)


def _has_rest(value: Whole, by: int) -> bool:
    return any(coefficient % by for _, coefficient in value.terms)


def equal_to_0(where: Region) -> Iterator[Whole]:
    """Yield the sums of plain names that a region's formulas say are 0."""
    match where:
        case WhereTrue(truth=truth):
            yield from _equal_in(truth)
        case Meet(left=left, right=right):
            yield from equal_to_0(left)
            yield from equal_to_0(right)
        case _:
            return


def _equal_in(truth: Truth) -> Iterator[Whole]:
    match truth:
        case Sign(operand=operand, exactly=True):
            if all(isinstance(atom, str) for monomial, _ in operand.terms for atom in monomial):
                yield operand
        case All(parts=parts):
            for part in parts:
                yield from _equal_in(part)
        case _:
            return
