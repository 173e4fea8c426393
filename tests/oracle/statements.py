"""Computes the statements of each Func: what each statement reads and writes, by label.

Inlined Funcs take the place of their reads. No values are computed: the value of an instance is a
number that is mixed from its indices and from the values that it reads, so only these are kept.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple, Protocol

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Index,
    Integer,
    Read,
    Reduce,
    Reshape,
    ScanOrder,
    SizedIndex,
    at_data,
    children,
    data_of,
    divided,
    division,
    map_children,
)
from dtpoly.algorithm.program import Func, Program

# A label is bound by the left side of the Func, or by a reduction, which is given by its number.
LEFT = -1
ANY_LENGTH = 2**40
NO_CUTS: Mapping[str, Mapping[str, int]] = MappingProxyType({})


class Dim(NamedTuple):
    """A dimension of statements: a label, and what binds it."""

    label: str
    binder: int = LEFT


class Condition(Protocol):
    """A condition for a step to be taken: its value is at least 0."""

    def value(self, at: Mapping[Dim, int]) -> int:
        """Return the number for some indices."""
        ...


# Says which conditions tables make of the labels that a reduction binds, with all dimensions there.
Taken = Callable[[tuple[str, ...], Mapping[str, Dim]], Iterable[Condition]]


def all_taken(_labels: tuple[str, ...], _scope: Mapping[str, Dim]) -> Iterable[Condition]:
    """Say that no table leaves out a step."""
    return ()


class Sum(NamedTuple):
    """A sum of dimensions times whole numbers, and a constant."""

    constant: int
    terms: tuple[tuple[Dim, int], ...]

    def value(self, at: Mapping[Dim, int]) -> int:
        """Return the number that the sum is for some indices."""
        return self.constant + sum(c * at[dim] for dim, c in self.terms)


@dataclass(frozen=True, slots=True)
class Access:
    """A read of a Func; with guards (index, size), it only happens if the indices are in range."""

    func: str
    indices: tuple[Affine, ...]
    guards: tuple[tuple[Affine, int], ...] = ()


class Scanned(NamedTuple):
    """The order of a scan: each result goes on from the one before, along a dimension.

    If it is in parts, it begins anew in each of them.
    """

    dim: Dim
    is_reverse: bool
    size: int
    part: int = ANY_LENGTH

    def before(self, index: int) -> int | None:
        """Return the index whose result comes before that of an index; None for the first."""
        one = index + 1 if self.is_reverse else index - 1
        is_there = 0 <= one < self.size and one // self.part == index // self.part
        return one if is_there else None

    def turn(self, index: int) -> int:
        """Return how many results come before that of an index."""
        return self.size - 1 - index if self.is_reverse else index


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduction: dimensions of its result, those that it binds, and reads of its operand."""

    number: int
    kept: tuple[Dim, ...]
    bound: tuple[Dim, ...]
    accesses: tuple[Access, ...]
    nested: "tuple[Reduction, ...]"
    scope: Mapping[str, Dim]  # of its operand
    # Its steps are those for which all of these are at least 0.
    takes: "tuple[Condition, ...]" = ()
    old: tuple[Access, ...] = ()  # reads of inputs that a Func replaces in place
    scan: "Scanned | None" = None
    turns: "Scanned | None" = None  # of a reduction whose steps come one after another

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
    old: tuple[Access, ...] = ()  # reads of inputs that a Func replaces in place
    is_late: bool = False  # another Func's kernel stores it after its own Func

    def every(self) -> Iterator[Reduction]:
        """Yield all reductions: outer before inner ones, left to right."""
        pending = list(reversed(self.reductions))
        while pending:
            reduction = pending.pop()
            yield reduction
            pending.extend(reversed(reduction.nested))


