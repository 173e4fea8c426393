"""Judges results in place by brute force: each read of an old element is compared with its write.

A read must be over before the element is written: in an earlier kernel, or at an earlier time of
the same program. All lanes of one statement at one time read before one of them writes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dtpoly.algorithm.expressions import Affine, Read, division
from dtpoly.algorithm.program import Func, Program
from tests.oracle.built import Placed
from tests.oracle.cells import Cell, Indices, Reading
from tests.oracle.data_tables import Contents, placed_at
from tests.oracle.lines import Line
from tests.oracle.statements import Access

Wrong = tuple[str, Placed, Placed]
Writers = Mapping[Cell, list[Placed]]


def replaced_too_early(
    program: Program, placed: Iterable[Placed], contents: Contents | None = None
) -> Iterator[Wrong]:
    """Yield how it is wrong, the instance that reads an old element, and the one that writes it.

    Without the contents of tables, an index that is data may be any.
    """
    memory = {func.into.tensor: func for func in program.funcs if func.into is not None}
    if not memory:
        return
    every = list(placed)
    writers: dict[Cell, list[Placed]] = {}
    for one in every:
        writers.setdefault(one.write, []).append(one)
    readings: dict[Line, list[tuple[Access, Reading]]] = {}
    for one in every:
        if one.line not in readings:
            readings[one.line] = [(old, Reading(old, one.line)) for old in one.line.old]
        for access, reading in readings[one.line]:
            at: Indices | None = reading.at(one.indices)
            if at is None:
                continue
            func = memory[reading.func]
            if contents is not None:
                found = _at_place(writers, func, _known(access, one, contents), contents)
            elif func.into is None or func.into.at is None:
                found = _writers(writers, func.name, at, reading.open)
            else:
                found = _placed(writers, (func, func.into.at), at, reading.open)
            for writer in found:
                if kind := _wrong(one, writer):
                    yield kind, one, writer


def added_too_early(program: Program, placed: Iterable[Placed]) -> Iterator[Wrong]:
    """Yield what is stored although something may have been added there.

    At which place an element is added may be data. So all that a sum begins with comes before all
    that is added. Each of the two is a statement or several, which have one kernel.
    """
    starts = program.starts
    if not starts:
        return
    stored: dict[str, Placed] = {}
    added: dict[str, Placed] = {}
    for one in placed:
        name, key, _ = one.write
        if key is None and name in starts:
            last = stored.setdefault(name, one)
            stored[name] = max(last, one, key=lambda x: (x.kernel, x.time))
        if key is None and name in starts.values():
            first = added.setdefault(name, one)
            added[name] = min(first, one, key=lambda x: (x.kernel, x.time))
    for start, func in starts.items():
        if start in stored and func in added and (kind := _wrong(stored[start], added[func])):
            yield kind, stored[start], added[func]


def _known(access: Access, one: Placed, contents: Contents) -> Indices:
    """Return which element an instance reads, as tables say."""
    scope = one.line.scope
    assert scope is not None
    at = dict(zip(one.line.dims, one.indices, strict=True))
    labels = {label: at[dim] for label, dim in scope.items() if dim in at}
    return tuple(contents.index(index, labels) for index in access.indices)


def _at_place(
    writers: Writers, func: Func, element: Indices, contents: Contents
) -> Iterator[Placed]:
    """Yield what writes an element of an input, as tables say."""
    for (name, key, own), found in writers.items():
        if (name, key) == (func.name, None) and placed_at(contents, func, own) == element:
            yield from found


def _writers(writers: Writers, func: str, at: Indices, free: Sequence[int]) -> Iterator[Placed]:
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
    writers: Writers,
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
