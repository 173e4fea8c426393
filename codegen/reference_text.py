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
    walk,
)
from dtpoly.algorithm.operations import COMPARISON as COMPARES
from dtpoly.algorithm.operations import OPERATION, Result
from dtpoly.algorithm.program import Func, Program, Scalar, in_order
from dtpoly.algorithm.show import show_affine
from dtpoly.algorithm.sizes import axis_reads
from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Kind, Kinds, join, kind_of, kind_of_operation, kinds_of

from .building import Unsupported
from .layout import call, fitted, inside
from .names import PYTHON, fresh
from .reference_terms import (
    ATOM,
    CALLS,
    F64,
    FIRST,
    REDUCE,
    Term,
    applied,
    as_dtype,
    as_tensor,
    comparable,
    computed_in,
    is_large,
    laid_out,
    with_numbers,
    within,
)
from .size_text import Sizing, keyword_labels, size_lines
from .type_text import TORCH

# A longer text gets a name before it is used in another; so do parts of a line that is too long.
LONG, TOO_LONG = 44, 80


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

    def name(self, wish: str) -> str:
        """A new variable."""
        made = fresh(wish, self.taken, PYTHON)
        self.taken.add(made)
        return made

    def size(self, label: str) -> str:
        """The variable of a label's size."""
        self.sized.add(label)
        return self.sizing.sizes[label]

    def index(self, label: str) -> str:
        """The variable of a label's indices."""
        if label not in self.indices:
            self.indices[label] = self.name(label)
            self.sized.add(label)
        return self.indices[label]

    def named(self, term: Term, wish: str = "part") -> Term:
        """The value under a name of its own."""
        name = self.name(wish)
        self.lines.append(f"{name} = {term.text}")
        return replace(term, text=name, level=ATOM)

    def short(self, term: Term) -> Term:
        """The value, under a name if its text is long."""
        return self.named(term) if len(term.text) > LONG else term


def reference_lines(program: Program, func: str, name: str, inputs: Mapping[str, str]) -> list[str]:
    """The function that computes a Func from the inputs of the program, by their names."""
    passed = keyword_labels(program)
    taken = {*inputs.values(), name}
    keywords = {label: fresh(label, taken, PYTHON) for label in passed}
    taken.update(keywords.values())
    sizes: dict[str, str] = {}
    for label in program.labels:
        sizes[label.name] = fresh(f"{label.name}_size", taken, PYTHON)
        taken.add(sizes[label.name])
    sizing = Sizing(program, inputs, sizes, keywords)
    last = program.func(func)
    writing = Writing(program, kinds_of(program), sizing, last, dict(inputs), taken)
    for one in in_order(program, [func]):
        writing.func = one
        _define(writing, one)
    head = list(_inputs(writing))
    head += [f"{name} = torch.arange({sizes[label]})" for label, name in writing.indices.items()]
    used = size_lines(sizing, writing.sized)
    body = [f'"""`{func}` by its definition, in float64."""', *used, *head, *writing.lines]
    body.append(f"return {writing.names[func]}")
    parameters = [*inputs.values(), *(["*"] if passed else [])]
    parameters += [f"{word}=None" if passed[label] else word for label, word in keywords.items()]
    return [*call(f"def {name}", parameters, ":", indent=0), *inside(fitted(body))]


def check_meaning(program: Program) -> None:
    """Raise Unsupported where a Func is more than its definition."""
    for func in program.funcs:
        if any(isinstance(node, ProgramId) for node in walk(func.body)):
            raise Unsupported(f"'program_id' in '{func.name}' depends on the schedule: no test")


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
    """The value with exactly these axes, repeated along those that it lacks."""
    if term.labels == tuple(labels) and not term.is_number:
        return term
    term = as_tensor(term)
    if set(term.labels) == set(labels):
        return laid_out(term, labels)
    extents = ", ".join("-1" if v in term.labels else writing.size(v) for v in labels)
    term = laid_out(term, labels)
    return replace(term, text=f"{within(term, ATOM)}.expand({extents})", level=ATOM)


# Expressions


def _term(writing: Writing, expr: Expr) -> Term:
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
        case Apply(operation=operation, operands=operands):
            return _apply(writing, operation, [_term(writing, e) for e in operands])
        case Reduce(operation=operation, operand=operand, labels=labels):
            return _reduce(writing, operation, _term(writing, operand), labels, kind)
        case Dot(left=left, right=right, labels=labels):
            return _dot(writing, _term(writing, left), _term(writing, right), labels)
        case _:
            assert_never(expr)


