"""Computes the statements of the kernels of a Func, in the order of the text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from dtpoly.algorithm.expressions import Affine
from tests.oracle.said import Settings, Unclear
from tests.oracle.statements import Access, Dim, Meaning, Reduction

NOWHERE: Mapping[str, str] = MappingProxyType({})
NO_DIMS: Mapping[str, Dim] = MappingProxyType({})
Role = Literal["zero", "init", "update", "combine", "store", "add", "value", "kept", "scan"]


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A statement of one kernel.

    It reads `results`, which are arrays indexed by some of its dimensions, and Funcs; it writes an
    element of `target`, or adds to it. The value that it writes is mixed from what it reads, or is
    the sum of that.
    """

    func: str
    role: Role
    reduction: Reduction | None
    dims: tuple[Dim, ...]
    target: str
    target_dims: tuple[Dim, ...]
    results: tuple[tuple[str, tuple[Dim, ...]], ...]
    accesses: tuple[Access, ...] = ()
    scope: Mapping[str, Dim] | None = None
    mixes: bool = False
    old: tuple[Access, ...] = ()  # reads of inputs that a Func replaces in place

    def takes(self, indices: Sequence[int]) -> bool:
        """Return whether there is such an instance: a step whose indices are in their ranges."""
        if self.reduction is None or not self.mixes or not self.reduction.takes:
            return True
        at = dict(zip(self.dims, indices, strict=True))
        return all(one.value(at) >= 0 for one in self.reduction.takes)

    @property
    def is_update(self) -> bool:
        """True if the statement adds to the element."""
        return self.role in ("update", "add")

    def __str__(self) -> str:
        number = "" if self.reduction is None else f".{self.reduction.number}"
        return f"{self.func}{number}.{self.role}"


@dataclass(frozen=True, slots=True)
class Nest:
    """The statements of a Func in one kernel, and the axes of its grid: (dimension, block)."""

    name: str
    lines: tuple[Line, ...]
    axes: tuple[tuple[Dim, int], ...] = ()
    fixed: tuple[Dim, ...] = ()  # of the axes: the number of the block itself, as a dimension
    is_zero: bool = False  # it only makes results the identity
    # Of dimensions of which a program has a part: what numbers the parts, and their length.
    parts: Mapping[Dim, tuple[Dim, int]] = field(default_factory=dict[Dim, tuple[Dim, int]])


@dataclass(frozen=True, slots=True)
class Parts:
    """The division of a Func's reductions: block sizes, and names of partial labels."""

    blocks: Mapping[str, int]
    names: Mapping[str, str]

    def is_split(self, reduction: Reduction) -> bool:
        """True if a label that the reduction binds is blocked."""
        return any(label in self.blocks for label in reduction.labels)

    def dims(self, reduction: Reduction) -> tuple[Dim, ...]:
        """Return the dimensions of the partial results, except those that the reduction keeps."""
        cut = (label for label in reduction.labels if label in self.blocks)
        # Without a name, partial results have a label that no directive can name.
        return tuple(Dim(self.names.get(k, f"{k}'"), reduction.number) for k in cut)


WHOLE = Parts({}, {})


def whole(meaning: Meaning) -> tuple[Line, ...]:
    """Return all statements of a Func that is computed as it is defined."""
    lines = [line for r in meaning.reductions for line in _reduction(meaning, r, WHOLE)]
    return (*lines, _value(meaning))


def nests(
    meaning: Meaning,
    settings: Settings,
    results: Sequence[Meaning] = (),
    along: Mapping[str, str] = NOWHERE,
) -> Iterator[Nest]:
    """Yield the kernels of a Func, in order; the last one stores results of other Funcs, too.

    `along` has the labels of reductions in whose loops results are stored.
    """
    within: dict[int, tuple[Meaning, ...]] = {}
    for one in results:
        for reduction in meaning.reductions:
            if along.get(one.name) in reduction.labels and not one.is_late:
                within[reduction.number] = (*within.get(reduction.number, ()), one)
                break
    inside = [one for some in within.values() for one in some]
    kept = kept_lines(
        meaning.name, [one for one in results if not one.is_late and one not in inside]
    )
    late = kept_lines(meaning.name, [one for one in results if one.is_late])
    left = {dim.label for dim in meaning.dims}
    own = tuple(
        (dim, settings.blocks[dim.label]) for dim in meaning.dims if dim.label in settings.blocks
    )
    cut = {label: size for label, size in settings.blocks.items() if label not in left}
    parts = Parts(cut, settings.partials)
    walked = {
        dim: (Dim(number), size)
        for label, (number, size) in settings.walks.items()
        for dim in (Dim(label), *(d for r in meaning.reductions for d in r.bound))
        if dim.label == label
    }
    # A program has one part, so that there is no loop over parts.
    numbers = tuple(Dim(number) for number, _ in settings.walks.values())
    if settings.atomic:
        yield from _atomic(meaning, own, cut, settings)
        return
    for reduction in reversed([r for r in meaning.every() if parts.is_split(r)]):
        kept_axes = [(dim, size) for dim, size in own if dim in reduction.kept]
        axes = [(dim, cut[dim.label]) for dim in reduction.bound if dim.label in cut]
        fixed = parts.dims(reduction)
        lines = list(_reduction(meaning, reduction, parts, split=False))
        part = _part(meaning, reduction)
        dims = (*reduction.kept, *fixed)
        total = (_total(meaning, reduction), reduction.kept)
        lines.append(Line(meaning.name, "store", reduction, dims, part, dims, (total,)))
        name = f"{meaning.name}.part"
        yield Nest(name, tuple(lines), (*kept_axes, *axes), (*fixed, *numbers), parts=walked)
    lines = [
        line
        for r in meaning.reductions
        for line in _with_kept(meaning, r, parts, within.get(r.number, ()))
    ]
    yield Nest(meaning.name, (*kept, *lines, _value(meaning), *late), own, numbers, parts=walked)


