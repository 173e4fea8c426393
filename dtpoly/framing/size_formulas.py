"""Lists the formulas in sizes that a number may be: those that give its value in all launches.

Each formula has a cost. The lowest cost is the most probable: what wrappers of kernels usually pass
costs least, and what happens to fit costs most.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from dtpoly.framing.launch_groups import Row, times
from dtpoly.frozen import dataclass

# How many times a size a number may be, and by how much it may differ from one.
MOST_TIMES = 16
MOST_MORE = 2
# By what a number of programs is divided if no parameter says it.
USUAL_BLOCKS = (2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)
# How many factors a number of programs has.
MOST_FACTORS = 3
FOR_AN_IDLE_FACTOR = 1.5  # which says nothing
LEAST_LANES = 16  # of a product of tiles
OF_TWO_SIZES = 3.0  # the cost of a product of two sizes, and of no other one with two
UNCLEAR = 30.0  # the cost of a number that no formula gives


@dataclass(frozen=True, slots=True)
class SizeFormula:
    """A formula, as the lines for the verifier write it, and how improbable it is."""

    text: str
    cost: float
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SizeFacts:
    """The sizes of labels in all launches, and the constants by which they may be divided."""

    count: int
    labels: Mapping[str, Row]
    blocks: tuple[int, ...]


def formulas_of(row: Row, facts: SizeFacts, *, is_constant: bool) -> tuple[SizeFormula, ...]:
    """Return all formulas for a number that a parameter is given, the most probable one first."""
    found = [*_plain(row, facts, is_constant=is_constant), *_powers(row, facts, is_constant)]
    if len(set(row)) > 1 or facts.count == 1:
        # A number that never changes is divided from a size only by chance.
        found += _divided(row, facts)
    return _sorted(found)


def grid_formulas(row: Row, facts: SizeFacts) -> tuple[SizeFormula, ...]:
    """Return all formulas for the number of programs along an axis of the grid."""
    return _grid_formulas(row, tuple(facts.labels.items()), facts.blocks)


@lru_cache(maxsize=64)
def _grid_formulas(
    row: Row, labels: tuple[tuple[str, Row], ...], blocks: tuple[int, ...]
) -> tuple[SizeFormula, ...]:
    """Return the formulas; each frame of a search asks for them again."""
    factors = [factor for name, sizes in labels for factor in grid_factors(name, sizes, blocks)]
    fixed = number_of_programs(row)
    return _sorted([*_products(row, factors), *(() if fixed is None else (fixed,))])


def grid_factors(name: str, sizes: Row, blocks: Sequence[int]) -> Iterator[tuple[SizeFormula, Row]]:
    """Yield what a size may give to a number of programs: itself, or how many blocks it has.

    Beside the ends of parts, which are one more than there are parts, it is one less.
    """
    yield SizeFormula(f"len({name})", 1.0, (name,)), sizes
    if len(set(sizes)) > 1 and min(sizes) > 1:
        yield SizeFormula(f"len({name}) - 1", 5.0, (name,)), tuple(size - 1 for size in sizes)
    for cost, some in ((1.2, blocks), (3.0, USUAL_BLOCKS)):
        for block in some:
            if block > 1 and not (cost > 2 and block in blocks):
                divided = tuple(-(-size // block) for size in sizes)
                yield SizeFormula(f"cdiv(len({name}), {block})", cost, (name,)), divided


def number_of_programs(row: Row) -> SizeFormula | None:
    """Return a number of programs that is the same in all launches as what it is."""
    if len(set(row)) > 1:
        return None
    # One program is what small sizes give, too.
    return SizeFormula(str(row[0]), 1.0 if row[0] == 1 else 2.6)


def most_idle(factors: int) -> int:
    """Return how many of the factors of a number of programs may be 1 in all launches.

    Of three and more factors, few say nothing: so many sizes have one block by chance.
    """
    return 1 if factors > 2 else 2


def idle_cost(sizes: Row, factors: int) -> float:
    """Return how much less probable a factor is that says nothing, as it is 1 in all launches."""
    return FOR_AN_IDLE_FACTOR if set(sizes) == {1} and factors > 1 else 0.0


def _products(row: Row, factors: Sequence[tuple[SizeFormula, Row]]) -> Iterator[SizeFormula]:
    """Yield the products of a few factors, of different labels, that a number of programs is."""
    fit = [
        one
        for one in factors
        if all(_divides(part, of) for part, of in zip(one[1], row, strict=True))
    ]
    for count in range(1, MOST_FACTORS + 1):
        for chosen in _factors_of(row, fit, count, most_idle(count)):
            idle = sum(idle_cost(sizes, count) for _, sizes in chosen)
            cost = sum(one.cost for one, _ in chosen) + idle
            labels = tuple(one.labels[0] for one, _ in chosen)
            text = " * ".join(_factor(one.text, count) for one, _ in chosen)
            yield SizeFormula(text, cost, labels)


def _factor(text: str, count: int) -> str:
    """Return a formula as it stands between the signs of a product of so many factors."""
    return f"({text})" if count > 1 and " - " in text else text


def _factors_of(
    row: Row, factors: Sequence[tuple[SizeFormula, Row]], count: int, idle: int
) -> Iterator[tuple[tuple[SizeFormula, Row], ...]]:
    """Yield so many factors, of different labels, that have a row as their product.

    At most `idle` of them are 1 in all launches. Each one must divide what the factors before it
    leave, so few of all choices are looked at.
    """
    if not count:
        if set(row) <= {1}:
            yield ()
        return
    for at, (one, sizes) in enumerate(factors):
        if not all(_divides(part, of) for part, of in zip(sizes, row, strict=True)):
            continue
        kept = idle - (set(sizes) == {1})
        if kept < 0:
            continue
        left: Row = tuple(of // part for part, of in zip(sizes, row, strict=True))
        others = [other for other in factors[at + 1 :] if other[0].labels[0] != one.labels[0]]
        for more in _factors_of(left, others, count - 1, kept):
            yield ((one, sizes), *more)


def _divides(part: int, of: int) -> bool:
    return part > 0 and of % part == 0


def _plain(row: Row, facts: SizeFacts, *, is_constant: bool) -> Iterator[SizeFormula]:
    """Yield constants, sizes, products of sizes, and sizes and a little more."""
    varied = any(len(set(sizes)) > 1 for sizes in facts.labels.values())
    if len(set(row)) == 1:
        cost = cost_of_constant(row[0], is_varied=varied, is_constant=is_constant)
        yield SizeFormula(str(row[0]), cost)
    for name, sizes in facts.labels.items():
        if sizes == row:
            yield SizeFormula(f"len({name})", 2.2 if is_constant else 1.0, (name,))
        ratio = _ratio(row, sizes)
        if _is_usual(ratio, facts):
            cost = 2.0 + min(ratio or 0, MOST_TIMES) / 16
            yield SizeFormula(f"{ratio} * len({name})", cost, (name,))
        more = {have - size for have, size in zip(row, sizes, strict=True)}
        if len(more) == 1 and 0 < abs(step := more.pop()) <= MOST_MORE:
            sign = "+" if step > 0 else "-"
            yield SizeFormula(f"len({name}) {sign} {abs(step)}", 5.0, (name,))
        for by in range(2, MOST_TIMES + 1):
            if row == tuple(size // by for size in sizes):
                yield SizeFormula(f"len({name}) // {by}", 4.0 + by / 16, (name,))
    yield from _two_sizes(row, facts)


def cost_of_constant(value: int, *, is_varied: bool, is_constant: bool) -> float:
    """Return the cost of a number that never changes: if sizes do, it is one; else maybe a size."""
    if is_constant:
        return 1.0 if is_varied else 2.5
    return 1.5 if value in (0, 1) or is_varied else 2.5


def _two_sizes(row: Row, facts: SizeFacts) -> Iterator[SizeFormula]:
    labels = list(facts.labels.items())
    for at, (name, sizes) in enumerate(labels):
        for other, more in labels[at + 1 :]:
            ratio = _ratio(row, times(sizes, more))
            if ratio == 1:
                yield SizeFormula(f"len({name}) * len({other})", OF_TWO_SIZES, (name, other))
            elif _is_usual(ratio, facts):
                text = f"{ratio} * len({name}) * len({other})"
                yield SizeFormula(text, 4.5, (name, other))


def _powers(row: Row, facts: SizeFacts, is_constant: bool) -> Iterator[SizeFormula]:
    """Yield powers of 2 of sizes, and those with a least or a most."""
    if any(one < 1 or one & (one - 1) for one in row):
        return
    for name, sizes in facts.labels.items():
        # Several sizes have this power: that a constant is just that would be a coincidence.
        is_sure = is_constant and len(set(sizes)) > 1
        cost = 0.9 if is_sure else 1.6 if is_constant else 4.0
        text = f"next_power_of_2(len({name}))"
        powers = tuple(map(_power, sizes))
        if powers == row:
            yield SizeFormula(text, cost, (name,))
            continue
        for word, choose, bound in (("min", min, max(row)), ("max", max, min(row))):
            bounded = tuple(choose(one, bound) for one in powers)
            if bounded == row and len(set(row)) > 1 and (word == "min" or bound >= LEAST_LANES):
                yield SizeFormula(f"{word}({text}, {bound})", cost + 1.5, (name,))
        for by in (2, 4, 8, *facts.blocks) if len(set(row)) > 1 else ():
            text = f"next_power_of_2(cdiv(len({name}), {by}))"
            if by > 1 and tuple(_power(-(-size // by)) for size in sizes) == row:
                yield SizeFormula(text, cost + 2.5, (name,))


def _divided(row: Row, facts: SizeFacts) -> Iterator[SizeFormula]:
    for name, sizes in facts.labels.items():
        for cost, blocks in ((3.4, facts.blocks), (4.5, USUAL_BLOCKS)):
            for block in dict.fromkeys(blocks):
                is_new = cost < 4 or block not in facts.blocks
                if block > 1 and is_new and row == tuple(-(-size // block) for size in sizes):
                    yield SizeFormula(f"cdiv(len({name}), {block})", cost, (name,))


def _is_usual(ratio: int | None, facts: SizeFacts) -> bool:
    """Return whether a size may be multiplied by a number: by a small one, or by a constant."""
    return ratio is not None and ratio > 1 and (ratio <= MOST_TIMES or ratio in facts.blocks)


def _ratio(row: Row, sizes: Row) -> int | None:
    """Return by which whole number sizes are multiplied, if it is the same in all launches."""
    ratios: set[int] = set()
    for have, size in zip(row, sizes, strict=True):
        if size == 0 or have % size:
            return None
        ratios.add(have // size)
    return ratios.pop() if len(ratios) == 1 else None


def _power(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def _sorted(found: Iterable[SizeFormula]) -> tuple[SizeFormula, ...]:
    once = {one.text: one for one in sorted(found, key=_cost, reverse=True)}
    return tuple(sorted(once.values(), key=_cost))


def _cost(one: SizeFormula) -> float:
    return one.cost
