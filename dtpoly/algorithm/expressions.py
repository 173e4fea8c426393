"""Defines expressions as a closed union of frozen nodes.

The value of a node is a function of its free labels: it is defined for each index of them.
Broadcasting never shows in a node, since two operands share an index where they share a label.
`shapes` checks that the text also lines up by position.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from typing import Literal

from dtpoly.algorithm.dtypes import DType
from dtpoly.frozen import dataclass
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class DividedIndex:
    """An index divided by a whole number above 1, as in Python: rounded down, or what is left over.

    `divided` makes it, and leaves out divisions that do nothing.
    """

    operator: Literal["//", "%"]
    inner: "Affine"
    divisor: int


# What a promise of range says data to be below: the size of a label, by its name, or a number.
Bound = str | int


@dataclass(frozen=True, slots=True)
class DataIndex:
    """An index that is data: a value, a whole number, such as `T[l]` in `E[T[l], k]`.

    If nothing is known of it, an index outside of the tensor reads the padding. But the caller may
    have promised that it is `within` a size or a number: at least 0, and below that. It has no
    other terms beside it: what is added to data is added in the value.
    """

    value: "Expr"
    within: Bound | None = None


Term = str | DividedIndex | DataIndex


def division(term: DividedIndex | DataIndex) -> DividedIndex:
    """Return a term of an index that is no data, and no label."""
    if isinstance(term, DataIndex):
        raise TypeError("an index that is data, where there can be none")
    return term


@dataclass(frozen=True, slots=True)
class Affine:
    """An index of a tensor: a sum of coefficient * term, plus a constant.

    Most terms are labels. A quotient or a remainder by a number is a term, too. Each term stands
    once, with a coefficient that is not 0.
    """

    terms: tuple[tuple[Term, int], ...] = ()
    constant: int = 0

    @property
    def linear(self) -> tuple[tuple[str, int], ...]:
        """Return the terms of an index that has no quotients, which is true of most indices."""
        return tuple([(_label(term), coefficient) for term, coefficient in self.terms])

    @property
    def divisions(self) -> tuple[DividedIndex, ...]:
        """Return the quotients and remainders in the sum, without those inside of others."""
        return tuple([term for term, _ in self.terms if isinstance(term, DividedIndex)])

    @property
    def data(self) -> "Expr | None":
        """Return the value that is the index, if the index is data."""
        match self.terms:
            case ((DataIndex(value), _),):
                return value
            case _:
                return None

    @property
    def within(self) -> Bound | None:
        """Return what the caller has promised the index to be below, if the index is data."""
        match self.terms:
            case ((DataIndex(_, bound), _),):
                return bound
            case _:
                return None

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels, each once, in the order of the text."""
        if len(self.terms) == 1 and isinstance(only := self.terms[0][0], str):
            return (only,)  # as most indices have
        found: dict[str, None] = {}
        for term, _ in self.terms:
            if isinstance(term, str):
                found[term] = None
            elif isinstance(term, DataIndex):
                found.update(dict.fromkeys(free_labels(term.value)))
            else:
                found.update(dict.fromkeys(term.inner.labels))
        return tuple(found)

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
        match self.terms:
            case ((str() as label, 1),):
                return label
            case _:
                return None

    def __add__(self, other: "Affine") -> "Affine":
        total = dict(self.terms)
        for term, coefficient in other.terms:
            total[term] = total.get(term, 0) + coefficient
        terms = tuple([(term, c) for term, c in total.items() if c])
        return Affine(terms, self.constant + other.constant)

    def scaled(self, factor: int) -> "Affine":
        """Return the index with every coefficient and the constant multiplied by a whole number."""
        terms = tuple([(term, c * factor) for term, c in self.terms if c * factor])
        return Affine(terms, self.constant * factor)

    def __sub__(self, other: "Affine") -> "Affine":
        return self + other.scaled(-1)

    def substitute(self, put: Mapping[str, "Affine"]) -> "Affine":
        """Return the index with other indices in the place of some labels. It must be no data."""
        total = Affine((), self.constant)
        for term, coefficient in self.terms:
            if isinstance(term, str):
                one = put.get(term, Affine(((term, 1),)))
            else:
                term = division(term)
                one = divided(term.operator, term.inner.substitute(put), term.divisor)
            total = total + one.scaled(coefficient)
        return total


