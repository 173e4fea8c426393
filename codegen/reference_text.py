"""Writes a Python function that computes a Func with torch alone, in float64.

The test in a generated file compares the kernels' results with it. It is written from the
definitions and not from kernels: a value is a tensor with an axis for each label that it depends
on, and two values meet where they share a label. Sizes are 1 or more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from string import ascii_letters
from typing import assert_never

from dtpoly.algorithm.dtypes import DType, is_float, summed
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
    children,
    walk,
)
from dtpoly.algorithm.label_sizes import axis_reads
from dtpoly.algorithm.operations import COMPARISON as COMPARES
from dtpoly.algorithm.operations import OPERATION, ResultRule
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Func, Program, Scalar, in_order
from dtpoly.algorithm.show import show_affine
from dtpoly.algorithm.substitute import as_condition
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Kinds, ValueKind, join, kind_of, kind_of_operation, kinds_of
from dtpoly.plan.formula import functions_in, show
from dtpoly.plan.plan import PlannedSize

from .building import Unsupported
from .file_parts import CallingText
from .operation_spelling import ROUNDS
from .planned_sizes import keyword_labels, sizes_for
from .python_layout import call, fitted, inside
from .python_names import PYTHON, fresh
from .reference_terms import (
    ATOM,
    CALLS,
    F64,
    FIRST,
    LISTED,
    PADDED,
    RECURRENT,
    REDUCE,
    Term,
    applied,
    as_dtype,
    as_tensor,
    calls_of,
    comparable,
    computed_in,
    is_large,
    laid_out,
    with_numbers,
    within,
)
from .sizing import Sizing
from .type_text import TORCH

# A longer text gets a name before it is used in another; so do parts of a line that is too long.
LONG, TOO_LONG = 44, 80
# What functions of formulas are called in the runtime, where Python has none of the name.
IN_RUNTIME = {"cdiv": "dt_up", "lanes": "dt_lanes", "fit": "dt_fit"}


@dataclass(slots=True)
class Writing:
    """A function that is being written."""

    program: Program
    kinds: Kinds
    sizing: Sizing
    func: Func
    names: dict[str, str]  # of tensors, scalars and Funcs
    taken: set[str]
    indices: dict[str, str] = field(default_factory=dict[str, str])  # label -> 0, 1, 2, ...
    sized: set[str] = field(default_factory=set[str])  # labels whose size is used
    lines: list[str] = field(default_factory=list[str])
    called: set[str] = field(default_factory=set[str])  # functions beside those of torch

    def name(self, wish: str) -> str:
        """Return a new variable."""
        made = fresh(wish, self.taken, PYTHON)
        self.taken.add(made)
        return made

    def size(self, label: str) -> str:
        """Return the variable of a label's size."""
        self.sized.add(label)
        return self.sizing.labels[label]

    def index(self, label: str) -> str:
        """Return the variable of a label's indices."""
        if label not in self.indices:
            self.indices[label] = self.name(label)
            self.sized.add(label)
        return self.indices[label]

    def named(self, term: Term, wish: str = "part") -> Term:
        """Return the value under a name of its own."""
        name = self.name(wish)
        self.lines.append(f"{name} = {term.text}")
        return replace(term, text=name, level=ATOM)

    def short(self, term: Term) -> Term:
        """Return the value, under a name if its text is long."""
        return self.named(term) if len(term.text) > LONG else term


def reference(program: Program, func: str, name: str, inputs: Mapping[str, str]) -> CallingText:
    """Return the function that computes a Func from the inputs of the program, by their names."""
    passed = keyword_labels(program)
    taken = {*inputs.values(), name}
    keywords = {label: fresh(label, taken, PYTHON) for label in passed}
    taken.update(keywords.values())
    sizes: dict[str, str] = {}
    for label in program.labels:
        sizes[label.name] = fresh(f"{label.name}_size", taken, PYTHON)
        taken.add(sizes[label.name])
    sizing = Sizing(program, inputs, sizes)
    last = program.func(func)
    writing = Writing(program, kinds_of(program), sizing, last, dict(inputs), taken)
    for one in in_order(program, [func]):
        writing.func = one
        _define(writing, one)
    head = list(_inputs(writing))
    head += [f"{name} = torch.arange({sizes[label]})" for label, name in writing.indices.items()]
    used = list(_sizes(writing, keywords))
    body = [f'"""`{func}` by its definition, in float64."""', *used, *head, *writing.lines]
    body.append(f"return {writing.names[func]}")
    parameters = [*inputs.values(), *(["*"] if passed else [])]
    parameters += [f"{word}=None" if passed[label] else word for label, word in keywords.items()]
    lines = [*call(f"def {name}", parameters, ":", indent=0), *inside(fitted(body))]
    return CallingText.of(lines, writing.called)


