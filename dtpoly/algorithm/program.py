"""Defines the Program: the meaning of a .dt file, as data whose equality ignores spans."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from enum import Enum
from types import MappingProxyType

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Bound,
    Conditions,
    Dot,
    Expr,
    Read,
    Reduce,
    SizedIndex,
    reads,
    walk,
)
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class LabelRange:
    """The indices of a label that count: from `start` on, and below `stop`."""

    start: SizedIndex
    stop: SizedIndex

    def conditions(self, label: str) -> Conditions:
        """Return the conditions for an index of the label to be in the range.

        Those that hold for each index of the label are left out.
        """
        index = SizedIndex(Affine(((label, 1),)))
        below = self.stop - index - SizedIndex(Affine((), 1))
        size = SizedIndex(Affine(), Affine(((label, 1),)))
        first = () if self.start == SizedIndex(Affine()) else (index - self.start,)
        return (*first, *(() if self.stop == size else (below,)))


@dataclass(frozen=True, slots=True)
class Part:
    """A label that numbers the blocks of another one: block p begins at index `size * p`."""

    of: str
    size: int


@dataclass(frozen=True, slots=True)
class Label:
    """The name of a dimension, declared by `Var`, or by `RVar` if a reduction may bind it.

    If it has a size, its indices go from 0 to size - 1, whatever the tensors are. If it has a
    range, a reduction over it takes only the indices in the range, and a Func is 0 elsewhere. No
    file declares a label that numbers parts of another one: a Func that has it goes through the
    indices of one part.
    """

    name: str
    reducible: bool = False
    size: int | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    range: LabelRange | None = None
    part: Part | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor input (`In`); without a dtype it has that of the caller.

    The caller may promise that each of its elements is `within` a bound: at least 0, and below it.
    """

    name: str
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    within: Bound | None = None


@dataclass(frozen=True, slots=True)
class Scalar:
    """A scalar input (`SIn`)."""

    name: str
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


class Placing(Enum):
    """Says how elements of a Func may share places; the value is the word that a file writes."""

    SHOWN = ""  # the file shows that no two elements have the same place
    DISTINCT = "distinct"  # the caller promises it
    ADDED = "add"  # they may have the same place: each is added to what is there


@dataclass(frozen=True, slots=True)
class Into:
    """The tensor input whose memory a Func takes: each element replaces the one at its indices.

    With `at`, it replaces the one that `at` reads, or is added to it, and all other elements of the
    tensor stay.
    """

    tensor: str
    span: Span | None = field(default=None, compare=False, repr=False)
    at: Read | None = None
    placing: Placing = Placing.SHOWN

    @property
    def is_added(self) -> bool:
        """Return whether elements are added to what is at their places, which may repeat."""
        return self.placing is Placing.ADDED


@dataclass(frozen=True, slots=True)
class Func:
    """A tensor function and its definition; the outermost label comes first.

    An element for which a condition of `when` does not hold is 0: its label has a range, and the
    element is outside of it. If it computes parts of what another Func is, `whole` is that Func. If
    it is `parted`, that label numbers the parts of one of its labels, and the body says what an
    element is by the number of its part, in which its scans begin anew.
    """

    name: str
    labels: tuple[str, ...]
    body: Expr
    dtype: DType | None = None
    span: Span | None = field(default=None, compare=False, repr=False)
    into: Into | None = None
    when: Conditions = ()
    whole: str = field(default="", repr=False)
    parted: str = field(default="", repr=False)

    @property
    def walked(self) -> tuple[str, ...]:
        """Return the labels that its elements are computed over, the outermost label first."""
        return (self.parted, *self.labels) if self.parted else self.labels


