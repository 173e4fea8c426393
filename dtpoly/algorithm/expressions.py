"""Defines expressions as a closed union of frozen nodes.

The value of a node is a function of its free labels: it is defined for each index of them.
Broadcasting never shows in a node, since two operands share an index where they share a label.
`shapes` checks that the text also lines up by position.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Affine:
    """An index of a tensor: the sum of coefficient * label over some labels, plus a constant.

    Each label stands once, with a coefficient that is not 0.
    """

    terms: tuple[tuple[str, int], ...] = ()
    constant: int = 0

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels, in the order of the text."""
        return tuple([label for label, _ in self.terms])

    @property
    def plain(self) -> str | None:
        """Return the label if the index is nothing but a label, or None."""
        return None if self.constant else self.shifted

    @property
    def is_plain(self) -> bool:
        """True if the index is nothing but a label."""
        return self.constant == 0 and self.shifted is not None

    @property
    def shifted(self) -> str | None:
        """Return the label if the index is a label plus a whole number, or None."""
        return self.terms[0][0] if len(self.terms) == 1 and self.terms[0][1] == 1 else None

    def __add__(self, other: "Affine") -> "Affine":
        total = dict(self.terms)
        for label, coefficient in other.terms:
            total[label] = total.get(label, 0) + coefficient
        terms = tuple((label, c) for label, c in total.items() if c)
        return Affine(terms, self.constant + other.constant)

    def scaled(self, factor: int) -> "Affine":
        """Return the index with every coefficient and the constant multiplied by a whole number."""
        terms = tuple((label, c * factor) for label, c in self.terms if c * factor)
        return Affine(terms, self.constant * factor)

    def __sub__(self, other: "Affine") -> "Affine":
        return self + other.scaled(-1)

    def substitute(self, put: Mapping[str, "Affine"]) -> "Affine":
        """Return the index with other indices in the place of some labels."""
        total = Affine((), self.constant)
        for label, coefficient in self.terms:
            one = put.get(label, Affine(((label, 1),)))
            total = total + one.scaled(coefficient)
        return total


@dataclass(frozen=True, slots=True)
class Integer:
    """A whole number as it is written, which is not negative."""

    value: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Float:
    """A fraction as it is written, which is not negative; also `inf` and `nan`.

    Two floats are equal if they are written alike, so a `nan` equals a `nan`.
    """

    value: float
    span: Span | None = field(default=None, compare=False, repr=False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Float) and repr(self.value) == repr(other.value)

    def __hash__(self) -> int:
        return hash(repr(self.value))


@dataclass(frozen=True, slots=True)
class ScalarRead:
    """The value of a scalar input."""

    name: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Size:
    """The size of a label, written `len(label)`."""

    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Index:
    """The index of a label, used as a value."""

    label: str
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ProgramId:
    """The number of the program instance that computes the element, written `program_id(axis)`."""

    axis: int
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Read:
    """The element of a tensor input or of a Func, or the padding where the indices are outside.

    Inlining puts the definition of a Func in the place of a read. If that read had a padding, the
    reads in the definition get `within`: pairs of an index and a label. Their values count only
    where each index is in the range of its label.
    """

    tensor: str
    indices: tuple[Affine, ...]
    padding: "Expr | None" = None
    span: Span | None = field(default=None, compare=False, repr=False)
    within: tuple[tuple[Affine, str], ...] = field(default=(), repr=False)


def padded_axes(read: Read) -> frozenset[int]:
    """Return the axes along which a read may be outside its tensor.

    A read with a padding stays inside along each axis whose index is just a label. If all axes are
    so, the padding is for all of them.
    """
    if read.padding is None:
        return frozenset()
    shifted = frozenset(axis for axis, index in enumerate(read.indices) if not index.is_plain)
    return shifted or frozenset(range(len(read.indices)))


@dataclass(frozen=True, slots=True)
class Apply:
    """An elementwise operation of `operations.OPERATION` and its operands."""

    operation: str
    operands: "tuple[Expr, ...]"
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Cast:
    """A conversion to a dtype, written `cast(e, dtype)`."""

    operand: "Expr"
    dtype: DType
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction of `operations.REDUCTION` over labels, which are bound in the operand."""

    operation: str
    operand: "Expr"
    labels: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Dot:
    """The sum of products over labels, written `rdot(left, right, labels...)`."""

    left: "Expr"
    right: "Expr"
    labels: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Reshape:
    """The labels of an operand in a new layout; None stands for an axis of size 1.

    It is written `reshape(e, label or 1 ...)`.
    """

    operand: "Expr"
    axes: tuple[str | None, ...]
    span: Span | None = field(default=None, compare=False, repr=False)


Expr = (
    Integer
    | Float
    | ScalarRead
    | Size
    | Index
    | ProgramId
    | Read
    | Apply
    | Cast
    | Reduce
    | Dot
    | Reshape
)


def children(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands of a node, left to right."""
    match expr:
        case Integer() | Float() | ScalarRead() | Size() | Index() | ProgramId():
            return ()
        case Read(padding=padding):
            return (padding,) if padding is not None else ()
        case Apply(operands=operands):
            return operands
        case Dot(left=left, right=right):
            return (left, right)
        case Cast(operand=operand) | Reduce(operand=operand) | Reshape(operand=operand):
            return (operand,)


def map_children(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Return the node with f applied to each operand."""
    match expr:
        case Integer() | Float() | ScalarRead() | Size() | Index() | ProgramId():
            return expr
        case Read(padding=padding):
            return expr if padding is None else replace(expr, padding=f(padding))
        case Apply(operands=operands):
            return replace(expr, operands=tuple(f(operand) for operand in operands))
        case Dot(left=left, right=right):
            return replace(expr, left=f(left), right=f(right))
        case Cast(operand=operand) | Reduce(operand=operand) | Reshape(operand=operand):
            return replace(expr, operand=f(operand))


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield a node and all nodes below it, outermost first, left to right."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def reads(expr: Expr) -> Iterator[Read]:
    """Yield every read of a tensor or Func in an expression."""
    return (node for node in walk(expr) if isinstance(node, Read))


def free_labels(expr: Expr) -> tuple[str, ...]:
    """Return the labels that the value depends on, in the order in which they first appear."""
    match expr:
        case Index(label=label):
            return (label,)
        case Read(indices=indices):
            return tuple(dict.fromkeys(label for index in indices for label in index.labels))
        case Reduce(operand=operand, labels=labels):
            return tuple(label for label in free_labels(operand) if label not in labels)
        case Dot(left=left, right=right, labels=labels):
            both = dict.fromkeys((*free_labels(left), *free_labels(right)))
            return tuple(label for label in both if label not in labels)
        case Reshape(operand=operand, axes=axes):
            both = dict.fromkeys((*(axis for axis in axes if axis), *free_labels(operand)))
            return tuple(both)
        case _:
            operands = children(expr)
            return tuple(dict.fromkeys(label for e in operands for label in free_labels(e)))