def _read(writing: Writing, read: Read, kind: Kind) -> Term:
    labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
    name = writing.names[read.tensor]
    is_plain = all(i.is_plain for i in read.indices) and len(labels) == len(read.indices)
    if not read.indices or (is_plain and read.padding is None):
        parts = [_part(writing, read.tensor, axis, v) for axis, v in enumerate(labels)]
        is_whole = all(part == ":" for part in parts)
        text = name if is_whole else f"{name}[{', '.join(parts)}]"
        return Term(text, ATOM, labels, kind)
    places = [_place(writing, index, labels) for index in read.indices]
    if read.padding is None:
        return writing.short(Term(f"{name}[{', '.join(places)}]", ATOM, labels, kind))
    padding = writing.short(_term(writing, read.padding)).text
    term = Term(f"dt_padded({', '.join((name, padding, *places))})", ATOM, labels, kind)
    return writing.short(term)


def _part(writing: Writing, tensor: str, axis: int, label: str) -> str:
    """Write the part of an axis that a label reads.

    A shift elsewhere may make the label shorter than the axis.
    """
    others = (r.index for r in axis_reads(writing.program) if (r.tensor, r.axis) == (tensor, axis))
    is_whole = all(index.is_plain for index in others if label in index.labels)
    return ":" if is_whole else f":{writing.size(label)}"


def _place(writing: Writing, index: Affine, labels: tuple[str, ...]) -> str:
    """An index along labels; the first axes may be left out."""
    put = {
        label: Affine(
            (
                (
                    laid_out(
                        Term(writing.index(label), ATOM, (label,), Kind(DType.I64)), labels
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
    elif info.result is Result.CHOSEN:
        terms = [terms[0], *(as_dtype(term, dtype) for term in terms[1:])]
    elif not info.operands_are_bool:
        terms = [as_dtype(term, dtype) for term in terms]
    if operation in ("ceil", "floor") and not is_float(dtype):
        return replace(terms[0], kind=kind)
    through_bytes = info.result is Result.PROMOTED and dtype is DType.BOOL
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
    total = Term(text, level, labels, kind, is_number)
    if through_bytes:
        return replace(total, text=f"{within(total, ATOM)}.bool()", level=ATOM)
    return total


def _fitting(writing: Writing, terms: Sequence[Term]) -> list[Term]:
    """The values, with names for those whose texts are too long together."""
    done = [writing.short(term) for term in terms]
    while sum(len(term.text) for term in done) > TOO_LONG:
        longest = max(range(len(done)), key=lambda at: len(done[at].text))
        done[longest] = writing.named(done[longest])
    return done


def _reduce(writing: Writing, operation: str, term: Term, over: Sequence[str], kind: Kind) -> Term:
    kept = tuple(label for label in term.labels if label not in over)
    if operation in FIRST:
        term = _spread(writing, term, (*kept, *over))
        text = within(term, ATOM) if len(over) > 1 else term.text
        text = f"{text}.flatten({len(kept)})" if len(over) > 1 else text
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


def _dot(writing: Writing, left: Term, right: Term, over: Sequence[str]) -> Term:
    both = join(left.kind, right.kind)
    stored = computed_in(both)
    kind = Kind(both.dtype if both.is_float else summed(stored), both.callers)
    dtype = computed_in(kind)
    sides = [as_dtype(as_dtype(as_tensor(side), stored), dtype) for side in (left, right)]
    sides = [writing.short(side) for side in sides]
    every = dict.fromkeys((*left.labels, *right.labels))
    kept = tuple(label for label in every if label not in over)
    letters = _letters(every)
    parts = ["".join(letters[v] for v in labels) for labels in (left.labels, right.labels, kept)]
    text = f'torch.einsum("{parts[0]},{parts[1]}->{parts[2]}", {sides[0].text}, {sides[1].text})'
    return writing.short(Term(text, ATOM, kept, kind))


def _letters(labels: Iterable[str]) -> dict[str, str]:
    """A letter for each label: its first one if it is free."""
    letters: dict[str, str] = {}
    for label in labels:
        options = (c for c in f"{label[0]}{ascii_letters}" if c in ascii_letters)
        letters[label] = next(c for c in options if c not in letters.values())
    return letters