def _sizes(writing: Writing, keywords: Mapping[str, str]) -> Iterator[str]:
    """Yield a variable for the size of each label, as it is passed or else as tensors show it."""
    sizes = sizes_for(writing.sizing, writing.sized)
    for label, size in sizes:
        if size.is_passed:
            yield f"{size.label} = {keywords[label]}"
    for _, size in sizes:
        if size.is_passed and size.formula is not None:
            yield f"if {size.label} is None:"
            yield f"    {size.label} = {_in_python(writing, size)}"
        elif not size.is_passed:
            yield f"{size.label} = {_in_python(writing, size)}"


def _in_python(writing: Writing, size: PlannedSize) -> str:
    """Return the formula of a size, with the names that its functions have in the runtime."""
    assert size.formula is not None
    writing.called |= {IN_RUNTIME[one] for one in functions_in(size.formula) & IN_RUNTIME.keys()}
    return show(size.formula, IN_RUNTIME)


def check_meaning(program: Program) -> None:
    """Raise Unsupported where a Func is more than its definition."""
    for func in program.funcs:
        if any(isinstance(node, ProgramId) for node in walk(func.body)):
            raise Unsupported(f"'program_id' in '{func.name}' depends on the schedule: no test")
        if func.into is not None and func.into.at is not None:
            # The reference has the elements of the Func, and not the tensor that they go to.
            raise Unsupported(f"'{func.name}' goes to places in '{func.into.tensor}': no test")


def _inputs(writing: Writing) -> Iterator[str]:
    for one in writing.program.inputs:
        name = writing.names[one.name]
        if isinstance(one, Scalar):
            dtype = TORCH[one.dtype] if one.dtype and not is_float(one.dtype) else "torch.float64"
            yield f"{name} = torch.tensor({name}, dtype={dtype})"
        elif one.dtype is None or is_float(one.dtype):
            yield f"{name} = {name}.cpu().double()"
        else:
            yield f"{name} = {name}.cpu()"


def _define(writing: Writing, func: Func) -> None:
    term = _spread(writing, _term(writing, func.body), func.labels)
    if func.when:
        term = _spread(writing, _taken(writing, term, func.when, "0"), func.labels)
    stored = writing.kinds[func.name]
    term = as_dtype(term, computed_in(stored))
    writing.names[func.name] = writing.name(func.name)
    writing.lines.append(f"{writing.names[func.name]} = {term.text}")


# Layout


def _order(writing: Writing, terms: Sequence[Term]) -> tuple[str, ...]:
    """Give all labels of some values, in an order for all of them.

    It is the order of a value that has all labels, else that of the Func.
    """
    every = dict.fromkeys(label for term in terms for label in term.labels)
    for term in terms:
        if len(term.labels) == len(every):
            return term.labels
    own = [label for label in writing.func.labels if label in every]
    return (*own, *(label for label in every if label not in own))


def _spread(writing: Writing, term: Term, labels: Sequence[str]) -> Term:
    """Return the value with exactly these axes, repeated along those that it lacks."""
    if term.labels == tuple(labels) and not term.is_number:
        return term
    term = as_tensor(term)
    if set(term.labels) == set(labels):
        return laid_out(term, labels)
    extents = ", ".join("-1" if v in term.labels else writing.size(v) for v in labels)
    term = laid_out(term, labels)
    return replace(term, text=f"{within(term, ATOM)}.expand({extents})", level=ATOM)