def meanings(
    program: Program,
    inlined: frozenset[str],
    sizes: Mapping[str, int],
    taken: Taken = all_taken,
    cuts: Mapping[str, Mapping[str, int]] = NO_CUTS,
) -> dict[str, Meaning]:
    """Return the meaning of every Func that is not inlined.

    `cuts` has the length of the parts in which scans begin anew, by Func and label.
    """
    funcs = {func.name: func for func in program.funcs}
    return {
        name: _Reader(funcs, inlined, sizes, taken, cuts.get(name, {})).meaning(func)
        for name, func in funcs.items()
        if name not in inlined
    }


@dataclass(slots=True)
class _Found:
    """The parts of an expression outside of the reductions in it."""

    labels: dict[str, None]
    accesses: list[Access]
    reductions: list[Reduction]
    old: list[Access]


class _Reader:
    """Walks one definition."""

    def __init__(
        self,
        funcs: Mapping[str, Func],
        inlined: frozenset[str],
        sizes: Mapping[str, int],
        taken: Taken,
        cuts: Mapping[str, int],
    ) -> None:
        self.cuts = cuts
        self.funcs, self.inlined, self.sizes, self.taken = funcs, inlined, sizes, taken
        self.numbers = 0
        self.of_func: list[Sum] = []
        self.replaced = {one.into.tensor: one for one in funcs.values() if one.into is not None}

    def meaning(self, func: Func) -> Meaning:
        scope = {label: Dim(label) for label in func.labels}
        # An element that is outside of its range is 0: no step of a reduction is taken for it.
        self.of_func = [self.sum_of(one, scope) for one in func.when]
        found = self.scan(func.body, scope)
        copies = isinstance(func.body, Reduce | Dot)
        dims = tuple(scope.values())
        accesses, old = tuple(found.accesses), tuple(found.old)
        is_late = func.into is not None
        return Meaning(func.name, dims, tuple(found.reductions), accesses, copies, old, is_late)

    def scan(self, expr: Expr, scope: Mapping[str, Dim]) -> _Found:
        found = _Found({}, [], [], [])
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
                for value in data_of(expr):
                    self.visit(value, scope, replaced, guards, found)
                if padding is not None:
                    self.visit(padding, scope, replaced, guards, found)
                self.read(tensor, put, padding is not None, scope, guards, found)
            case Reduce(scan=ScanOrder() as order) if not order.is_of_all(expr.labels):
                scanned = self.scanned(expr, order, scope)
                found.reductions.append(scanned)
                found.labels.update((dim.label, None) for dim in scanned.kept)
            case Reduce(labels=labels) | Dot(labels=labels):
                operands = children(expr)
                chained = expr.scan if isinstance(expr, Reduce) else None
                if isinstance(expr, Reduce) and chained is not None:
                    operands = (expr.operand, *chained.beside[:1])
                reduction = self.reduction(operands, labels, scope, expr.when)
                if chained is not None:  # each step goes on from what the one before it made
                    along = Dim(chained.at, reduction.number)
                    turns = Scanned(along, chained.is_reverse, self.sizes[chained.at])
                    reduction = replace(reduction, turns=turns)
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
        taken = self.replaced.get(tensor)
        if taken is not None:
            extents = self.extents(taken)
            inside = tuple(zip(indices, extents, strict=True)) if padded else ()
            # Data may be any index, so any element may be read.
            inside = tuple((index, size) for index, size in inside if index.data is None)
            found.old.append(Access(tensor, indices, (*guards, *inside)))
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

    def extents(self, func: Func) -> list[int]:
        """Return how long an input is along its axes.

        Along an axis at whose index something is placed that is no label, it may be of any length.
        """
        at = None if func.into is None else func.into.at
        if at is None:
            return [self.sizes[label] for label in func.labels]
        plain = [index.plain for index in at.indices]
        return [ANY_LENGTH if label is None else self.sizes[label] for label in plain]

    def sum_of(self, condition: SizedIndex, scope: Mapping[str, Dim]) -> Sum:
        """Return a condition at these sizes."""
        sizes = sum(c * self.sizes[label] for label, c in condition.sizes.linear)
        terms = tuple((scope[label], c) for label, c in condition.index.linear)
        return Sum(condition.index.constant + sizes, terms)

    def scanned(self, expr: Reduce, order: ScanOrder, scope: Mapping[str, Dim]) -> Reduction:
        """Return a scan: the elements that come in at an index are read there, or beside it."""
        number = self.numbers
        self.numbers += 1
        step = 0 if not order.is_before else -1 if order.is_reverse else 1
        (label,) = expr.labels
        index = Affine(((order.at, 1),), -step)
        size = self.sizes[order.at]
        guards = ((index, size),) if step else ()
        found = _Found({order.at: None}, [], [], [])
        for one in (expr.operand, *order.beside[:1]):
            self.visit(one, scope, {label: index}, guards, found)
        assert not found.reductions
        kept = tuple(dim for dim in scope.values() if dim.label in found.labels)
        part = self.cuts.get(order.at, ANY_LENGTH)
        along = Scanned(scope[order.at], order.is_reverse, size, part)
        accesses, old = tuple(found.accesses), tuple(found.old)
        return Reduction(number, kept, (), accesses, (), scope, (), old, along)

    def reduction(
        self,
        operands: Sequence[Expr],
        labels: tuple[str, ...],
        scope: Mapping[str, Dim],
        when: Sequence[SizedIndex],
    ) -> Reduction:
        number = self.numbers
        self.numbers += 1
        bound = tuple(Dim(label, number) for label in labels)
        inside = {**scope, **{dim.label: dim for dim in bound}}
        found = _Found({}, [], [], [])
        for operand in operands:
            self.visit(operand, inside, {}, (), found)
        found.labels.update((label, None) for one in when for label in one.labels)
        free = [inside[label] for label in found.labels if inside[label] not in bound]
        visible = [*(d for d in scope.values() if d.binder == LEFT)]
        visible += sorted((d for d in scope.values() if d.binder != LEFT), key=lambda d: d.binder)
        kept = tuple(dim for dim in visible if dim in free)
        nested = tuple(found.reductions)
        own: list[Condition] = [self.sum_of(one, inside) for one in when]
        own += self.taken(labels, inside)
        own += [one for one in self.of_func if all(dim in kept for dim, _ in one.terms)]
        accesses, old = tuple(found.accesses), tuple(found.old)
        return Reduction(number, kept, bound, accesses, nested, inside, tuple(own), old)


