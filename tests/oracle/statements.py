"""Computes the statements of each Func: what each statement reads and writes, by label.

Inlined Funcs take the place of their reads. No values are computed: the value of an instance is a
number that is mixed from its indices and from the values that it reads, so only these are kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from dtpoly.algorithm.expressions import (
    Affine,
    Dot,
    Expr,
    Index,
    Read,
    Reduce,
    Reshape,
    children,
)
from dtpoly.algorithm.program import Func, Program

# A label is bound by the left side of the Func, or by a reduction, which is given by its number.
LEFT = -1


class Dim(NamedTuple):
    """A dimension of statements: a label, and what binds it."""

    label: str
    binder: int = LEFT


@dataclass(frozen=True, slots=True)
class Access:
    """A read of a Func; with guards (index, size), it only happens if the indices are in range."""

    func: str
    indices: tuple[Affine, ...]
    guards: tuple[tuple[Affine, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction: dimensions of its result, those that it binds, and reads of its operand."""

    number: int
    kept: tuple[Dim, ...]
    bound: tuple[Dim, ...]
    accesses: tuple[Access, ...]
    nested: "tuple[Reduction, ...]"
    scope: Mapping[str, Dim]  # of its operand

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels that the reduction binds."""
        return tuple(dim.label for dim in self.bound)


@dataclass(frozen=True, slots=True)
class Meaning:
    """A Func: its dimensions, its reductions, and what its value reads besides them.

    If the definition is a reduction and nothing else, `copies` says that the value is its result.
    """

    name: str
    dims: tuple[Dim, ...]
    reductions: tuple[Reduction, ...]
    accesses: tuple[Access, ...]
    copies: bool

    def every(self) -> Iterator[Reduction]:
        """Yield all reductions: outer before inner ones, left to right."""
        pending = list(reversed(self.reductions))
        while pending:
            reduction = pending.pop()
            yield reduction
            pending.extend(reversed(reduction.nested))


def meanings(
    program: Program, inlined: frozenset[str], sizes: Mapping[str, int]
) -> dict[str, Meaning]:
    """Return the meaning of every Func that is not inlined."""
    funcs = {func.name: func for func in program.funcs}
    return {
        name: _Reader(funcs, inlined, sizes).meaning(func)
        for name, func in funcs.items()
        if name not in inlined
    }


@dataclass(slots=True)
class _Found:
    """The parts of an expression outside of the reductions in it."""

    labels: dict[str, None]
    accesses: list[Access]
    reductions: list[Reduction]


class _Reader:
    """Walks one definition."""

    def __init__(
        self, funcs: Mapping[str, Func], inlined: frozenset[str], sizes: Mapping[str, int]
    ) -> None:
        self.funcs, self.inlined, self.sizes = funcs, inlined, sizes
        self.numbers = 0

    def meaning(self, func: Func) -> Meaning:
        scope = {label: Dim(label) for label in func.labels}
        found = self.scan(func.body, scope)
        copies = isinstance(func.body, Reduce | Dot)
        dims = tuple(scope.values())
        return Meaning(func.name, dims, tuple(found.reductions), tuple(found.accesses), copies)

    def scan(self, expr: Expr, scope: Mapping[str, Dim]) -> _Found:
        found = _Found({}, [], [])
        self.visit(expr, scope, {}, (), found)
        return found

    def visit(
        self,
        expr: Expr,
        scope: Mapping[str, Dim],
        replaced: Mapping[str, Affine],
        guards: tuple[tuple[Affine, int], ...],
        found: _Found,
    ) -> None:
        """Collect the parts of an expression.

        `replaced` gives the indices that stand for the labels of an inlined Func.
        """
        match expr:
            case Index(label=label):
                found.labels.update(dict.fromkeys(put_in(Affine(((label, 1),)), replaced).labels))
            case Read(tensor=tensor, indices=indices, padding=padding):
                put = tuple(put_in(index, replaced) for index in indices)
                if padding is not None:
                    self.visit(padding, scope, replaced, guards, found)
                self.read(tensor, put, padding is not None, scope, guards, found)
            case Reduce(labels=labels) | Dot(labels=labels):
                reduction = self.reduction(children(expr), labels, scope)
                found.reductions.append(reduction)
                found.labels.update((dim.label, None) for dim in reduction.kept)
            case _:
                if isinstance(expr, Reshape):
                    for axis in expr.axes:
                        if axis is not None:
                            put_axis = put_in(Affine(((axis, 1),)), replaced)
                            found.labels.update(dict.fromkeys(put_axis.labels))
                for operand in children(expr):
                    self.visit(operand, scope, replaced, guards, found)

    def read(
        self,
        tensor: str,
        indices: tuple[Affine, ...],
        padded: bool,
        scope: Mapping[str, Dim],
        guards: tuple[tuple[Affine, int], ...],
        found: _Found,
    ) -> None:
        func = self.funcs.get(tensor)
        if func is not None and padded:
            extents = [self.sizes[label] for label in func.labels]
            guards = (*guards, *zip(indices, extents, strict=True))
            found.labels.update((label, None) for index in indices for label in index.labels)
        if func is not None and tensor in self.inlined:
            inner = dict(zip(func.labels, indices, strict=True))
            self.visit(func.body, scope, inner, guards, found)
            return
        found.labels.update((label, None) for index in indices for label in index.labels)
        if func is not None:
            found.accesses.append(Access(tensor, indices, guards))

    def reduction(
        self, operands: Sequence[Expr], labels: tuple[str, ...], scope: Mapping[str, Dim]
    ) -> Reduction:
        number = self.numbers
        self.numbers += 1
        bound = tuple(Dim(label, number) for label in labels)
        inside = {**scope, **{dim.label: dim for dim in bound}}
        found = _Found({}, [], [])
        for operand in operands:
            self.visit(operand, inside, {}, (), found)
        free = [inside[label] for label in found.labels if inside[label] not in bound]
        visible = [*(d for d in scope.values() if d.binder == LEFT)]
        visible += sorted((d for d in scope.values() if d.binder != LEFT), key=lambda d: d.binder)
        kept = tuple(dim for dim in visible if dim in free)
        nested = tuple(found.reductions)
        return Reduction(number, kept, bound, tuple(found.accesses), nested, inside)


def put_in(index: Affine, replaced: Mapping[str, Affine]) -> Affine:
    """Return an index with other indices in the place of labels."""
    total = Affine((), index.constant)
    for label, coefficient in index.terms:
        total = total + replaced.get(label, Affine(((label, 1),))).scaled(coefficient)
    return total