def _label(term: Term) -> str:
    if not isinstance(term, str):
        raise TypeError("an index with a quotient, where there can be none")
    return term


def divided(operator: Literal["//", "%"], inner: Affine, divisor: int) -> Affine:
    """Return the quotient of an index by a number above 0, rounded down, or what is left over."""
    if any(coefficient % divisor for _, coefficient in inner.terms):
        return Affine(((DividedIndex(operator, inner, divisor), 1),))
    if operator == "%":
        return Affine((), inner.constant % divisor)
    terms = tuple((term, coefficient // divisor) for term, coefficient in inner.terms)
    return Affine(terms, inner.constant // divisor)


@dataclass(frozen=True, slots=True)
class SizedIndex:
    """A sum of labels, of sizes and of a number: an end of a range, or a condition.

    In `sizes`, a label stands for its size. As a condition, the sum must be at least 0.
    """

    index: Affine
    sizes: Affine = Affine()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels whose index is in the sum, in the order of the text."""
        return self.index.labels

    def __sub__(self, other: "SizedIndex") -> "SizedIndex":
        return SizedIndex(self.index - other.index, self.sizes - other.sizes)

    def scaled(self, factor: int) -> "SizedIndex":
        """Return the sum multiplied by a whole number."""
        return SizedIndex(self.index.scaled(factor), self.sizes.scaled(factor))

    def over(self, size_of: Mapping[str, str]) -> Affine:
        """Return the sum over labels and over names of sizes, such as parameters of isl."""
        total = self.index
        for label, coefficient in self.sizes.linear:
            total = total + Affine(((size_of[label], coefficient),))
        return total


Conditions = tuple[SizedIndex, ...]


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


def data_of(read: Read) -> "tuple[Expr, ...]":
    """Return the values that are indices of a read, from the first axis to the last."""
    firsts = [index.terms[0][0] for index in read.indices if len(index.terms) == 1]
    return tuple([one.value for one in firsts if isinstance(one, DataIndex)])


def at_data(value: "Expr", within: Bound | None = None) -> Affine:
    """Return a value as an index, maybe one that the caller promises to be within a bound."""
    return Affine(((DataIndex(value, within), 1),))


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
class ScanOrder:
    """Makes a reduction a scan: it has a result for each index of the label `at`.

    That is the reduction of all elements up to this index, and with it unless it `is_before`. If it
    `is_reverse`, it is that of all elements from this index on. A recurrence has a `factor` for the
    result before, and an `initial` result; the operand of its reduction is what it adds.
    """

    at: str
    is_before: bool = False
    is_reverse: bool = False
    factor: "Expr | None" = None
    initial: "Expr | None" = None

    @property
    def beside(self) -> "tuple[Expr, ...]":
        """Return the factor and the initial result, if it has them."""
        return tuple(one for one in (self.factor, self.initial) if one is not None)

    def with_beside(self, f: "Callable[[Expr], Expr]") -> "ScanOrder":
        """Return the order with f applied to the factor and to the initial result."""
        if self.factor is None or self.initial is None:
            return self
        return replace(self, factor=f(self.factor), initial=f(self.initial))

    def is_of_all(self, labels: tuple[str, ...]) -> bool:
        """Return whether the one result of a scan over labels is that of all its steps.

        No file writes that. It is what the end of a part is for a recurrence.
        """
        return self.at in labels

    @property
    def step(self) -> int:
        """Return how far behind the last element of the reduction the index of the result is."""
        return 0 if not self.is_before else -1 if self.is_reverse else 1

    def conditions(self, label: str) -> Conditions:
        """Return the conditions for an index of the scanned label to be reduced at an index."""
        apart = SizedIndex(Affine(((self.at, 1), (label, -1))))
        return ((apart.scaled(-1) if self.is_reverse else apart) - SizedIndex(self.apart),)

    @property
    def apart(self) -> Affine:
        """Return how far apart the index of an element and that of the result are at least."""
        return Affine((), int(self.is_before))


@dataclass(frozen=True, slots=True)
class Reduce:
    """A reduction of `operations.REDUCTION` over labels, which are bound in the operand.

    Only the indices for which all conditions of `when` hold are reduced: those in the ranges of the
    labels. A scan has its order among the conditions, so that whatever knows no scans reads it as a
    reduction over a range. A list has `count` places.
    """

    operation: str
    operand: "Expr"
    labels: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    when: Conditions = ()
    scan: ScanOrder | None = None
    count: int = 1


@dataclass(frozen=True, slots=True)
class Dot:
    """The sum of products over labels, written `rdot(left, right, labels...)`.

    As in a reduction, only the indices for which all conditions of `when` hold are added up. If it
    `hides` the others, as a mask of one operand does in the Model, 0 times what the other operand
    has there counts as 0.
    """

    left: "Expr"
    right: "Expr"
    labels: tuple[str, ...]
    span: Span | None = field(default=None, compare=False, repr=False)
    when: Conditions = ()
    hides: bool = False


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
        case Apply(operands=operands):
            return operands
        case Read(padding=padding):
            data = data_of(expr)
            return (*data, padding) if padding is not None else data
        case Integer() | Float() | ScalarRead() | Size() | Index() | ProgramId():
            return ()
        case Dot(left=left, right=right):
            return (left, right)
        case Reduce(operand=operand, scan=ScanOrder(factor=factor) as scan) if factor is not None:
            return (factor, operand, *scan.beside[1:])
        case Cast(operand=operand) | Reduce(operand=operand) | Reshape(operand=operand):
            return (operand,)


def map_children(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Return the node with f applied to each operand."""
    match expr:
        case Integer() | Float() | ScalarRead() | Size() | Index() | ProgramId():
            return expr
        case Read(indices=indices, padding=padding):
            if padding is None and not data_of(expr):
                return expr
            moved = tuple(
                [at_data(f(i.data), i.within) if i.data is not None else i for i in indices]
            )
            other = None if padding is None else f(padding)
            return replace(expr, indices=moved, padding=other)
        case Apply(operands=operands):
            return replace(expr, operands=tuple(f(operand) for operand in operands))
        case Dot(left=left, right=right):
            return replace(expr, left=f(left), right=f(right))
        case Reduce(operand=operand, scan=ScanOrder(factor=factor) as scan) if factor is not None:
            scan = scan.with_beside(f)
            return replace(expr, operand=f(operand), scan=scan)
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
        case Reduce(labels=labels, when=when):
            inside = (label for one in children(expr) for label in free_labels(one))
            found = dict.fromkeys((*inside, *labels_of_conditions(when)))
            return tuple(label for label in found if label not in labels)
        case Dot(left=left, right=right, labels=labels, when=when):
            sides = (*free_labels(left), *free_labels(right), *labels_of_conditions(when))
            return tuple(label for label in dict.fromkeys(sides) if label not in labels)
        case Reshape(operand=operand, axes=axes):
            return tuple(dict.fromkeys((*filter(None, axes), *free_labels(operand))))
        case _:
            operands = children(expr)
            return tuple(dict.fromkeys(label for e in operands for label in free_labels(e)))


def labels_of_conditions(when: Conditions) -> tuple[str, ...]:
    """Return the labels that conditions are about, each once."""
    return tuple(dict.fromkeys(label for one in when for label in one.labels))
