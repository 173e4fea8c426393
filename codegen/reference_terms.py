"""Values as Python expressions that compute with torch, and the operations between such values."""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import LARGEST
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Kind

from .type_text import TORCH

INF = float("inf")
F64 = DType.F64

# How tightly Python binds.
COMPARISON, OR, AND, SUM, PRODUCT, SIGN, ATOM = 1, 2, 4, 6, 7, 8, 9
INFIX = {
    **{"lt": ("<", COMPARISON), "le": ("<=", COMPARISON), "gt": (">", COMPARISON)},
    **{"ge": (">=", COMPARISON), "eq": ("==", COMPARISON), "ne": ("!=", COMPARISON)},
    **{"or": ("|", OR), "and": ("&", AND), "add": ("+", SUM), "sub": ("-", SUM)},
    **{"mul": ("*", PRODUCT), "div": ("/", PRODUCT), "fdiv": ("/", PRODUCT)},
    "div_rn": ("/", PRODUCT),
}
CALLS = {
    **{name: f"torch.{name}" for name in ("abs", "cos", "erf", "exp", "exp2", "log", "log2")},
    **{name: f"torch.{name}" for name in ("pow", "rsqrt", "sigmoid", "sin", "sqrt", "tanh")},
    **{"ceil": "torch.ceil", "floor": "torch.floor", "where": "torch.where"},
    **{"sqrt_rn": "torch.sqrt", "maximum": "torch.maximum", "minimum": "torch.minimum"},
    **{"limited": "torch.clamp", "remainder": "torch.remainder"},
    **{"clamp": "dt_clamped", "fma": "dt_fma", "mod": "dt_remainder", "cdiv": "dt_rounded_up"},
}
REDUCE = {
    **{"rsum": "sum", "rprod": "prod", "rmax": "amax", "rmin": "amin"},
    **{"rany": "any", "rall": "all"},
}
FIRST = {"rargmax": "dt_first_largest", "rargmin": "dt_first_smallest"}

# The functions that a reference uses beside those of torch, by name.
SHARED = {
    "dt_fma": '''\
def dt_fma(a, b, c):
    """The product and the sum."""
    return a * b + c
''',
    "dt_clamped": '''\
def dt_clamped(values, low, high):
    """The values, none below low, then none above high."""
    return torch.minimum(torch.maximum(values, low), high)
''',
    "dt_remainder": '''\
def dt_remainder(a, b):
    """What division leaves, with the sign of the divisor; for whole numbers 0 where that is 0."""
    if a.is_floating_point():
        return torch.remainder(a, b)
    nothing = b == 0
    return torch.where(nothing, 0, torch.remainder(a, torch.where(nothing, 1, b)))
''',
    "dt_rounded_up": '''\
def dt_rounded_up(a, b):
    """The quotient, rounded up; for whole numbers 0 where the divisor is 0."""
    if a.is_floating_point():
        return torch.ceil(a / b)
    nothing = b == 0
    divisor = torch.where(nothing, 1, b)
    down = torch.div(a, divisor, rounding_mode="floor")
    return torch.where(nothing, 0, down + (torch.remainder(a, divisor) != 0))
''',
    "dt_first_largest": '''\
def dt_first_largest(values):
    """Where along the last axis the first of the largest is; NaN is larger than any number."""
    best = values.amax(-1, keepdim=True)
    is_best = (values == best) | (values.isnan() & best.isnan())
    return (is_best.cumsum(-1) == 0).sum(-1)
''',
    "dt_first_smallest": '''\
def dt_first_smallest(values):
    """Where along the last axis the first of the smallest is; NaN is smaller than any number."""
    best = values.amin(-1, keepdim=True)
    is_best = (values == best) | (values.isnan() & best.isnan())
    return (is_best.cumsum(-1) == 0).sum(-1)
''',
    "dt_padded": '''\
def dt_padded(tensor, padding, *places):
    """The elements at some places; outside of the tensor the padding."""
    places = torch.broadcast_tensors(*map(torch.as_tensor, places))
    inside = torch.ones(places[0].shape, dtype=torch.bool)
    for place, size in zip(places, tensor.shape):
        inside &= (place >= 0) & (place < size)
    nearest = tuple(place.clamp(0, size - 1) for place, size in zip(places, tensor.shape))
    return torch.where(inside, tensor[nearest], torch.as_tensor(padding).to(tensor.dtype))
''',
}


@dataclass(frozen=True, slots=True)
class Term:
    """A value as text: a tensor with an axis for each label, or one of Python's numbers."""

    text: str
    level: int
    labels: tuple[str, ...]
    kind: Kind
    is_number: bool = False

    @property
    def dtype(self) -> DType:
        """The type that it is computed in."""
        return computed_in(self.kind)


