"""Values as Python expressions that compute with torch, and the operations between such values."""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.inference import LARGEST
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import ValueKind

from .type_text import TORCH

INF = float("inf")
F64 = DType.F64

# How tightly Python binds.
COMPARISON, OR, XOR, AND, SUM, PRODUCT, SIGN, ATOM = 1, 2, 3, 4, 6, 7, 8, 9
PREFIX = {"neg": "-", "not": "~", "invert": "~"}
INFIX = {
    **{"lt": ("<", COMPARISON), "le": ("<=", COMPARISON), "gt": (">", COMPARISON)},
    **{"ge": (">=", COMPARISON), "eq": ("==", COMPARISON), "ne": ("!=", COMPARISON)},
    **{"or": ("|", OR), "and": ("&", AND), "add": ("+", SUM), "sub": ("-", SUM)},
    **{"mul": ("*", PRODUCT), "div": ("/", PRODUCT), "fdiv": ("/", PRODUCT)},
    **{"bitor": ("|", OR), "bitxor": ("^", XOR), "bitand": ("&", AND)},
    "div_rn": ("/", PRODUCT),
}
CALLS = {
    **{name: f"torch.{name}" for name in ("abs", "cos", "erf", "exp", "exp2", "log", "log2")},
    **{name: f"torch.{name}" for name in ("pow", "rsqrt", "sigmoid", "sin", "sqrt", "tanh")},
    **{"ceil": "torch.ceil", "floor": "torch.floor", "where": "torch.where"},
    **{"sqrt_rn": "torch.sqrt", "maximum": "torch.maximum", "minimum": "torch.minimum"},
    **{"limited": "torch.clamp", "remainder": "torch.remainder"},
    **{"clamp": "dt_clamped", "fma": "dt_fma", "mod": "dt_remainder", "cdiv": "dt_rounded_up"},
    **{"quotient": "dt_rounded_down", "shl": "dt_shifted_left", "shr": "dt_shifted_right"},
    **{"round": "torch.round", "trunc": "torch.trunc"},
    **{"random": "dt_drawn_bits", "random_bits": "dt_drawn_bits"},
}
REDUCE = {
    **{"rsum": "sum", "rprod": "prod", "rmax": "amax", "rmin": "amin"},
    **{"rany": "any", "rall": "all"},
}
FIRST = {"rargmax": "dt_first_largest", "rargmin": "dt_first_smallest"}
PADDED = "dt_padded"
RECURRENT = "dt_recurrence"
LISTED = "dt_listed"

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
    """Return the rest of a division, with the divisor's sign; for whole numbers 0 if that is 0."""
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
    "dt_rounded_down": '''\
def dt_rounded_down(a, b):
    """The quotient of whole numbers, rounded down; 0 where the divisor is 0; by -1 it wraps."""
    opposite = (b < 0) & (b + 1 == 0)
    divisor = torch.where((b == 0) | opposite, 1, b)
    down = torch.div(a, divisor, rounding_mode="floor")
    return torch.where(b == 0, 0, torch.where(opposite, 0 - a, down)).to(a.dtype)
''',
    "dt_shifted_left": '''\
def dt_shifted_left(a, b):
    """The bits of whole numbers, higher by b; none is left where b is no place that there is."""
    far = (b < 0) | (b >= 8 * a.element_size())
    return torch.where(far, 0, a << torch.where(far, 0, b)).to(a.dtype)
''',
    "dt_shifted_right": '''\
def dt_shifted_right(a, b):
    """The bits of whole numbers, lower by b; only the sign is left where b is no such place."""
    far = (b < 0) | (b >= 8 * a.element_size())
    return torch.where(far, 0 - (a < 0).to(a.dtype), a >> torch.where(far, 0, b)).to(a.dtype)
''',
    "dt_drawn_bits": '''\
def dt_drawn_bits(seed, x, y):
    """Philox 4x32-10 with a seed as its key: two of the words that it gives at the counter x, y."""
    word = 0xFFFFFFFF
    a, b, c, d = x & word, x >> 32 & word, y & word, y >> 32 & word
    one, two = seed & word, seed >> 32 & word
    for _ in range(10):
        left, right = a * 0xD2511F53, c * 0xCD9E8D57
        above, below = right >> 32 & word, left >> 32 & word
        a, b, c, d = above ^ b ^ one, right & word, below ^ d ^ two, left & word
        one, two = one + 0x9E3779B9 & word, two + 0xBB67AE85 & word
    return a | b << 32
''',
    "dt_first_largest": '''\
def dt_first_largest(values):
    """Find the first of the largest along the last axis; NaN is larger than any number."""
    best = values.amax(-1, keepdim=True)
    is_best = (values == best) | (values.isnan() & best.isnan())
    return (is_best.cumsum(-1) == 0).sum(-1)
''',
    "dt_first_smallest": '''\
def dt_first_smallest(values):
    """Find the first of the smallest along the last axis; NaN is smaller than any number."""
    best = values.amin(-1, keepdim=True)
    is_best = (values == best) | (values.isnan() & best.isnan())
    return (is_best.cumsum(-1) == 0).sum(-1)
''',
    "dt_recurrence": '''\
def dt_recurrence(factor, added, state, before, reverse):
    """The results of h = factor * h + added along the last axis, from a first state on."""
    found = torch.empty_like(added)
    places = range(added.shape[-1])
    for place in reversed(places) if reverse else places:
        after = factor[..., place] * state + added[..., place]
        found[..., place] = state if before else after
        state = after
    return found
''',
    "dt_listed": '''\
def dt_listed(values, count, taken, place):
    """The largest along the last axis, NaN first and of equal ones the first, at one place."""
    nothing = float("-inf") if values.is_floating_point() else torch.iinfo(values.dtype).min
    taken = torch.as_tensor(taken).expand(values.shape)
    values, places = values.sort(dim=-1, descending=True, stable=True)
    taken = taken.gather(-1, places)
    order = taken.logical_not().byte().sort(dim=-1, stable=True)[1]
    taken = taken.gather(-1, order)
    values = torch.where(taken, values.gather(-1, order), nothing)
    places = torch.where(taken, places.gather(-1, order), 2**63 - 1)
    more = values.new_full((*values.shape[:-1], count), nothing)
    values = torch.cat((values, more), -1)
    places = torch.cat((places, more.to(torch.int64).fill_(2**63 - 1)), -1)
    return values[..., place], places[..., place]
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
    kind: ValueKind
    is_number: bool = False

    @property
    def dtype(self) -> DType:
        """Return the type that it is computed in."""
        return computed_in(self.kind)


def computed_in(kind: ValueKind) -> DType:
    """Return the type that values of a kind are computed in; of floats there is one only."""
    return F64 if kind.is_float or kind.dtype is None else kind.dtype


def is_large(term: Term) -> bool:
    """Return whether it is a number so large that what is computed from it may wrap around."""
    return term.is_number and term.text.isdigit() and int(term.text) > LARGEST[DType.I32]


def laid_out(term: Term, labels: Sequence[str]) -> Term:
    """Return the value with its axes in the order of the labels, and a 1 for gaps between them."""
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
    """Return a number of Python's as a tensor."""
    if not term.is_number:
        return term
    text = f"torch.tensor({term.text}, dtype={TORCH[term.dtype]})"
    return replace(term, text=text, level=ATOM, is_number=False)


def as_dtype(term: Term, dtype: DType) -> Term:
    """Return the value in a type; Python's numbers take that of what they meet."""
    kind = ValueKind(dtype, weak=term.kind.weak)
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
    """Return the text, in brackets where it binds less tightly than it must."""
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
    """Apply an operation to values brought together; return how tightly its text binds, too."""
    if operation in ("at least", "at most"):
        bound = "min" if operation == "at least" else "max"
        return f"torch.clamp({terms[0].text}, {bound}={terms[1].text})", ATOM
    if operation in PREFIX:
        symbol = PREFIX[operation]
        return f"{symbol}{within(terms[0], SIGN)}", SIGN
    if operation in INFIX:
        symbol, level = INFIX[operation]
        left, right = terms
        first = within(left, level if level > COMPARISON else level + 1)
        return f"{first} {symbol} {within(right, level + 1)}", level
    called = f"{CALLS[operation]}({', '.join(term.text for term in terms)})"
    if operation == "random":
        # The upper 24 bits of the first word.
        return f"({called} >> 8 & 0xFFFFFF).double() * 2.0**-24", PRODUCT
    return called, ATOM


def calls_of(operation: str) -> frozenset[str]:
    """The functions of `SHARED` that an operation calls as `applied` writes it."""
    return frozenset({CALLS[operation]} & SHARED.keys()) if operation in CALLS else frozenset()


def comparable(terms: Sequence[Term]) -> list[Term]:
    """Return two sides in a type that holds both; a number is compared as what it is."""
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
