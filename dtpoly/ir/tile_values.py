"""Values of the kernel IR: tiles and scalars, and the conditions under which they are something.

A value varies along axes, which are named by their lane variables, in order; it meets another
value by axis. Indices and conditions are affine over variables of the kernel.
"""

from collections.abc import Sequence

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Element

Axes = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """`value >= 0`; `unless` is a compile-time flag under which it always holds.

    What is large is computed in 64 bits, whatever indices have.
    """

    value: Affine
    axes: Axes
    unless: str | None = None
    name: str | None = None  # of the variable that holds it, if there is one
    own: Axes = ()  # the axes of that variable
    is_large: bool = False


@dataclass(frozen=True, slots=True)
class Variable:
    """A named tile or scalar."""

    name: str
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class LiteralNumber:
    """A literal; its type is that of what it meets."""

    value: int | float


@dataclass(frozen=True, slots=True)
class IndexValue:
    """An index as a value."""

    index: Affine
    axes: Axes


@dataclass(frozen=True, slots=True)
class Call:
    """An elementwise operation of the language; operands have been brought to one type."""

    operation: str
    operands: "tuple[Value, ...]"
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Converted:
    """A value in another type."""

    value: "Value"
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Masked:
    """The value where every condition holds, else a number."""

    value: "Value"
    conditions: "tuple[Test, ...]"
    other: int | float
    axes: Axes
    dtype: Element


@dataclass(frozen=True, slots=True)
class Holds:
    """The truth of a test, as a value."""

    test: "Test"
    axes: Axes
    dtype: Element = DType.BOOL


@dataclass(frozen=True, slots=True)
class Merged:
    """Two values combined as a reduction does."""

    reduction: str
    left: "Value"
    right: "Value"
    axes: Axes
    dtype: Element


Value = Variable | LiteralNumber | IndexValue | Call | Converted | Masked | Holds | Merged


def axes_of(value: Value) -> Axes:
    """Return the axes a value varies along."""
    return () if isinstance(value, LiteralNumber) else value.axes


def all_hold(tests: Sequence[Test], order: Axes) -> Value:
    """Return whether every one of some tests holds.

    Each part varies along its own axes alone: it may be computed before a loop, under a name that
    is indexed as what it is.
    """
    first, *others = tests
    value: Value = Holds(first, first.axes)
    for test in others:
        axes = tuple(name for name in order if name in (*axes_of(value), *test.axes))
        value = Call("and", (value, Holds(test, test.axes)), axes, DType.BOOL)
    return value


def written_number(value: Value, through_casts: bool = False) -> float | None:
    """Return the number that a value is as it is written, with its sign; None if it is none.

    Through casts, it is the number before it was rounded to their types.
    """
    match value:
        case LiteralNumber(value=number):
            return number
        case Call(operation="neg", operands=(inner,)):
            below = written_number(inner, through_casts)
            return None if below is None else -below
        case Converted(value=inner) if through_casts:
            return written_number(inner, through_casts)
        case _:
            return None