# Expressions


def _term(writing: Writing, expr: Expr) -> Term:  # noqa: C901  # one case for each kind of expression
    kind = kind_of(expr, writing.kinds)
    match expr:
        case Integer(value=value):
            return Term(str(value), ATOM, (), kind, is_number=True)
        case Float(value=value):
            text = (
                repr(value).replace("e+", "e") if abs(value) < float("inf") else f'float("{value}")'
            )
            return Term(text, ATOM, (), kind, is_number=True)
        case ScalarRead(name=name):
            return Term(writing.names[name], ATOM, (), kind)
        case Size(label=label):
            return Term(writing.size(label), ATOM, (), kind, is_number=True)
        case Index(label=label):
            return Term(writing.index(label), ATOM, (label,), kind)
        case ProgramId():
            raise AssertionError("it has no meaning here")
        case Read():
            return _read(writing, expr, kind)
        case Reshape(operand=operand, axes=axes):
            term = _term(writing, operand)
            labels = tuple(dict.fromkeys((*(axis for axis in axes if axis), *term.labels)))
            return _spread(writing, term, labels) if set(labels) - set(term.labels) else term
        case Cast(operand=operand, dtype=dtype):
            term = as_tensor(_term(writing, operand))
            text = f"{within(term, ATOM)}.to({TORCH[dtype]})"
            rounded = text if not is_float(dtype) else f"{text}.double()"
            return replace(term, text=rounded, level=ATOM, kind=kind)
        case Apply(operation=operation, operands=(Reduce(operation="rlist") as largest, place)):
            return _listed(writing, operation, largest, _term(writing, place), kind)
        case Apply(operation=operation, operands=operands):
            return _apply(writing, operation, [_term(writing, e) for e in operands])
        case Reduce(scan=ScanOrder(factor=factor) as order) if factor is not None:
            return _recurrence(writing, expr, order, kind)
        case Reduce(operation=operation, operand=operand, labels=labels, when=when):
            term = _term(writing, operand)
            if when:
                term = _taken(writing, term, when, _nothing(operation, computed_in(term.kind)))
            return _reduce(writing, operation, term, labels, kind)
        case Dot(left=left, right=right, labels=labels, when=when):
            return _dot(writing, _term(writing, left), _term(writing, right), labels, when)
        case _:
            assert_never(expr)


def _listed(
    writing: Writing, operation: str, largest: Reduce, place: Term, kind: ValueKind
) -> Term:
    """Return what stands at a place of the list of the largest."""
    operand = _term(writing, largest.operand)
    inside = as_condition(largest.when)
    taken = Term("True", ATOM, (), kind) if inside is None else _term(writing, inside)
    every = _order(writing, [operand, taken])
    kept = tuple(label for label in every if label not in largest.labels)
    if set(place.labels) & set(kept):
        raise Unsupported("a list is read at a place that depends on the list: no test")
    values = writing.short(_spread(writing, operand, (*kept, *largest.labels)))
    truth = taken.text
    if inside is not None:
        truth = writing.short(_spread(writing, taken, (*kept, *largest.labels))).text
    writing.called.add(LISTED)
    which = int(operation == "rargtopk")
    parts = (values.text, str(largest.count), truth, place.text)
    text = f"{LISTED}({', '.join(parts)})[{which}]"
    return writing.short(Term(text, ATOM, (*kept, *place.labels), kind))


def _read(writing: Writing, read: Read, kind: ValueKind) -> Term:
    labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
    name = writing.names[read.tensor]
    is_plain = all(i.is_plain for i in read.indices) and len(labels) == len(read.indices)
    if not read.indices or (is_plain and read.padding is None):
        parts = [_part(writing, read.tensor, axis, v) for axis, v in enumerate(labels)]
        is_whole = all(part == ":" for part in parts)
        text = name if is_whole else f"{name}[{', '.join(parts)}]"
        return Term(text, ATOM, labels, kind)
    places = [_place(writing, index, labels) for index in read.indices]
    other = padding_of(read)
    if other is None:
        return writing.short(Term(f"{name}[{', '.join(places)}]", ATOM, labels, kind))
    padding = writing.short(_term(writing, other)).text
    writing.called.add(PADDED)
    term = Term(f"{PADDED}({', '.join((name, padding, *places))})", ATOM, labels, kind)
    return writing.short(term)


