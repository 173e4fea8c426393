"""Judges results in place by brute force: each read of an old element is compared with its write.

A read must be over before the element is written: in an earlier kernel, or at an earlier time of
the same program. All lanes of one statement at one time read before one of them writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import Affine, Read, division
from dtpoly.algorithm.program import Func, Program
from tests.oracle.cells import Cell, Indices, Reading
from tests.oracle.lines import Line
from tests.oracle.nest import Placed

Wrong = tuple[str, Placed, Placed]


def replaced_too_early(program: Program, placed: Iterable[Placed]) -> Iterator[Wrong]:
    """Yield how it is wrong, the instance that reads an old element, and the one that writes it."""
    memory = {func.into.tensor: func for func in program.funcs if func.into is not None}
    if not memory:
        return
    every = list(placed)
    writers: dict[Cell, list[Placed]] = {}
    for one in every:
        writers.setdefault(one.write, []).append(one)
    readings: dict[Line, list[Reading]] = {}
    for one in every:
        if one.line not in readings:
            readings[one.line] = [Reading(access, one.line) for access in one.line.old]
        for reading in readings[one.line]:
            at: Indices | None = reading.at(one.indices)
            if at is None:
                continue
            func = memory[reading.func]
            place = None if func.into is None else func.into.at
            found = (
                _writers(writers, func.name, at, reading.open)
                if place is None
                else _placed(writers, (func, place), at, reading.open)
            )
            for writer in found:
                if kind := _wrong(one, writer):
                    yield kind, one, writer


def _writers(
    writers: Mapping[Cell, list[Placed]], func: str, at: Indices, free: Sequence[int]
) -> Iterator[Placed]:
    """Yield what writes an element, or any element along the axes that are free."""
    if not free:
        yield from writers.get((func, None, at), ())
        return
    for (name, key, element), found in writers.items():
        if (name, key) == (func, None) and all(
            own == other
            for axis, (own, other) in enumerate(zip(element, at, strict=True))
            if axis not in free
        ):
            yield from found


def _placed(
    writers: Mapping[Cell, list[Placed]],
    placed: tuple[Func, Read],
    at: Indices,
    free: Sequence[int],
) -> Iterator[Placed]:
    """Yield what writes an element at a place; along axes at data it may be any."""
    func, place = placed
    for (name, key, element), found in writers.items():
        if (name, key) != (func.name, None):
            continue
        labels = dict(zip(func.labels, element, strict=True))
        if all(
            axis in free or index.data is not None or _index(index, labels) == other
            for axis, (index, other) in enumerate(zip(place.indices, at, strict=True))
        ):
            yield from found


def _index(index: Affine, labels: Mapping[str, int]) -> int:
    total = index.constant
    for term, coefficient in index.terms:
        if isinstance(term, str):
            total += coefficient * labels[term]
        else:
            term = division(term)
            inner = _index(term.inner, labels)
            rest = inner // term.divisor if term.operator == "//" else inner % term.divisor
            total += coefficient * rest
    return total


def _wrong(reader: Placed, writer: Placed) -> str:
    """Say what is wrong with a write of an element that is read; nothing, if it comes later."""
    if reader.kernel != writer.kernel:
        return "" if reader.kernel < writer.kernel else "runs too late"
    if reader.program != writer.program:
        return "crosses program instances"
    if reader.time < writer.time or (reader.line is writer.line and reader.time == writer.time):
        return ""
    return "lanes race" if reader.time == writer.time else "runs too late"
