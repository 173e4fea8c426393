"""Says what the most probable formula of a number costs, for many sets of labels.

A search compares hundreds of ways to see the tensors of a kernel. For each of them it asks how
improbable the numbers of the launches are, and most of these questions are alike: a formula has few
sizes, and does not care which other sizes there are. So the answer for each size, and for each pair
of sizes, is kept, and the answer for a set of labels is the least of them. The formulas themselves
are those of `size_formulas`, so what is found here is what is written later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field
from itertools import combinations

from dtpoly.framing.launch_groups import Row
from dtpoly.framing.size_formulas import (
    MOST_FACTORS,
    OF_TWO_SIZES,
    UNCLEAR,
    SizeFacts,
    cost_of_constant,
    formulas_of,
    grid_factors,
    idle_cost,
    most_idle,
    number_of_programs,
)
from dtpoly.frozen import dataclass

ONE, OTHER = "one", "other"
NOT_FOUND = float("inf")


@dataclass(slots=True)
class FormulaCosts:
    """The costs that are known, for the launches of one group."""

    count: int
    blocks: tuple[int, ...]
    of_sizes: dict[object, float] = field(default_factory=dict[object, float])
    of_factors: dict[Row, Mapping[Row, float]] = field(
        default_factory=dict[Row, Mapping[Row, float]]
    )
    of_grids: dict[object, float] = field(default_factory=dict[object, float])

    def of_number(self, row: Row, sizes: Sequence[Row], *, is_constant: bool) -> float:
        """Return what the most probable formula of a number costs, with labels of these sizes."""
        least = NOT_FOUND
        if len(set(row)) == 1:
            is_varied = any(len(set(one)) > 1 for one in sizes)
            least = cost_of_constant(row[0], is_varied=is_varied, is_constant=is_constant)
        least = min((least, *(self._least(row, (one,), is_constant) for one in sizes)))
        if least > OF_TWO_SIZES:
            pairs = combinations(sizes, 2)
            least = min((least, *(self._least(row, pair, is_constant) for pair in pairs)))
        return least if least < NOT_FOUND else UNCLEAR

    def of_grid(self, row: Row, sizes: Sequence[Row]) -> float:
        """Return what the most probable formula of an axis of the grid costs."""
        key = row, tuple(sorted(sizes))
        if key not in self.of_grids:
            fixed = number_of_programs(row)
            least = NOT_FOUND if fixed is None else fixed.cost
            factors = [self._factors(one) for one in sizes]
            for count in range(1, MOST_FACTORS + 1):
                if count < least:  # no factor costs less than 1
                    least = min(least, _product(row, factors, count, count, most_idle(count)))
            self.of_grids[key] = least if least < NOT_FOUND else UNCLEAR
        return self.of_grids[key]

    def _factors(self, sizes: Row) -> Mapping[Row, float]:
        """Return what a size may give to a number of programs, with the least cost of each."""
        if sizes not in self.of_factors:
            found: dict[Row, float] = {}
            for one, row in grid_factors(ONE, sizes, self.blocks):
                found[row] = min(one.cost, found.get(row, NOT_FOUND))
            self.of_factors[sizes] = found
        return self.of_factors[sizes]

    def _least(self, row: Row, sizes: tuple[Row, ...], is_constant: bool) -> float:
        """Return what the cheapest formula costs that has all of one or two sizes."""
        key = row, sizes, is_constant
        if key not in self.of_sizes:
            labels: dict[str, Row] = dict(zip((ONE, OTHER), sizes, strict=False))
            facts = SizeFacts(self.count, labels, self.blocks)
            found = formulas_of(row, facts, is_constant=is_constant)
            self.of_sizes[key] = min(
                (one.cost for one in found if len(one.labels) == len(sizes)), default=NOT_FOUND
            )
        return self.of_sizes[key]


def _product(
    row: Row, factors: Sequence[Mapping[Row, float]], count: int, left: int, idle: int
) -> float:
    """Return the least cost of `left` factors of different labels that have a row as product.

    They belong to a product of `count` factors, and at most `idle` of them are 1 in all launches.
    """
    least = NOT_FOUND
    for at, some in enumerate(factors):
        for sizes, cost in ((row, some.get(row)),) if left == 1 else some.items():
            is_idle = set(sizes) == {1}
            if cost is None or (is_idle and not idle):
                continue
            of = cost + idle_cost(sizes, count)
            if left == 1:
                least = min(least, of)
            elif of + left - 1 < least and _divides(sizes, row):
                rest = tuple(one // part for one, part in zip(row, sizes, strict=True))
                more = _product(rest, factors[at + 1 :], count, left - 1, idle - is_idle)
                least = min(least, of + more)
    return least


def _divides(parts: Row, of: Row) -> bool:
    return all(part > 0 and one % part == 0 for part, one in zip(parts, of, strict=True))
