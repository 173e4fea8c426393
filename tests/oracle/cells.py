"""Computes which cells of storage each instance of a statement touches."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from dtpoly.algorithm.expressions import Affine, division
from tests.oracle.layout import Times
from tests.oracle.lines import Line
from tests.oracle.statements import Access

Indices = tuple[int, ...]
# The owner of a copy of an array: None if there is one copy only, else (kernel, program, time so
# far).
Key = tuple[int, Indices, Times] | None
Cell = tuple[str, Key, Indices]
# The key of a read that finds no copy.
NOWHERE: Key = (-1, (), ())


def nobody(_name: str) -> bool:
    return False


class AffineAt(NamedTuple):
    """An index over positions of an instance.

    Each of `divisions` is an index, what it is divided by, whether what is left over is meant, and
    how many times the result is added.
    """

    constant: int
    terms: tuple[tuple[int, int], ...]
    divisions: "tuple[tuple[AffineAt, int, bool, int], ...]" = ()

    def value(self, indices: Indices) -> int:
        total = self.constant
        for position, coefficient in self.terms:
            total += coefficient * indices[position]
        for inner, divisor, is_rest, coefficient in self.divisions:
            total += coefficient * divmod(inner.value(indices), divisor)[is_rest]
        return total


def _index(index: Affine, line: Line) -> AffineAt:
    assert line.scope is not None
    terms: list[tuple[int, int]] = []
    divisions: list[tuple[AffineAt, int, bool, int]] = []
    for term, coefficient in index.terms:
        if isinstance(term, str):
            terms.append((line.dims.index(line.scope[term]), coefficient))
        else:
            term = division(term)
            inner = _index(term.inner, line)
            divisions.append((inner, term.divisor, term.operator == "%", coefficient))
    return AffineAt(index.constant, tuple(terms), tuple(divisions))


class Reading:
    """The elements of a Func that the instances of a statement read."""

    def __init__(self, access: Access, line: Line) -> None:
        self.func = access.func
        # The axes along which data says what is read: any element may be.
        self.open = [axis for axis, one in enumerate(access.indices) if one.data is not None]
        known = [Affine() if one.data is not None else one for one in access.indices]
        self.indices = [_index(index, line) for index in known]
        self.guards = [(_index(index, line), size) for index, size in access.guards]
        plain = all(index.plain is not None for index in known)
        self.positions = [i.terms[0][0] for i in self.indices] if plain else None

    def at(self, indices: Indices) -> Indices | None:
        """Return the element, or None if the read is outside of the Func."""
        for index, size in self.guards:
            if not 0 <= index.value(indices) < size:
                return None
        if self.positions is not None:
            return tuple([indices[at] for at in self.positions])
        return tuple([index.value(indices) for index in self.indices])


class Cells:
    """The cells that the instances of a statement touch.

    Reads of a Func that the kernel computes itself are left out, because they are only known when
    that Func is placed.
    """

    def __init__(
        self, line: Line, global_results: Mapping[str, None], is_member: Callable[[str], bool]
    ) -> None:
        self.target = line.target
        self.target_at = [line.dims.index(dim) for dim in line.target_dims]
        self.results = [
            (array, array in global_results, [line.dims.index(dim) for dim in dims])
            for array, dims in line.results
        ]
        self.readings = [Reading(a, line) for a in line.accesses if not is_member(a.func)]
        scan = None if line.role != "scan" or line.reduction is None else line.reduction.scan
        self.scan = scan and (scan, line.dims.index(scan.dim))

    def of(
        self, indices: Indices, key: Key, target_key: Key, keys: Mapping[str, Key] | None = None
    ) -> tuple[list[Cell], Cell]:
        """Return the cells that an instance reads, and the one that it writes.

        `keys` gives the copies of some results.
        """
        reads: list[Cell] = []
        for array, is_global, positions in self.results:
            mine = None if is_global else key if keys is None else keys[array]
            reads.append((array, mine, tuple([indices[at] for at in positions])))
        for reading in self.readings:
            at = reading.at(indices)
            if at is not None:
                reads.append((reading.func, None, at))
        if self.scan is not None:
            scan, position = self.scan
            before = scan.before(indices[position])
            if before is not None:
                there = (*indices[:position], before, *indices[position + 1 :])
                reads.append((self.target, target_key, tuple([there[at] for at in self.target_at])))
        return reads, (self.target, target_key, tuple([indices[at] for at in self.target_at]))
