"""The types of expressions of the algorithm, as docs/language.md defines them.

The section on dtypes of that page is a table, and so is this module: each rule is named in the
page's words. It shares nothing with the code that emits kernels, so a mistake there does not repeat
itself in the proof.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import assert_never

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
    children,
    walk,
)
from dtpoly.algorithm.program import Program, in_typing_order, typed_like
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds

BOOL, WHOLE, FLOAT = range(3)
TYPES = {
    DType.BOOL: kinds.BOOL,
    DType.U8: "tl.uint8",
    **{DType(f"i{bits}"): f"tl.int{bits}" for bits in (8, 16, 32, 64)},
    DType.F8E4M3: "tl.float8e4nv",
    DType.F8E5M2: "tl.float8e5",
    DType.BF16: "tl.bfloat16",
    **{DType(f"f{bits}"): f"tl.float{bits}" for bits in (16, 32, 64)},
}
# Types from narrow to wide. torch promotes some types to the first one that holds all of them.
ORDERS = ((kinds.BOOL,), ("tl.uint8", *(f"tl.int{bits}" for bits in (8, 16, 32, 64))), kinds.FLOATS)
SHORT = (kinds.BOOL, "tl.int8", "tl.uint8", "tl.int16")


@dataclass(frozen=True, slots=True)
class Format:
    """The type of values: its category, and all that it must be able to hold.

    It must hold a type, or inputs whose types the caller decides, or both. The format of a written
    number or a size is weak: "numbers and sizes only change the category of a tensor's type, never
    its width".
    """

    category: int
    held: frozenset[str]
    weak: bool = False

    @property
    def kind(self) -> str:
        """Return the name of the type (see kinds)."""
        if self.weak:
            return kinds.BOOL if self.category == BOOL else kinds.WEAK
        return kinds.stored(self.held) if self.is_callers else next(iter(self.held))

    @property
    def is_callers(self) -> bool:
        """Return whether the type depends on what the caller passes."""
        return not self.held <= _ALL


_ALL = frozenset(TYPES.values())
Formats = Mapping[str, Format]


def of_type(kind: str, *, weak: bool = False) -> Format:
    """Return the format of values of one type."""
    category = FLOAT if kind in kinds.FLOATS else BOOL if kind == kinds.BOOL else WHOLE
    return Format(category, frozenset({kind}), weak)


def joined(formats: Sequence[Format]) -> Format:
    """Return the promoted type of several values: "Promotion is torch's".

    The highest category wins. The result is the narrowest type that holds all values of that
    category: all tensors or, only if no tensor is of that category, all numbers.
    """
    highest = max(one.category for one in formats)
    decide = [one for one in formats if one.category == highest]
    decide = [one for one in decide if not one.weak] or decide
    held = frozenset[str]().union(*(one.held for one in decide))
    types = held & _ALL
    known = (_narrowest(types, highest),) if types else ()
    return Format(highest, (held - types).union(known), weak=all(one.weak for one in formats))


def _narrowest(types: frozenset[str], category: int) -> str:
    """Return the narrowest type that holds all; an 8-bit float beside others is refused before."""
    if len(types) == 1:
        return next(iter(types))
    order = ORDERS[category]
    return next(one for one in order if all(kinds.holds(one, other) for other in types))


def stored(of: Format) -> Format:
    """Return the type in which values are stored: there a number is no longer weak."""
    return Format(of.category, of.held)


def _floats(operands: Sequence[Format]) -> Format:
    """Return the promoted type; "f32 where that is not a float"."""
    total = joined(operands)
    return total if total.category == FLOAT else of_type("tl.float32", weak=total.weak)


def _bools(operands: Sequence[Format]) -> Format:
    """Return a bool; it is weak if all operands are numbers."""
    return of_type(kinds.BOOL, weak=all(one.weak for one in operands))


def _chosen(operands: Sequence[Format]) -> Format:
    """Return, for `where`, the promoted type of the two values that it chooses from."""
    return joined(operands[1:])


def _summed(operands: Sequence[Format]) -> Format:
    """Return the type of a sum or product over labels.

    A float keeps its type; "8- and 16-bit whole numbers give i32, wider ones i64"; a bool gives
    i32, too.
    """
    total = stored(joined(operands))
    if total.category == FLOAT:
        return total
    return of_type("tl.int32" if total.kind in SHORT else "tl.int64")


def _kept(operands: Sequence[Format]) -> Format:
    """Return the type of the operand."""
    return stored(operands[0])


def _truths(_: Sequence[Format]) -> Format:
    return of_type(kinds.BOOL)


def _places(_: Sequence[Format]) -> Format:
    return of_type("tl.int64")


def _singles(_: Sequence[Format]) -> Format:
    return of_type("tl.float32")


# The rows of the page's table: operations, and the type of what they give.
ROWS: tuple[tuple[str, Callable[[Sequence[Format]], Format]], ...] = (
    ("add sub mul mod neg abs ceil floor cdiv clamp fma maximum minimum pow", joined),
    ("quotient shl shr bitand bitor bitxor invert round trunc", joined),
    ("where", _chosen),
    ("div fdiv div_rn exp exp2 log log2 sqrt sqrt_rn rsqrt sin cos tanh erf sigmoid", _floats),
    ("lt le gt ge eq ne and or not", _bools),
    ("rany rall", _truths),
    ("rmax rmin rlist rtopk", _kept),
    ("rsum rprod rdot", _summed),
    ("rargmax rargmin rargtopk random_bits", _places),
    ("random", _singles),
)
RULES = {word: rule for words, rule in ROWS for word in words.split()}


def formats_of(program: Program) -> dict[str, Format]:
    """Return the type of every input, and of every Func as it is stored.

    "Without one an input has the caller's, a Func that of its definition." A Func in place has that
    of the tensor that it goes into. If that is a Func which declares none, both have that of the
    definition of what is added.
    """
    formats: dict[str, Format] = {}
    for tensor in program.tensors:
        callers = Format(FLOAT, frozenset({tensor.name}))
        formats[tensor.name] = callers if tensor.dtype is None else of_type(TYPES[tensor.dtype])
    for scalar in program.scalars:
        kind = "tl.float32" if scalar.dtype is None else TYPES[scalar.dtype]
        formats[scalar.name] = of_type(kind, weak=True)
    like = typed_like(program)
    for func in in_typing_order(program):
        in_place = None if func.into is None else formats[func.into.tensor]
        defined = in_place or stored(format_of(like.get(func.name, func).body, formats))
        formats[func.name] = defined if func.dtype is None else of_type(TYPES[func.dtype])
    return formats


def of_numbers(program: Program, formats: Formats) -> str:
    """Return the type of values that are computed from numbers alone: f32.

    It is empty if any value is f64 or may be, also by a cast. Then written numbers are not rounded.
    """
    held = frozenset[str]().union(*(one.held for one in formats.values()))
    expressions = [one for func in program.funcs for one in walk(func.body)]
    casts = {TYPES[one.dtype] for one in expressions if isinstance(one, Cast)}
    return "tl.float32" if held | casts <= _ALL - {TYPES[DType.F64]} else ""


def format_of(expr: Expr, formats: Formats) -> Format:
    """Return the type of an expression."""
    match expr:
        case Integer() | Size() | ProgramId():
            return of_type("tl.int64", weak=True)
        case Float():
            return of_type("tl.float32", weak=True)
        case Index():
            return _places(())  # "a label as a value is i64"
        case ScalarRead(name=one) | Read(tensor=one):
            return formats[one]
        case Cast(dtype=dtype):
            return of_type(TYPES[dtype])
        case Reshape(operand=operand):
            return format_of(operand, formats)
        case Dot(left=left, right=right):
            return RULES["rdot"]([format_of(one, formats) for one in (left, right)])
        case Reduce(operation="raffine"):
            return RULES["rdot"]([format_of(one, formats) for one in children(expr)])
        case Reduce(operation=operation, operand=operand):
            return RULES[operation]([format_of(operand, formats)])
        case Apply(operation=operation, operands=operands):
            return RULES[operation]([format_of(one, formats) for one in operands])
        case _:
            assert_never(expr)