def _part(writing: Writing, tensor: str, axis: int, label: str) -> str:
    """Write the part of an axis that a label reads.

    A shift elsewhere may make the label shorter than the axis.
    """
    others = (r.index for r in axis_reads(writing.program) if (r.tensor, r.axis) == (tensor, axis))
    is_whole = all(index.is_plain for index in others if label in index.labels)
    return ":" if is_whole else f":{writing.size(label)}"


def _place(writing: Writing, index: Affine, labels: tuple[str, ...]) -> str:
    """Return an index along labels; the first axes may be left out."""
    if index.data is not None:
        term = as_dtype(as_tensor(_term(writing, index.data)), DType.I64)
        return laid_out(term, labels).text
    put = {
        label: Affine(
            (
                (
                    laid_out(
                        Term(writing.index(label), ATOM, (label,), ValueKind(DType.I64)), labels
                    ).text,
                    1,
                ),
            )
        )
        for label in index.labels
    }
    return show_affine(index.substitute(put))


def _apply(writing: Writing, operation: str, terms: list[Term]) -> Term:
    info = OPERATION[operation]
    kind = kind_of_operation(operation, [term.kind for term in terms])
    dtype = computed_in(kind)
    if info.precedence == COMPARES:
        terms = comparable(terms)
    elif info.result is ResultRule.CHOSEN:
        terms = [terms[0], *(as_dtype(term, dtype) for term in terms[1:])]
    elif info.result in (ResultRule.LONG, ResultRule.SINGLE):
        terms = [as_dtype(as_tensor(term), DType.I64) for term in terms]
    elif not info.operands_are_bool:
        terms = [as_dtype(term, dtype) for term in terms]
    if operation in ROUNDS and not is_float(dtype):
        return replace(terms[0], kind=kind)
    has_bools = info.operands_are_whole  # such an operation knows bools as they are
    through_bytes = info.result is ResultRule.PROMOTED and dtype is DType.BOOL and not has_bools
    if through_bytes:
        terms = [as_dtype(term, DType.U8) for term in terms]
    is_exact = operation in ("neg", "add", "sub", "mul") and not any(map(is_large, terms))
    if all(term.is_number for term in terms) and not is_exact:
        terms = [as_tensor(terms[0]), *terms[1:]]
    simple = with_numbers(operation, terms)
    if simple is None and operation in CALLS:
        terms = [as_tensor(term) for term in terms]
    labels = _order(writing, terms)
    terms = [laid_out(term, labels) for term in _fitting(writing, terms)]
    is_number = all(term.is_number for term in terms)
    text, level = applied(simple or operation, terms)
    writing.called |= calls_of(simple or operation)
    total = Term(text, level, labels, kind, is_number)
    if through_bytes:
        return replace(total, text=f"{within(total, ATOM)}.bool()", level=ATOM)
    return total


def _fitting(writing: Writing, terms: Sequence[Term]) -> list[Term]:
    """Return the values, with names for those whose texts are too long together."""
    done = [writing.short(term) for term in terms]
    while sum(len(term.text) for term in done) > TOO_LONG:
        longest = max(range(len(done)), key=lambda at: len(done[at].text))
        done[longest] = writing.named(done[longest])
    return done


def _taken(writing: Writing, term: Term, when: Conditions, other: str) -> Term:
    """Return the value where all conditions hold, and a number elsewhere."""
    inside = as_condition(when)
    assert inside is not None
    holds, term = writing.short(_term(writing, inside)), writing.short(as_tensor(term))
    labels = _order(writing, [term, holds])
    parts = (laid_out(one, labels).text for one in (holds, term))
    number = f"torch.tensor({other}, dtype={TORCH[computed_in(term.kind)]})"
    text = f"torch.where({', '.join((*parts, number))})"
    return writing.short(Term(text, ATOM, labels, term.kind))


