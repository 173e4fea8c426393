"""The algorithm's side of a proof: the term that each element of a Func must be.

Terms are built straight from the definitions of the Program; nothing here knows of schedules or
kernels. The layer `value` compares them with the terms that kernels store. Where the language
leaves it open whether a value is rounded, the term has a node `may` with the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
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
)
from dtpoly.algorithm.operations import OPERATION, Result
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.building import (
    SIGNS,
    applied,
    is_index,
    is_product,
    literal,
    place,
    rounded,
    whole_in,
)
from dtpoly.verify.algebra.casts import as_kind, as_value, brought, fits
from dtpoly.verify.algebra.extents import extent, sizes_of
from dtpoly.verify.algebra.formats import TYPES, Format, format_of, formats_of, joined, of_numbers
from dtpoly.verify.algebra.infinite import decided
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.residues import RING, is_less, settled
from dtpoly.verify.algebra.rounding import without_may
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    EXTREMES_OF_TRUTHS,
    Element,
    Given,
    Literal,
    PlaceOf,
    Term,
    Total,
    choose,
    pair,
)
from dtpoly.verify.algebra.whole import TRUE, Truth, Whole, both, name, number, within

REDUCTIONS = {
    "rsum": "add",
    "rprod": "mul",
    "rmax": "maximum",
    "rmin": "minimum",
    "rany": "or",
    "rall": "and",
    "rargmax": "argmax",
    "rargmin": "argmin",
}
NAMES = {"fdiv": "div"}
# Operations that may give a whole number outside of their type: in a narrow type it wraps.
WRAPPING = ("add", "sub", "mul", "neg", "abs", "fma", "pow", "cdiv")
# What arithmetic means on bools.
OF_BOOLS = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and", **EXTREMES_OF_TRUTHS}


class Unsaid(Exception):
    """The algorithm has something that no term can say; the exception says what it is."""


@dataclass(frozen=True)
class Meaning:
    """A program, the sizes of its labels, and the types of its tensors and Funcs."""

    program: Program
    sizes: Mapping[str, Whole]
    formats: Mapping[str, Format]
    # The precisions in which products of f32 may be computed: `tf32`, if that was asked for.
    precisions: frozenset[str]
    # Funcs whose parts may be added up in their own type: `f.atomic(k);` asks for that.
    atomics: frozenset[str]
    # The type of values that are computed from written numbers alone; empty if such numbers are
    # not rounded.
    numbers: str
    # Whether values are promised to be finite.
    is_finite: bool = False
    # Funcs whose elements are left as Element terms, not replaced by their definitions, since they
    # are proved by themselves (see lemmas).
    opaque: frozenset[str] = frozenset()
    known: dict[tuple[str, tuple[Whole, ...]], Term] = field(
        default_factory=dict[tuple[str, tuple[Whole, ...]], Term], compare=False
    )


def meaning_of(program: Program, *, is_finite: bool = False, are_free: bool = False) -> Meaning:
    """Return the meaning of a program, for all sizes.

    The size of a label is a number over the shapes of the inputs. A size that every call must pass
    has a name instead; with `are_free`, so has a size that a call may pass.
    """
    asked = [d.arguments for d in program.directives if d.name == "precision"]
    words = {str(argument.target) for arguments in asked for argument in arguments}
    if "tf32" in words:
        words.add("tf32x3")
    precisions = frozenset(words - {"ieee"})
    atomics = frozenset(one.func for one in program.directives if one.name == "atomic")
    formats = formats_of(program)
    numbers = of_numbers(program, formats)
    sizes = sizes_of(program, are_free=are_free)
    return Meaning(program, sizes, formats, precisions, atomics, numbers, is_finite)


def value_of(run: ProofRun, meaning: Meaning, func: str, indices: tuple[Whole, ...]) -> Term:
    """Return the term that an element of a Func must be, in the type in which it is stored."""
    key = (func, indices)
    if key not in meaning.known:
        found = meaning.program.func(func)
        labels = dict(zip(found.labels, indices, strict=True))
        value = _Reading(run, meaning, labels).term(found.body)
        own, to = format_of(found.body, meaning.formats), meaning.formats[func].kind
        if kinds.is_float(to):
            value = _widened(_leaving(value, own), own)
            value = value if own.kind == to == "tl.float64" else rounded(to, value, may=True)
        else:
            value = settled(to, as_value(value, _strict(own), to))
        meaning.known[key] = value
    return meaning.known[key]


def _leaving(term: Term, own: Format) -> Term:
    """Return a whole number as the number of its type that it wraps to; others stay as they are."""
    return settled(_strict(own), term) if own.category == 1 else term


def _met(
    operation: str, terms: Sequence[Term], formats: Sequence[Format], own: Format
) -> list[Term]:
    """Bring operands to the type of the result, if that is a type of whole numbers.

    Sums and products need only the residues of their operands, so these may stay unwrapped. For
    other operations, and where the type changes, an operand is wrapped to the number of its own
    type. A written number beside tensors has the type of the tensors.
    """
    is_ring = operation in (*RING, "where") or (operation == "pow" and is_product(terms))
    found: list[Term] = []
    for term, one in zip(terms, formats, strict=True):
        if one.category == 1 == own.category and one.weak and not own.weak:
            found.append(as_value(term, _strict(one), own.kind))
        else:
            found.append(term if is_ring and _strict(one) == _strict(own) else _leaving(term, one))
    return found


def _widened(value: Term, own: Format) -> Term:
    return as_kind(value, own.kind, kinds.REAL) if own.kind == kinds.BOOL else value


def _beside(terms: Sequence[Term], formats: Sequence[Format], numbers: str) -> list[Term]:
    """Return operands such that a written number beside floats has, or may have, their type.

    This is sound since a written number never changes the width of a type. Beside f32, or beside
    narrower floats that are computed in f32, it is an f32 itself. Beside f64 it stays as it is.
    If there are only written numbers, they have the type `numbers` of the program, if it has one.
    Whole numbers are brought to the float type that they meet, which may not hold them.
    """
    met = joined(formats)
    if met.category < 2:
        return list(terms)
    if (wide := TYPES[DType.F64]) in met.held:
        # f64 holds all whole numbers but those of 64 bits.
        return [
            rounded(wide, term, may=True)
            if f.category == 1 and kinds.WIDTHS.get(_strict(f), 0) > kinds.DIGITS[wide]
            else term
            for term, f in zip(terms, formats, strict=True)
        ]
    kind = kinds.REAL if met.is_callers else "tl.float32"
    of_floats = numbers if met.weak else kind
    return [
        rounded(kind, term, may=True)
        if f.category == 1
        else rounded(of_floats, term, may=True)
        if f.weak and f.category == 2 and of_floats
        else term
        for term, f in zip(terms, formats, strict=True)
    ]


def _strict(of: Format) -> str:
    """Return the type of a value; for a written number, its type where no tensor is beside it."""
    if not of.weak or of.category == 0:
        return of.kind
    return "tl.float64" if of.category == 2 else next(iter(of.held))


def _cast(operand: Expr, term: Term, kind: str, to: str) -> Term:
    """Return a value that the algorithm casts from one type to another.

    A written whole number that does not fit wraps. A written float that does not fit a type of
    whole numbers becomes the least number of the type: the language leaves open what such a cast
    gives, and the least number is what the compiler writes.
    """
    if isinstance(operand, Integer | Float) and to in kinds.WHOLES and not fits(term, to):
        return _wrapped(term, to) if isinstance(operand, Integer) else literal(kinds.LEAST[to])
    if not is_less(kind, to):
        term = settled(kind, term)
    is_kept = kinds.is_float(kind) and kinds.holds(to, kind)
    if is_kept and kinds.is_float(to) and kinds.is_narrow(to):
        # A value that was computed with more digits than its type has is rounded where the cast is
        # written. An element that is only read has no more digits, so there rounding is optional.
        return rounded(to, term, may=isinstance(term, Element))
    is_far = kind == "tl.float64" or kinds.is_whole(kind) or bool(kinds.members(kind))
    if is_far and to in ("tl.float8e4nv", "tl.float8e5"):
        # GPUs have no direct conversion from these types to 8-bit floats: it goes through f32.
        term = rounded("tl.float32", term, may=True)
    if to == "tl.float32" and kinds.is_whole(kind):
        return rounded(to, term, may=True)
    if kind == "tl.float32" and kinds.is_whole(to) and not isinstance(term, Literal):
        # An index or a size that became a float may have been rounded to f32 before.
        bare = without_may(term)
        term = rounded(kind, bare, may=True) if is_index(bare) else term
    return as_value(term, kind, to)


def _wrapped(term: Term, kind: str) -> Term:
    """Return a written number as a number of a type of whole numbers: it wraps as in torch."""
    value = whole_in(term) if isinstance(term, Literal) else None
    constant = None if value is None else value.constant
    if constant is None:
        return term
    least, largest = kinds.LEAST[kind], kinds.LARGEST[kind]
    return literal((constant - least) % (largest - least + 1) + least)


def _of_type(kind: str, terms: Sequence[Term], formats: Sequence[Format]) -> list[Term]:
    """Bring written numbers beside a tensor of narrow whole numbers to its type: they wrap."""
    return [
        rounded(kind, _wrapped(term, kind)) if f.weak else term
        for term, f in zip(terms, formats, strict=True)
    ]


def _near(term: Term) -> Term:
    match term:
        case Literal(text=text) if text.lstrip("-").isdigit():
            return literal(float(int(text)))
        case _:
            return term


def _as_floats(
    operation: str, terms: Sequence[Term], formats: Sequence[Format], met: Format
) -> list[Term]:
    """Return operands, where an index or a size may be rounded to f32.

    That is so for an index or a size that became a narrower float beside f64, and for one that is
    compared.
    """
    is_wide = met.kind == "tl.float64"
    if not is_wide and operation not in SIGNS:
        return [*terms]
    found: list[Term] = []
    for term, own in zip(terms, formats, strict=True):
        is_asked = not is_wide or (own.category == 2 and own.kind != met.kind)
        is_label = not isinstance(term, Literal) and is_index(without_may(term))
        found.append(rounded("tl.float32", term, may=True) if is_asked and is_label else term)
    return found


@dataclass
class _Reading:
    """Translate the expressions of one definition to terms; each label stands for a number."""

    run: ProofRun
    meaning: Meaning
    labels: dict[str, Whole]

    def format(self, expr: Expr) -> Format:
        return format_of(expr, self.meaning.formats)

    def term(self, expr: Expr) -> Term:
        match expr:
            case Integer(value=value) | Float(value=value):
                return literal(value)
            case ScalarRead(name=one):
                return Given(one, self.meaning.formats[one].category == 0)
            case Size(label=label):
                return place(self.meaning.sizes[label])
            case Index(label=label):
                return place(self.labels[label])
            case ProgramId():
                raise Unsaid("program_id")
            case Read():
                return self.read(expr)
            case Apply():
                return self.applied(expr)
            case Cast(operand=operand, dtype=dtype):
                kind = _strict(self.format(operand))
                return _cast(operand, self.term(operand), kind, TYPES[dtype])
            case Reduce(operation=operation, operand=operand, labels=labels):
                return self.reduced(REDUCTIONS[operation], expr, operand, None, labels)
            case Dot(left=left, right=right, labels=labels):
                return self.reduced("add", expr, left, right, labels)
            case Reshape(operand=operand):
                return self.term(operand)

    def applied(self, expr: Apply) -> Term:
        """Return an elementwise operation as a term; a bool beside numbers becomes 0 or 1."""
        operation = expr.operation
        formats = [self.format(one) for one in expr.operands]
        terms = [self.term(one) for one in expr.operands]
        own = self.format(expr)
        if OPERATION[operation].result is Result.CHOSEN:
            rest = [
                as_kind(term, kinds.BOOL, kinds.REAL) if f.category == 0 < own.category else term
                for term, f in zip(terms[1:], formats[1:], strict=True)
            ]
            rest = _met(operation, rest, formats[1:], own)
            condition = _leaving(terms[0], formats[0])
            if own.category == 2:
                rest = [_near(term) for term in rest]
            elif own.category == 1 and kinds.is_narrow(own.kind):
                rest = _of_type(own.kind, rest, formats[1:])
            return applied(
                operation, [condition, *_beside(rest, formats[1:], self.meaning.numbers)]
            )
        if OPERATION[operation].operands_are_bool:
            return applied(operation, terms)
        met = joined(formats)
        if met.category < 2 and operation in ("ceil", "floor"):
            return terms[0]
        if met.category == 0 and operation in OF_BOOLS:
            return applied(OF_BOOLS[operation], terms)
        if met.category > 0 or own.category > 0:
            terms = [
                as_kind(term, kinds.BOOL, kinds.REAL) if f.category == 0 else term
                for term, f in zip(terms, formats, strict=True)
            ]
        is_narrow = own.category == 1 and kinds.is_narrow(own.kind)
        if own.kind in kinds.WHOLES:
            terms = [
                _wrapped(term, own.kind) if f.weak else term
                for term, f in zip(terms, formats, strict=True)
            ]
        terms = _met(operation, terms, formats, own)
        if is_narrow:
            terms = _of_type(own.kind, terms, formats)
        if met.category == 2 or own.category == 2:
            # A written whole number beside floats is the nearest float.
            terms = [_near(term) for term in terms]
            # If all operands of a comparison are whole numbers, they are not rounded.
            is_exact = operation in SIGNS and all(whole_in(term) is not None for term in terms)
            terms = terms if is_exact else _beside(terms, formats, self.meaning.numbers)
            terms = _as_floats(operation, terms, formats, met)
        if met.category < 2 == own.category:
            terms = [rounded("tl.float32", term, may=True) for term in terms]
        by = decided if self.meaning.is_finite else applied
        result = by(NAMES.get(operation, operation), terms)
        return rounded(own.kind, result, may=operation not in WRAPPING) if is_narrow else result

    def reduced(
        self, operation: str, expr: Expr, left: Expr, right: Expr | None, labels: tuple[str, ...]
    ) -> Term:
        bound = {label: self.run.fresh(label) for label in labels}
        outer = self.labels
        self.labels = {**outer, **{label: name(one) for label, one in bound.items()}}
        body = self.term(left)
        of = self.format(left)
        to = self.format(expr).kind
        if operation not in ("add", "mul") or of.kind != to:
            body = _leaving(body, of)
        is_number = operation in ("add", "mul")
        if is_number and self.format(left).category == 0:
            body = as_kind(body, kinds.BOOL, kinds.REAL)
        if right is not None:
            second = self.term(right)
            if self.format(right).kind != to:
                second = _leaving(second, self.format(right))
            if self.format(right).category == 0:
                second = as_kind(second, kinds.BOOL, kinds.REAL)
            met = joined([self.format(left), self.format(right)])
            body = applied("mul", [self.operand(body, met), self.operand(second, met)])
        if not is_number and self.format(left).category == 0:
            operation = OF_BOOLS.get(operation, operation)
        domain: Truth = TRUE
        for label, one in bound.items():
            domain = both(domain, within(number(0), name(one), self.meaning.sizes[label]))
        if operation in EXTREMES:
            found = place(self.labels[labels[0]])
            total = Total(operation, tuple(bound.values()), domain, pair(body, found))
            self.labels = outer
            return PlaceOf(total)
        self.labels = outer
        return Total(operation, tuple(bound.values()), domain, body)

    def operand(self, term: Term, met: Format) -> Term:
        """Return an operand of a product, which may be rounded.

        It may be rounded to the common type of both operands and to the precisions asked for.
        """
        if met.category == 2:
            term = rounded(met.kind, term, may=True) if not met.weak else term
            for one in sorted(self.meaning.precisions):
                term = rounded(one, term, may=True)
        return term

    def read(self, read: Read) -> Term:
        indices = tuple(self.index(one) for one in read.indices)
        program, sizes = self.meaning.program, self.meaning.sizes
        func = program.find_func(read.tensor)
        value: Term = (
            Element(read.tensor, indices, 0, ())
            if func is None or func.name in self.meaning.opaque
            else value_of(self.run, self.meaning, read.tensor, indices)
        )
        if read.padding is None:
            return value
        inside: Truth = TRUE
        for axis, index in enumerate(indices):
            size = extent(program, read.tensor, axis, sizes)
            inside = both(inside, within(number(0), index, size))
        padding = self.term(read.padding)
        own = self.meaning.formats[read.tensor]
        if own.category > 0 and self.format(read.padding).category == 0:
            padding = as_kind(padding, kinds.BOOL, kinds.REAL)
        if own.kind in kinds.WHOLES and self.format(read.padding).weak:
            # The least number of a type changes nothing in a maximum, so it must be known as such
            # in the type of the tensor: for u8 it is 0.
            padding = brought(padding, kinds.WEAK, own.kind)
        return choose(inside, value, padding)

    def index(self, index: Affine) -> Whole:
        total = number(index.constant)
        for label, coefficient in index.terms:
            total = total + self.labels[label] * coefficient
        return total