@dataclass(frozen=True, slots=True)
class Split:
    """The value `name/factor` of an argument."""

    name: str
    factor: int


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a directive, written `target` or `target:value`.

    A target is a name, `func.name` or a number. A value is a number, a name or `name/number`.
    """

    target: str | int
    value: int | str | Split | None = None
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Directive:
    """A primitive applied to a Func, as it is written: `func.name(arguments);`."""

    func: str
    name: str
    arguments: tuple[Argument, ...] = ()
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Program:
    """An algorithm and its schedule; inputs stand in declared order, Funcs in defined order.

    The directives are a set: their order only decides which one a message blames. `returned` has
    the Funcs that functions return, where the schedule says which ones these are.
    """

    labels: tuple[Label, ...]
    inputs: tuple[Tensor | Scalar, ...]
    funcs: tuple[Func, ...]
    directives: tuple[Directive, ...] = ()
    returned: tuple[str, ...] = field(default=(), compare=False, repr=False)

    @property
    def fixed(self) -> dict[str, int]:
        """Return the sizes that the file fixes."""
        return {label.name: label.size for label in self.labels if label.size is not None}

    @property
    def into(self) -> dict[str, str]:
        """Return the Func that goes into each tensor input that is written in place."""
        inputs = {one.name for one in self.inputs}
        into = ((func.into, func.name) for func in self.funcs if func.into is not None)
        return {one.tensor: name for one, name in into if one.tensor in inputs}

    @property
    def starts(self) -> dict[str, str]:
        """Return the Func that is added to each Func which others are added to.

        The added Func has its memory, and begins with its elements.
        """
        return {
            func.into.tensor: func.name
            for func in self.funcs
            if func.into is not None and self.find_func(func.into.tensor) is not None
        }

    @property
    def parts(self) -> dict[str, Part]:
        """Return what the labels number that number parts."""
        return {label.name: label.part for label in self.labels if label.part is not None}

    @property
    def ranges(self) -> dict[str, LabelRange]:
        """Return the ranges of the labels that have one."""
        return {label.name: label.range for label in self.labels if label.range is not None}

    @property
    def tensors(self) -> tuple[Tensor, ...]:
        """Return the tensor inputs."""
        return tuple(i for i in self.inputs if isinstance(i, Tensor))

    @property
    def scalars(self) -> tuple[Scalar, ...]:
        """Return the scalar inputs."""
        return tuple(i for i in self.inputs if isinstance(i, Scalar))

    def find_func(self, name: str) -> Func | None:
        """Return the Func of this name, or None."""
        return next((f for f in self.funcs if f.name == name), None)

    def owner(self, name: str) -> str:
        """Return the Func of which a Func computes parts; other names stay as they are."""
        found = self.find_func(name)
        return name if found is None else found.whole or name

    def func(self, name: str) -> Func:
        """Return the Func of this name, which must exist."""
        found = self.find_func(name)
        if found is None:
            raise KeyError(name)
        return found


NOTHING: Mapping[str, tuple[str, ...]] = MappingProxyType({})


def touched(func: Func) -> Iterator[Read]:
    """Yield the reads of a Func, and that of the elements that it replaces, if it is in place.

    A Func in place need not read these. But they must be there, and they show the sizes. So do the
    elements of a scan at the indices of its results, and those that a place of a Func is made of.
    """
    yield from reads(func.body)
    for node in walk(func.body):
        if isinstance(node, Reduce) and node.scan is not None:
            yield from _scanned(node, node.scan.at)
    yield from reads_of_place(func)
    if func.into is None or func.into.at is not None:
        return
    indices = tuple(Affine(((label, 1),)) for label in func.labels)
    yield Read(func.into.tensor, indices, span=func.into.span)


def labels_of_axes(program: Program, func: str) -> tuple[str, ...]:
    """Return the label of each axis of what a function returns for a Func.

    Of a Func that goes to places, that is the tensor in which they are, or what its sums begin
    with. The label is empty for an axis whose index is computed.
    """
    one = program.func(func)
    if one.into is None or one.into.at is None:
        return one.labels
    begun = program.find_func(one.into.tensor)
    if begun is not None:
        return begun.labels
    return tuple(index.plain or "" for index in one.into.at.indices)


def reads_of_place(func: Func) -> Iterator[Read]:
    """Yield the element that a Func goes to, and what that place is made of, if it names one."""
    if func.into is not None and func.into.at is not None:
        yield from reads(func.into.at)


def _scanned(scan: Reduce, at: str) -> Iterator[Read]:
    """Yield the reads of the operand of a scan at the index of the result."""
    put = dict.fromkeys(scan.labels, Affine(((at, 1),)))
    inside = [scan.operand]
    if scan.scan is not None and scan.scan.factor is not None:
        inside.append(scan.scan.factor)
    for read in (read for one in inside for read in reads(one)):
        # An index that is data decides no size; what it reads is a read of its own.
        moved = (one if one.data is not None else one.substitute(put) for one in read.indices)
        yield replace(read, indices=tuple(moved))


def producers(program: Program) -> dict[str, tuple[str, ...]]:
    """Return for each Func the Funcs that it reads, each once, in the order of the reads.

    A Func that is added to the elements of another one needs these, too.
    """
    names = {func.name for func in program.funcs}
    return {
        func.name: tuple(dict.fromkeys(read.tensor for read in every if read.tensor in names))
        for func in program.funcs
        for every in ((*reads(func.body), *reads_of_place(func)),)
    }


def typed_like(program: Program) -> dict[str, Func]:
    """Return the Func by whose definition another one is typed.

    It is so where neither of them declares a dtype, and the one is added to the elements of the
    other: sums have the type of what is added.
    """
    starts = {start: program.func(added) for start, added in program.starts.items()}
    return {start: one for start, one in starts.items() if program.func(start).dtype is None}


def in_typing_order(program: Program) -> tuple[Func, ...]:
    """Return all Funcs, each behind those whose types its own is made of."""
    more = {start: producers_of(one, program) for start, one in typed_like(program).items()}
    return in_order(program, more=more)


def producers_of(func: Func, program: Program) -> tuple[str, ...]:
    """Return the Funcs that the definition of a Func reads, each once."""
    names = {one.name for one in program.funcs}
    return tuple(dict.fromkeys(one.tensor for one in reads(func.body) if one.tensor in names))


def in_order(
    program: Program,
    wanted: Iterable[str] | None = None,
    more: Mapping[str, tuple[str, ...]] = NOTHING,
) -> tuple[Func, ...]:
    """Return the wanted Funcs (else all) and those that they need, producers before consumers.

    A Func also needs those that `more` has for it. Nothing may need itself.
    """
    read = producers(program)
    below = {name: (*names, *more.get(name, ())) for name, names in read.items()}
    done: dict[str, None] = {}
    for start in below if wanted is None else wanted:
        pending = [(start, False)]
        while pending:
            name, ready = pending.pop()
            if ready:
                done[name] = None
            elif name not in done:
                pending.append((name, True))
                pending.extend((producer, False) for producer in reversed(below[name]))
    by_name = {func.name: func for func in program.funcs}
    return tuple(by_name[name] for name in done)


def scanned_labels(func: Func) -> tuple[str, ...]:
    """Return the labels along which scans in a Func's body have their results, each once."""
    nodes = (node for node in walk(func.body) if isinstance(node, Reduce))
    return tuple(dict.fromkeys(node.scan.at for node in nodes if node.scan is not None))


def nested_labels(func: Func) -> tuple[str, ...]:
    """Return the labels of a Func in the order of its loops, outermost first.

    It is that of the left side. But the label of a scan is last, so that what the scan carries on
    from step to step belongs to one index of the others.
    """
    scanned = [label for label in scanned_labels(func) if label in func.labels]
    if len(scanned) != 1:
        return func.walked
    return (*(label for label in func.walked if label not in scanned), *scanned)


def reduced_labels(func: Func) -> tuple[str, ...]:
    """Return the labels that a Func's body reduces over, each once, outermost reduction first.

    A scan has a step for each index of its result, so that its label has no loop.
    """
    return tuple(dict.fromkeys(_reduced(func.body)))


def _reduced(expr: Expr) -> Iterator[str]:
    for node in walk(expr):
        if isinstance(node, Dot) or (isinstance(node, Reduce) and node.scan is None):
            yield from node.labels