def put_in(index: Affine, replaced: Mapping[str, Affine]) -> Affine:
    """Return an index with other indices in the place of labels."""
    if index.data is not None:
        return at_data(_put_in_data(index.data, replaced))
    total = Affine((), index.constant)
    for term, coefficient in index.terms:
        if isinstance(term, str):
            one = replaced.get(term, Affine(((term, 1),)))
        else:
            term = division(term)
            one = divided(term.operator, put_in(term.inner, replaced), term.divisor)
        total = total + one.scaled(coefficient)
    return total


def _put_in_data(value: Expr, replaced: Mapping[str, Affine]) -> Expr:
    """Return an index that is data with other indices in the place of labels."""
    match value:
        case Index(label=label) if label in replaced:
            return _as_value(replaced[label])
        case Read(indices=indices):
            put = tuple(put_in(one, replaced) for one in indices)
            return replace(value, indices=put)
        case Reshape(operand=operand):
            return _put_in_data(operand, replaced)
        case _:
            return map_children(value, lambda one: _put_in_data(one, replaced))


def _as_value(index: Affine) -> Expr:
    """Return an index as a value."""
    if index.data is not None:
        return index.data
    total: Expr = Integer(index.constant)
    for term, coefficient in index.terms:
        if isinstance(term, str):
            one: Expr = Index(term)
        else:
            term = division(term)
            one = Apply(term.operator, (_as_value(term.inner), Integer(term.divisor)))
        total = Apply("add", (total, Apply("mul", (Integer(coefficient), one))))
    return total
