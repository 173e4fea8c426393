"""Gives labels of random Programs ranges that depend on other labels and on sizes."""

from dataclasses import replace
from random import Random

from dtpoly.algorithm.expressions import (
    Affine,
    Conditions,
    Dot,
    Expr,
    Reduce,
    SizedIndex,
    map_children,
    walk,
)
from dtpoly.algorithm.label_ranges import check_ranges
from dtpoly.algorithm.program import LabelRange, Program

NUMBERS = (-2, -1, 0, 0, 1, 1, 2, 3)


def ranged(random: Random, program: Program) -> Program | None:
    """Return the Program with ranges of one or two labels; None if there is no place for any."""
    found: Program | None = None
    labels = [label.name for label in program.labels]
    for _ in range(8 if labels else 0):
        label = random.choice(labels)
        one = _range(random, label, [name for name in labels if name != label])
        made = with_range(found or program, label, one)
        if not any(check_ranges(made, func) for func in made.funcs) and _is_used(made):
            found = made
            if random.random() < 0.6:
                break
    return found


def _range(random: Random, label: str, others: list[str]) -> LabelRange:
    start, stop = SizedIndex(Affine()), SizedIndex(Affine(), Affine(((label, 1),)))
    way = random.random()
    if way < 0.75:
        stop = _end(random, others)
    if way > 0.4:
        start = _end(random, others)
    return LabelRange(start, stop)


def _end(random: Random, others: list[str]) -> SizedIndex:
    number = Affine((), random.choice(NUMBERS))
    if not others or random.random() < 0.12:
        return SizedIndex(number)
    other = random.choice(others)
    if random.random() < 0.2:
        size = Affine(((other, 1),))
        label = Affine(((random.choice(others), -1),)) if random.random() < 0.7 else Affine()
        return SizedIndex(number + label, size)
    return SizedIndex(number + Affine(((other, random.choice((1, 1, 1, 1, 2, -1))),)))


def with_range(program: Program, label: str, one: LabelRange) -> Program:
    """Return the Program in which a label has a range."""
    labels = tuple(
        replace(other, range=one) if other.name == label else other for other in program.labels
    )
    made = replace(program, labels=labels)
    ranges = made.ranges

    def conditions(names: tuple[str, ...]) -> Conditions:
        return tuple(c for n in names if n in ranges for c in ranges[n].conditions(n))

    def within(expr: Expr) -> Expr:
        expr = map_children(expr, within)
        return (
            replace(expr, when=conditions(expr.labels)) if isinstance(expr, Reduce | Dot) else expr
        )

    funcs = tuple(
        replace(func, body=within(func.body), when=conditions(func.labels)) for func in made.funcs
    )
    return replace(made, funcs=funcs)


def _is_used(program: Program) -> bool:
    nodes = (node for func in program.funcs for node in walk(func.body))
    reductions = [node for node in nodes if isinstance(node, Reduce | Dot)]
    return any(node.when for node in reductions) or any(func.when for func in program.funcs)