def _nothing(operation: str, dtype: DType) -> str:
    """Return the text of the value that changes nothing in a reduction."""
    if operation.removeprefix("rarg") not in ("max", "min", "rmax", "rmin"):
        return str(int(operation in ("rprod", "rall")))
    is_largest = operation.endswith("max")
    if is_float(dtype):
        return f'float("{"-inf" if is_largest else "inf"}")'
    if dtype is DType.BOOL:
        return str(not is_largest)
    return f"torch.iinfo({TORCH[dtype]}).{'min' if is_largest else 'max'}"


def _reduce(
    writing: Writing, operation: str, term: Term, over: Sequence[str], kind: ValueKind
) -> Term:
    kept = tuple(label for label in term.labels if label not in over)
    if operation in FIRST:
        term = _spread(writing, term, (*kept, *over))
        text = within(term, ATOM) if len(over) > 1 else term.text
        text = f"{text}.flatten({len(kept)})" if len(over) > 1 else text
        writing.called.add(FIRST[operation])
        return writing.short(Term(f"{FIRST[operation]}({text})", ATOM, kept, kind))
    term = writing.short(term)
    axes = [term.labels.index(label) for label in over]
    dtype = computed_in(kind)
    extra = f", dtype={TORCH[dtype]}" if operation in ("rsum", "rprod") and dtype != F64 else ""
    text = within(term, ATOM)
    if operation == "rprod":
        for axis in sorted(axes, reverse=True):
            text = f"{text}.prod({axis}{extra})"
        return Term(text, ATOM, kept, kind)
    several = f"({', '.join(map(str, axes))})" if len(axes) > 1 else str(axes[0])
    return Term(f"{text}.{REDUCE[operation]}({several}{extra})", ATOM, kept, kind)


def _recurrence(writing: Writing, expr: Reduce, order: ScanOrder, kind: ValueKind) -> Term:
    """Compute a recurrence element by element."""
    (label,) = expr.labels
    terms = [as_dtype(as_tensor(_term(writing, one)), F64) for one in children(expr)]
    every = dict.fromkeys(name for term in terms for name in term.labels)
    kept = tuple(name for name in _order(writing, terms) if name != label)
    assert set(every) <= {*kept, label}
    factor, added, first = (
        writing.short(_spread(writing, term, labels)).text
        for term, labels in zip(terms, ((*kept, label), (*kept, label), kept), strict=True)
    )
    writing.called.add(RECURRENT)
    words = f"before={order.is_before}, reverse={order.is_reverse}"
    text = f"{RECURRENT}({factor}, {added}, {first}, {words})"
    return writing.short(Term(text, ATOM, (*kept, order.at), kind))


def _dot(writing: Writing, left: Term, right: Term, over: Sequence[str], when: Conditions) -> Term:
    both = join(left.kind, right.kind)
    stored = computed_in(both)
    kind = ValueKind(both.dtype if both.is_float else summed(stored), both.callers)
    dtype = computed_in(kind)
    sides = [as_dtype(as_dtype(as_tensor(side), stored), dtype) for side in (left, right)]
    sides = [writing.short(side) for side in sides]
    if when:
        product = _taken(writing, _apply(writing, "mul", sides), when, "0")
        return _reduce(writing, "rsum", product, over, kind)
    every = dict.fromkeys((*left.labels, *right.labels))
    kept = tuple(label for label in every if label not in over)
    letters = _letters(every)
    parts = ["".join(letters[v] for v in labels) for labels in (left.labels, right.labels, kept)]
    text = f'torch.einsum("{parts[0]},{parts[1]}->{parts[2]}", {sides[0].text}, {sides[1].text})'
    return writing.short(Term(text, ATOM, kept, kind))


def _letters(labels: Iterable[str]) -> dict[str, str]:
    """Return a letter for each label: its first one if it is free."""
    letters: dict[str, str] = {}
    for label in labels:
        options = (c for c in f"{label[0]}{ascii_letters}" if c in ascii_letters)
        letters[label] = next(c for c in options if c not in letters.values())
    return letters