def computed_in(kind: Kind) -> DType:
    """The type that values of a kind are computed in; of floats there is one only."""
    return F64 if kind.is_float or kind.dtype is None else kind.dtype


def is_large(term: Term) -> bool:
    """Whether it is a whole number so large that what is computed from it may wrap around."""
    return term.is_number and term.text.isdigit() and int(term.text) > LARGEST[DType.I32]


def laid_out(term: Term, labels: Sequence[str]) -> Term:
    """The value with its axes in the order of the labels, and a 1 where it lacks one in between."""
    mine = [label for label in labels if label in term.labels]
    text, level = term.text, term.level
    if tuple(mine) != term.labels:
        order = ", ".join(str(term.labels.index(label)) for label in mine)
        text, level = f"{within(term, ATOM)}.permute({order})", ATOM
    if mine and mine != list(labels[-len(mine) :]):
        first = labels.index(mine[0])
        axes = ", ".join(":" if label in mine else "None" for label in labels[first:])
        text, level = f"{within(Term(text, level, (), term.kind), ATOM)}[{axes}]", ATOM
    return replace(term, text=text, level=level, labels=tuple(labels))


def as_tensor(term: Term) -> Term:
    """A number of Python's as a tensor."""
    if not term.is_number:
        return term
    text = f"torch.tensor({term.text}, dtype={TORCH[term.dtype]})"
    return replace(term, text=text, level=ATOM, is_number=False)


def as_dtype(term: Term, dtype: DType) -> Term:
    """The value in a type; Python's numbers take that of what they meet."""
    kind = Kind(dtype, weak=term.kind.weak)
    if term.is_number and term.text.isdigit() and int(term.text) > LARGEST.get(dtype, INF):
        text = f"torch.tensor({term.text}).to({TORCH[dtype]})"  # what is too large wraps around
        return Term(text, ATOM, (), kind)
    if term.dtype is dtype:
        return term
    if term.is_number:
        return replace(term, kind=kind)
    how = "double()" if dtype is F64 else f"to({TORCH[dtype]})"
    return replace(term, text=f"{within(term, ATOM)}.{how}", level=ATOM, kind=kind)


def within(term: Term, least: int) -> str:
    """The text, in brackets where it binds less tightly than it must."""
    return term.text if term.level >= least else f"({term.text})"


def with_numbers(operation: str, terms: Sequence[Term]) -> str | None:
    """Name the form of an operation that takes Python's numbers as they are; None if there is none.

    Not every torch keeps a NaN that is a limit of `clamp`.
    """
    numbers = [term.is_number for term in terms]
    has_nan = any(term.is_number and "nan" in term.text for term in terms)
    match operation:
        case "where" if not all(numbers[1:]):
            return operation
        case "pow" if numbers == [False, True]:
            return operation
        case "mod" if numbers == [False, True] and terms[1].text.strip("0.") != "":
            return "remainder"
        case "clamp" if numbers == [False, True, True] and not has_nan:
            return "limited"
        case "maximum" | "minimum" if numbers == [False, True] and not has_nan:
            return "at least" if operation == "maximum" else "at most"
        case _:
            return None


def applied(operation: str, terms: Sequence[Term]) -> tuple[str, int]:
    """An operation on values that have been brought together, and how tightly its text binds."""
    if operation in ("at least", "at most"):
        bound = "min" if operation == "at least" else "max"
        return f"torch.clamp({terms[0].text}, {bound}={terms[1].text})", ATOM
    if operation in ("neg", "not"):
        symbol = "-" if operation == "neg" else "~"
        return f"{symbol}{within(terms[0], SIGN)}", SIGN
    if operation in INFIX:
        symbol, level = INFIX[operation]
        left, right = terms
        first = within(left, level if level > COMPARISON else level + 1)
        return f"{first} {symbol} {within(right, level + 1)}", level
    return f"{CALLS[operation]}({', '.join(term.text for term in terms)})", ATOM


def comparable(terms: Sequence[Term]) -> list[Term]:
    """Two sides in a type that holds both; a number is compared as what it is."""
    left, right = terms
    if left.kind.is_float or right.kind.is_float:
        return [as_dtype(term, F64) for term in terms]
    if left.dtype is right.dtype and left.kind.weak == right.kind.weak:
        return [left, right]
    numbers = [int(term.text) for term in terms if term.is_number and term.text.isdigit()]
    strong = left if right.is_number else right
    if numbers and strong.dtype in LARGEST and max(numbers) <= LARGEST[strong.dtype]:
        return [left, right]
    return [as_dtype(term, DType.I64) for term in terms]
