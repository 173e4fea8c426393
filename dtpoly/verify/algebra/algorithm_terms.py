"""The algorithm's side of a proof: the term that each element of a Func must be.

Terms are built straight from the definitions of the Program; nothing here knows of schedules or
kernels. The layer `value` compares them with the terms that kernels store. Where the language
leaves it open whether a value is rounded, the term has a node `may` with the type.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Conditions,
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
    ScanOrder,
    Size,
    division,
)
from dtpoly.algorithm.operations import FROM_LIST, OPERATION, ResultRule
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.cast_terms import cast_of, wrapped_number
from dtpoly.verify.algebra.casts import as_kind, as_value, brought
from dtpoly.verify.algebra.extents import extent, sizes_of
from dtpoly.verify.algebra.formats import TYPES, Format, format_of, formats_of, joined, of_numbers
from dtpoly.verify.algebra.infinite import decided
from dtpoly.verify.algebra.listed import LISTS, at_place, list_of
from dtpoly.verify.algebra.met_operands import (
    beside_floats,
    compared_as_floats,
    in_narrow_type,
    nearest_float,
    strict,
)
from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.recurrences import recurrence, steps
from dtpoly.verify.algebra.residues import RING, settled
from dtpoly.verify.algebra.term_building import (
    SIGNS,
    applied,
    is_product,
    literal,
    place,
    rounded,
    whole_in,
)
from dtpoly.verify.algebra.terms import (
    EXTREMES,
    EXTREMES_OF_TRUTHS,
    Element,
    Given,
    Literal,
    PlaceOf,
    Term,
    Total,
    ValueOf,
    choose,
    pair,
)
from dtpoly.verify.algebra.whole import (
    TRUE,
    Truth,
    Whole,
    both,
    compare,
    name,
    number,
    within,
)

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
NAMES = {"fdiv": "div", "round": "nearest"}
# Operations that may give a whole number outside of their type: in a narrow type it wraps.
WRAPPING = ("add", "sub", "mul", "neg", "abs", "fma", "pow", "cdiv", "quotient", "shl", "invert")
# What an element of truths is outside of the range of its label.
FALSE_TERM = Literal("False")
# What arithmetic means on bools.
OF_BOOLS = {
    **{"add": "or", "mul": "and", "maximum": "or", "minimum": "and", **EXTREMES_OF_TRUTHS},
    **{"bitand": "and", "bitor": "or", "bitxor": "ne", "invert": "not"},
}
# What is drawn for a seed and two numbers of 64 bits. Nothing is known of it but that it is equal
# for equal ones.
DRAWN = ("random", "random_bits")
# Operations that change no whole number.
ROUNDS = ("ceil", "floor", "round", "trunc")


class Unsaid(Exception):
    """The algorithm has something that no term can say; the exception says what it is."""


@dataclass(frozen=True)
class AlgorithmMeaning:
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


def meaning_of(
    program: Program, *, is_finite: bool = False, are_free: bool = False
) -> AlgorithmMeaning:
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
    return AlgorithmMeaning(program, sizes, formats, precisions, atomics, numbers, is_finite)


def value_of(
    run: ProofRun, meaning: AlgorithmMeaning, func: str, indices: tuple[Whole, ...]
) -> Term:
    """Return the term that an element of a Func must be, in the type in which it is stored."""
    key = (func, indices)
    if key not in meaning.known:
        found = meaning.program.func(func)
        labels = dict(zip(found.labels, indices, strict=True))
        reading = TermReading(run, meaning, labels)
        own, to = format_of(found.body, meaning.formats), meaning.formats[func].kind
        nothing = FALSE_TERM if own.category == 0 else literal(0)
        value = choose(reading.holds(found.when), reading.term(found.body), nothing)
        if kinds.is_float(to):
            value = _widened(_leaving(value, own), own)
            value = value if own.kind == to == "tl.float64" else rounded(to, value, may=True)
        else:
            value = settled(to, as_value(value, strict(own), to))
        meaning.known[key] = value
    return meaning.known[key]


def _leaving(term: Term, own: Format) -> Term:
    """Return a whole number as the number of its type that it wraps to; others stay as they are."""
    return settled(strict(own), term) if own.category == 1 else term


def _counters(terms: Sequence[Term], formats: Sequence[Format]) -> list[Term]:
    """Bring operands to whole numbers of 64 bits, each by itself."""
    return [
        settled("tl.int64", as_value(_leaving(term, own), strict(own), "tl.int64"))
        for term, own in zip(terms, formats, strict=True)
    ]


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
            found.append(as_value(term, strict(one), own.kind))
        else:
            found.append(term if is_ring and strict(one) == strict(own) else _leaving(term, one))
    return found


def _widened(value: Term, own: Format) -> Term:
    return as_kind(value, own.kind, kinds.REAL) if own.kind == kinds.BOOL else value


@dataclass
class TermReading:
    """Translate the expressions of one definition to terms; each label stands for a number."""

    run: ProofRun
    meaning: AlgorithmMeaning
    labels: dict[str, Whole]

    def format(self, expr: Expr) -> Format:
        """Return the type of an expression."""
        return format_of(expr, self.meaning.formats)

    def term(self, expr: Expr) -> Term:
        """Return an expression as a term."""
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
                kind = strict(self.format(operand))
                return cast_of(operand, self.term(operand), kind, TYPES[dtype])
            case Reduce(scan=ScanOrder(factor=factor, initial=initial) as scan) if (
                factor is not None and initial is not None
            ):
                return self.recurrence(expr, scan, (factor, expr.operand, initial))
            case Reduce(operation=operation, operand=operand, labels=labels):
                return self.reduced(REDUCTIONS[operation], expr, operand, None, labels)
            case Dot(left=left, right=right, labels=labels):
                return self.reduced("add", expr, left, right, labels)
            case Reshape(operand=operand):
                return self.term(operand)

    def applied(self, expr: Apply) -> Term:
        """Return an elementwise operation as a term; a bool beside numbers becomes 0 or 1."""
        operation = expr.operation
        if operation in FROM_LIST:
            return self.listed(operation, expr.operands)
        formats = [self.format(one) for one in expr.operands]
        terms = [self.term(one) for one in expr.operands]
        own = self.format(expr)
        if OPERATION[operation].result is ResultRule.CHOSEN:
            rest = [
                as_kind(term, kinds.BOOL, kinds.REAL) if f.category == 0 < own.category else term
                for term, f in zip(terms[1:], formats[1:], strict=True)
            ]
            rest = _met(operation, rest, formats[1:], own)
            condition = _leaving(terms[0], formats[0])
            if own.category == 2:
                rest = [nearest_float(term) for term in rest]
            elif own.category == 1 and kinds.is_narrow(own.kind):
                rest = in_narrow_type(own.kind, rest, formats[1:])
            return applied(
                operation, [condition, *beside_floats(rest, formats[1:], self.meaning.numbers)]
            )
        if OPERATION[operation].operands_are_bool:
            return applied(operation, terms)
        if operation in DRAWN:
            return applied(operation, _counters(terms, formats))
        met = joined(formats)
        if met.category < 2 and operation in ROUNDS:
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
                wrapped_number(term, own.kind) if f.weak else term
                for term, f in zip(terms, formats, strict=True)
            ]
        terms = _met(operation, terms, formats, own)
        if is_narrow:
            terms = in_narrow_type(own.kind, terms, formats)
        if met.category == 2 or own.category == 2:
            # A written whole number beside floats is the nearest float.
            terms = [nearest_float(term) for term in terms]
            # If all operands of a comparison are whole numbers, they are not rounded.
            is_exact = operation in SIGNS and all(whole_in(term) is not None for term in terms)
            terms = terms if is_exact else beside_floats(terms, formats, self.meaning.numbers)
            terms = compared_as_floats(operation, terms, formats, met)
        if met.category < 2 == own.category:
            terms = [rounded("tl.float32", term, may=True) for term in terms]
        by = decided if self.meaning.is_finite else applied
        result = by(NAMES.get(operation, operation), terms)
        return rounded(own.kind, result, may=operation not in WRAPPING) if is_narrow else result

    def reduced(
        self,
        operation: str,
        expr: Reduce | Dot,
        left: Expr,
        right: Expr | None,
        labels: tuple[str, ...],
    ) -> Term:
        """Return a reduction, of a product if there are two operands."""
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
        domain = both(domain, self.holds(expr.when))
        if operation in EXTREMES:
            found = place(self.labels[labels[0]])
            total = Total(operation, tuple(bound.values()), domain, pair(body, found))
            self.labels = outer
            return PlaceOf(total)
        if operation in LISTS:
            body = pair(body, place(self.labels[labels[0]]))
        self.labels = outer
        return Total(operation, tuple(bound.values()), domain, body)

    def recurrence(self, expr: Reduce, order: ScanOrder, operands: Sequence[Expr]) -> Term:
        """Return the result of h = a * h + b after all steps up to an index, in their order."""
        (label,) = expr.labels
        outer, step = self.labels, self.run.fresh(label)
        inside = {**outer, label: name(step)}
        formats = [self.format(one) for one in operands]
        terms: list[Term] = []
        for one, of, labels in zip(operands, formats, (inside, inside, outer), strict=True):
            self.labels = labels
            term = _leaving(self.term(one), of)
            terms.append(as_kind(term, kinds.BOOL, kinds.REAL) if of.category == 0 else term)
            self.labels = inside
        terms = beside_floats(
            [nearest_float(term) for term in terms], formats, self.meaning.numbers
        )
        domain = both(
            within(number(0), name(step), self.meaning.sizes[label]), self.holds(expr.when)
        )
        self.labels = outer
        factor, added, first = terms
        return recurrence(first, steps(step, domain, pair(factor, added), order.is_reverse))

    def listed(self, operation: str, operands: tuple[Expr, ...]) -> Term:
        """Return the value, or the place, that stands at a place of a list."""
        largest, at = operands
        assert isinstance(largest, Reduce)
        index = whole_in(self.term(at))
        if index is None:
            raise Unsaid("a place of a list that is no index")
        word = list_of(self.format(largest.operand).kind)
        pairs = self.reduced(word, largest, largest.operand, None, largest.labels)
        found = at_place(pairs, index)
        return ValueOf(found) if operation == "rtopk" else PlaceOf(found)

    def holds(self, when: Conditions) -> Truth:
        """Return the formula that all conditions hold: that indices are in their ranges."""
        found: Truth = TRUE
        for one in when:
            total = self.index(one.index)
            for label, coefficient in one.sizes.linear:
                total = total + self.meaning.sizes[label] * coefficient
            found = both(found, compare(">=", total, number(0)))
        return found

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
        """Return an element that is read, or the padding where it is outside."""
        indices = tuple(
            self.index(one) if one.data is None else self.data(one.data) for one in read.indices
        )
        program, sizes = self.meaning.program, self.meaning.sizes
        func = program.find_func(read.tensor)
        value: Term = (
            Element(read.tensor, indices, 0, ())
            if func is None or func.name in self.meaning.opaque
            else value_of(self.run, self.meaning, read.tensor, self.numbers(read))
        )
        other = padding_of(read)
        if other is None:
            return value
        inside: Truth = TRUE
        # What depends on data is a term, and no formula over names.
        of_data: list[Term] = []
        for axis, index in enumerate(indices):
            size = extent(program, read.tensor, axis, sizes)
            if read.indices[axis].within is not None:
                continue  # the caller promises that it is inside
            if not isinstance(index, Whole):
                of_data.append(applied("ge", [index, literal(0)]))
                of_data.append(applied("lt", [index, place(size)]))
            elif read.padding is not None:  # otherwise it must be inside
                inside = both(inside, within(number(0), index, size))
        padding = self.padding(read, other)
        if of_data:
            holds = of_data[0]
            for one in of_data[1:]:
                holds = applied("and", [holds, one])
            value = applied("where", [holds, value, padding])
        return choose(inside, value, padding)

    def numbers(self, read: Read) -> tuple[Whole, ...]:
        """Return the indices at which a Func is read, which are no data."""
        if any(one.data is not None for one in read.indices):
            raise Unsaid("a Func that is read at data")
        return tuple(self.index(one) for one in read.indices)

    def data(self, expr: Expr) -> Term:
        """Return an index that is data: a whole number of 64 bits."""
        return _counters([self.term(expr)], [self.format(expr)])[0]

    def padding(self, read: Read, expr: Expr) -> Term:
        """Return what a read gives outside of the tensor, in the type of the tensor."""
        padding = self.term(expr)
        own = self.meaning.formats[read.tensor]
        if own.category == 0 and read.padding is None:
            return FALSE_TERM
        if own.category > 0 and self.format(expr).category == 0:
            padding = as_kind(padding, kinds.BOOL, kinds.REAL)
        if own.kind in kinds.WHOLES and self.format(expr).weak:
            # The least number of a type changes nothing in a maximum, so it must be known as such
            # in the type of the tensor: for u8 it is 0.
            padding = brought(padding, kinds.WEAK, own.kind)
        return padding

    def index(self, index: Affine) -> Whole:
        """Return an index that is no data as a number."""
        total = number(index.constant)
        for term, coefficient in index.terms:
            if isinstance(term, str):
                value = self.labels[term]
            elif (term := division(term)).operator == "//":
                value = self.index(term.inner).floor(term.divisor)
            else:
                value = self.index(term.inner).modulo(term.divisor)
            total = total + value * coefficient
        return total
