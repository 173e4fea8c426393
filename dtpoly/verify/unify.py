"""Two bodies of reductions in; what the algorithm's bound names may be in the kernel's, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product

from dtpoly.verify.alone import inequalities, only_number
from dtpoly.verify.pieces import Piece, pieces
from dtpoly.verify.regions import Holds, Meet, Region
from dtpoly.verify.rounding import split
from dtpoly.verify.terms import (
    Apply,
    Choose,
    Element,
    Pair,
    Place,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    children,
)
from dtpoly.verify.whole import All, Sign, Truth, Whole, name, names_of, put_whole

COMMUTATIVE = {"add", "mul", "maximum", "minimum", "and", "or", "eq", "ne"}
Equation = tuple[Whole, Whole]
MOST_WAYS = 64
MOST_SUMS = 24
MOST_PRODUCTS = 4096


def guesses(
    kernel: Piece, algorithm: Piece, equal: Sequence[Whole] = ()
) -> Iterator[dict[str, Whole]]:
    """Numbers over the kernel's names for the algorithm's; none is proved here.

    What is `equal` to 0 where the kernel reduces tells how a number is divided without a rest.
    """
    tried: set[tuple[tuple[str, Whole], ...]] = set()
    alone = {
        one: number for one in algorithm.bound if (number := only_number(algorithm.domain, one))
    }
    for equations in islice(_equations(kernel.body, algorithm.body), MOST_WAYS):
        found = _solved(equations, algorithm.bound, alone, equal)
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
    """One number of each list: those first that stand far in front in all of them."""
    ways = product(*(range(len(one)) for one in choices))
    ordered = sorted(islice(ways, MOST_PRODUCTS), key=lambda way: (sum(way), max(way, default=0)))
    return [
        tuple(one[at] for one, at in zip(choices, way, strict=True)) for way in ordered[:MOST_WAYS]
    ]


def _numbers(kernel: Piece, algorithm: Piece, unknown: str) -> list[Whole]:
    """What a name may be that the values do not show: what is below the same size, or sums."""
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
    # Those that have the same bounds first, without sizes, and of the most names: a value that
    # shows none is there for each.
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


def _equations(kernel: Term, algorithm: Term) -> Iterator[list[Equation]]:
    """Every way to lay one term over the other: pairs of numbers, the algorithm's first."""
    if split(kernel)[0] or split(algorithm)[0]:
        yield from _equations(*(_unrounded(one) for one in (kernel, algorithm)))
        return
    match kernel, algorithm:
        case Choose(yes=yes, no=no), _:
            yield from _equations(yes, algorithm)
            yield from _equations(no, algorithm)
        case _, Choose(yes=yes, no=no):
            yield from _equations(kernel, yes)
            yield from _equations(kernel, no)
        case Element(tensor=a, indices=mine), Element(tensor=b, indices=theirs) if a == b:
            yield list(zip(theirs, mine, strict=True))
        case Place(value=mine), Place(value=theirs):
            yield [(theirs, mine)]
        case Apply(operation=a, operands=mine), Apply(operation=b, operands=theirs) if (
            a == b and len(mine) == len(theirs)
        ):
            yield from _lists(mine, theirs)
            if a in COMMUTATIVE and len(mine) == 2:
                yield from _lists(mine[::-1], theirs)
        case Pair(value=a, place=i), Pair(value=b, place=j):
            yield from _lists((a, i), (b, j))
        case PlaceOf(pair=a), PlaceOf(pair=b):
            yield from _equations(a, b)
        case ValueOf(pair=a), ValueOf(pair=b):
            yield from _equations(a, b)
        case _:
            # Reductions inside, and what does not match at all, say nothing here.
            yield from _inside(kernel, algorithm)


def _unrounded(term: Term) -> Term:
    return children(term)[0] if split(term)[0] else term


def _inside(kernel: Term, algorithm: Term) -> Iterator[list[Equation]]:
    if not isinstance(algorithm, Total):
        yield []
        return
    mine, theirs = pieces(algorithm.operation, kernel), pieces(algorithm.operation, algorithm)
    if not mine or not theirs:
        yield []
    for one in mine[:4]:
        for other in theirs[:4]:
            for equations in _equations(one.body, other.body):
                own = {*one.bound, *other.bound}
                yield [e for e in equations if not own & {*names_of(e[0]), *names_of(e[1])}]


def _lists(mine: Sequence[Term], theirs: Sequence[Term]) -> Iterator[list[Equation]]:
    if not mine:
        yield []
        return
    for first in _equations(mine[0], theirs[0]):
        for rest in _lists(mine[1:], theirs[1:]):
            yield [*first, *rest]


def _solved(
    equations: list[Equation],
    unknown: Sequence[str],
    known: Mapping[str, Whole],
    equal: Sequence[Whole],
) -> dict[str, Whole]:
    found = {**known}
    changed = True
    while changed:
        changed = False
        for theirs, mine in equations:
            open_ = put_whole(theirs, found)
            names = [one for one in dict.fromkeys(names_of(open_)) if one in unknown]
            if len(names) != 1:
                continue
            factor = dict(open_.terms).get((names[0],))
            if factor is None:
                continue
            rest = mine - (open_ - name(names[0]) * factor)
            found[names[0]] = _divided(rest if factor > 0 else -rest, abs(factor), equal)
            changed = True
    return found


def _divided(value: Whole, by: int, equal: Sequence[Whole]) -> Whole:
    """The value divided; another number for it, where that one has no rest.

    The names of `g[z]` may hide that z is `3 * x + 5 * y`, of which a fifth less `3 * x` is y.
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
    """The sums of names alone that a region says to be 0, in so many words."""
    match where:
        case Holds(truth=truth):
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