def _with_kept(
    meaning: Meaning, reduction: Reduction, parts: Parts, results: Sequence[Meaning]
) -> Iterator[Line]:
    """Yield the statements of a reduction; results are stored in its loops, before all in them."""
    bound = {dim.label: dim for dim in reduction.bound}
    for line in _reduction(meaning, reduction, parts):
        yield line
        if line.role == "init" and line.reduction is reduction:
            yield from kept_lines(meaning.name, results, bound)


def kept_lines(
    host: str, results: Sequence[Meaning], bound: Mapping[str, Dim] = NO_DIMS
) -> tuple[Line, ...]:
    """Return the statements with which the kernel of a Func stores results of other Funcs.

    `bound` has the dimensions of the reduction in whose loops they are.
    """
    lines: list[Line] = []
    for one in results:
        dims = tuple(bound.get(dim.label, dim) for dim in one.dims)
        scope = {dim.label: dim for dim in dims}
        element = tuple(Affine(((dim.label, 1),)) for dim in dims)
        read = (Access(one.name, element),)
        lines.append(Line(host, "kept", None, dims, one.name, dims, (), read, scope))
    return tuple(lines)


def _atomic(
    meaning: Meaning,
    own: tuple[tuple[Dim, int], ...],
    cut: Mapping[str, int],
    settings: Settings,
) -> Iterator[Nest]:
    """Yield a kernel that makes the result the identity, and one whose programs add to it."""
    (reduction,) = meaning.reductions
    inner = [r for r in meaning.every() if r is not reduction]
    if frozenset(cut) != settings.atomic or any(set(r.labels) & set(cut) for r in inner):
        raise Unclear(f"{meaning.name} has atomic results and others")
    name, dims = meaning.name, meaning.dims
    yield Nest(f"{name}.zero", (Line(name, "zero", None, dims, name, dims, ()),), is_zero=True)
    axes = (*own, *((dim, cut[dim.label]) for dim in reduction.bound if dim.label in cut))
    total = (_total(meaning, reduction), reduction.kept)
    add = Line(name, "add", None, dims, name, dims, (total,))
    yield Nest(name, (*_reduction(meaning, reduction, WHOLE), add), axes)


def _reduction(
    meaning: Meaning, reduction: Reduction, parts: Parts, split: bool | None = None
) -> Iterator[Line]:
    name, kept = meaning.name, reduction.kept
    accumulator, total = f"{name}.{reduction.number}", _total(meaning, reduction)
    if reduction.scan is not None:
        carried = tuple(dim for dim in kept if dim != reduction.scan.dim)
        yield Line(name, "init", reduction, carried, accumulator, carried, ())
        begun = ((accumulator, carried),)
        reads = reduction.accesses, reduction.scope
        is_mixed, old = True, reduction.old
        yield Line(name, "scan", reduction, kept, total, kept, begun, *reads, is_mixed, old)
        return
    yield Line(name, "init", reduction, kept, accumulator, kept, ())
    if parts.is_split(reduction) if split is None else split:
        blocks = parts.dims(reduction)
        # A partial result is over all labels that are not blocked, so they do not occur any more.
        dims = (*kept, *blocks)
        results: list[tuple[str, tuple[Dim, ...]]] = [(_part(meaning, reduction), dims)]
        yield Line(name, "update", reduction, dims, accumulator, kept, tuple(results))
    else:
        for nested in reduction.nested:
            yield from _reduction(meaning, nested, parts)
        results = [(_total(meaning, nested), nested.kept) for nested in reduction.nested]
        yield Line(
            name,
            "update",
            reduction,
            (*kept, *reduction.bound),
            accumulator,
            kept,
            tuple(results),
            reduction.accesses,
            reduction.scope,
            mixes=True,
            old=reduction.old,
        )
    yield Line(name, "combine", reduction, kept, total, kept, ((accumulator, kept),))


def _value(meaning: Meaning) -> Line:
    results = tuple((_total(meaning, r), r.kept) for r in meaning.reductions)
    scope = {dim.label: dim for dim in meaning.dims}
    return Line(
        meaning.name,
        "value",
        None,
        meaning.dims,
        meaning.name,
        meaning.dims,
        results,
        meaning.accesses,
        scope,
        mixes=not meaning.copies,
        old=meaning.old,
    )


def _total(meaning: Meaning, reduction: Reduction) -> str:
    return f"{meaning.name}.{reduction.number}="


def _part(meaning: Meaning, reduction: Reduction) -> str:
    return f"{meaning.name}.{reduction.number}/"


def loop_order(meaning: Meaning, lines: Sequence[Line], fixed: Sequence[Dim]) -> tuple[str, ...]:
    """Return the labels of a Func's loops, before splits: its own, then those of its statements."""
    scans = (one.scan for one in meaning.reductions if one.scan is not None)
    scanned = dict.fromkeys(scan.dim.label for scan in scans)
    own = [dim.label for dim in meaning.dims]
    if len(scanned) == 1:  # the loop along a scan is inside of the others
        own = [*(label for label in own if label not in scanned), *scanned]
    labels = dict.fromkeys(own)
    labels.update((d.label, None) for line in lines for d in line.dims if d not in fixed)
    return tuple(labels)


def global_results(lines: Sequence[Line]) -> dict[str, None]:
    """Return results that another kernel has written."""
    written = {line.target for line in lines}
    return {array: None for line in lines for array, _ in line.results if array not in written}
