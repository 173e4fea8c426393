"""Ranges and places of random Programs that come from tables, and what the tables hold.

isl knows nothing of what a table holds: its verdict is for each content. The oracle also executes a
schedule with tables that are drawn at random: repeated, negative, outside, empty and descending.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Expr,
    Index,
    Integer,
    Read,
    Reshape,
    division,
)
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.show import show
from tests.oracle.statements import Dim

Indices = tuple[int, ...]
TABLES = ("Low", "High")
# What is computed in indices that are data. Where a Func has a range, it is 0 elsewhere.
MEANINGS: Mapping[str, Callable[[list[int]], int]] = {
    "add": lambda of: of[0] + of[1],
    "sub": lambda of: of[0] - of[1],
    "neg": lambda of: -of[0],
    "mul": lambda of: of[0] * of[1],
    "le": lambda of: of[0] <= of[1],
    "lt": lambda of: of[0] < of[1],
    "and": min,
    "where": lambda of: of[1] if of[0] else of[2],
}


class DataEnds(NamedTuple):
    """The range of a label: what the file says of each end, and the labels of the two tables."""

    label: str
    others: tuple[str, ...]
    starts: bool
    stops: bool
    more: int  # is added to the start


def with_data_ranges(
    random: Random, program: Program, read: Callable[[str], Program | None]
) -> tuple[Program, DataEnds] | None:
    """Return the Program with a label whose range comes from tables; None if there is no place.

    `read` reads a file, and gives None if it has a mistake.
    """
    labels = [label.name for label in program.labels if label.size is None]
    text = show(program)
    for _ in range(8 if labels else 0):
        label = random.choice(labels)
        others = tuple(v for v in labels if v != label and random.random() < 0.4)[:2]
        way = random.random()
        ends = DataEnds(label, others, way < 0.8, way > 0.2, random.choice((0, 0, 1, -1)))
        made = read(_ranged(text, ends))
        if made is not None and any("Low" in repr(f) or "High" in repr(f) for f in made.funcs):
            return made, ends
    return None


def _ranged(text: str, ends: DataEnds) -> str:
    """Return a file in which a label has a range, and new tables that say where it ends."""
    at = f"[{', '.join(ends.others)}]" if ends.others else "[0]"
    start = f"Low{at}" + (f" + {ends.more}" if ends.more else "") if ends.starts else "0"
    stop = f"High{at}" if ends.stops else f"len({ends.label})"
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("RVar "):
            names = line.removeprefix("RVar ").rstrip(";").split(", ")
            ranged = f"{ends.label} in [{start}, {stop})"
            line = f"RVar {', '.join(ranged if n == ends.label else n for n in names)};"
        lines.append(line)
    used = [one for one, is_used in zip(TABLES, (ends.starts, ends.stops), strict=True) if is_used]
    declared = ", ".join(f"{one}: i64" for one in used)
    return "\n".join((*lines[:1], f"In {declared};", *lines[1:])) + "\n"


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of those tables of a Program that are read, at some sizes."""

    program: Program
    seed: str
    size: int
    ends: DataEnds | None = None

    def number(self, table: str, at: Indices) -> int:
        """Return an element of a table: the same at each call."""
        random = Random(f"{self.seed} {table} {at}")
        kind = Random(f"{self.seed} {table}").randrange(4)
        if kind == 0:
            return self.size // 2  # all are alike
        if kind == 1:
            return 2 * sum(at) - 1  # ascending, from outside on
        return random.randint(-2, self.size + 2)

    def value(self, expr: Expr, labels: Mapping[str, int]) -> int:
        """Return the value of an index that is data."""
        match expr:
            case Read(tensor=tensor, indices=indices):
                at = tuple(self.index(one, labels) for one in indices)
                func = next((f for f in self.program.funcs if f.name == tensor), None)
                if func is not None:
                    return self.value(func.body, dict(zip(func.labels, at, strict=True)))
                return self.number(tensor, at) if all(one >= 0 for one in at) else 0
            case Apply(operation=operation, operands=operands):
                return MEANINGS[operation]([self.value(one, labels) for one in operands])
            case Cast(operand=inner) | Reshape(operand=inner):
                return self.value(inner, labels)
            case Index(label=label):
                return labels[label]
            case Integer(value=value):
                return value
            case _:
                raise AssertionError(expr)

    def index(self, index: Affine, labels: Mapping[str, int]) -> int:
        """Return an index for indices of labels."""
        if index.data is not None:
            return self.value(index.data, labels)
        total = index.constant
        for term, coefficient in index.terms:
            if isinstance(term, str):
                total += coefficient * labels[term]
                continue
            term = division(term)
            inner = self.index(term.inner, labels)
            rest = inner // term.divisor if term.operator == "//" else inner % term.divisor
            total += coefficient * rest
        return total

    def taken(self, labels: tuple[str, ...], scope: Mapping[str, Dim]) -> "Iterator[TakenAt]":
        """Yield what decides which steps of a reduction over some labels are taken."""
        if self.ends is None or self.ends.label not in labels:
            return
        dims = tuple(scope[label] for label in self.ends.others)
        if self.ends.starts:
            yield TakenAt(self, scope[self.ends.label], dims, is_start=True)
        if self.ends.stops:
            yield TakenAt(self, scope[self.ends.label], dims, is_start=False)


@dataclass(frozen=True, slots=True)
class TakenAt:
    """An end of a range from a table: a step is taken if the value is at least 0."""

    contents: Contents
    dim: Dim
    dims: tuple[Dim, ...]
    is_start: bool

    def value(self, at: Mapping[Dim, int]) -> int:
        """Return by how much an index is inside of the end."""
        where = tuple(at[dim] for dim in self.dims) or (0,)
        ends = self.contents.ends
        assert ends is not None
        number = self.contents.number(TABLES[0 if self.is_start else 1], where)
        return at[self.dim] - number - ends.more if self.is_start else number - 1 - at[self.dim]


def placed_at(contents: Contents, func: Func, element: Indices) -> Indices | None:
    """Return the place of an element of a Func in its input; None if it is outside at 0."""
    assert func.into is not None
    labels = dict(zip(func.labels, element, strict=True))
    if func.into.at is None:
        return element
    at = tuple(contents.index(index, labels) for index in func.into.at.indices)
    return at if all(one >= 0 for one in at) else None
