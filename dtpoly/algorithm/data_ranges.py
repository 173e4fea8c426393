"""Gives ranges whose ends are data their meaning: masks.

    RVar l in [start[b], end[b]);
    total[b] = rsum(X[l], l);      is      rsum(where(start[b] <= l and l < end[b], X[l], 0), l)

Elsewhere than in the range, the operand of a reduction is its identity, and a Func is 0. So no
later stage knows of such ranges. Code generation finds masks of this form, in whatever way they
were written, and lets loops begin and end where they say.
"""

from collections.abc import Mapping
from dataclasses import field, replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    Reduce,
    Reshape,
    Size,
    free_labels,
    map_children,
)
from dtpoly.algorithm.inference import Types, type_of, types_of
from dtpoly.algorithm.operations import LIST, RECURRENCE
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.scans import masked_scan
from dtpoly.algorithm.shapes import shape_of
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span

FALSE = Apply("lt", (Integer(1), Integer(0)))
TRUE = Apply("lt", (Integer(0), Integer(1)))
INFINITY = Float(float("inf"))
# By reductions, the value that changes nothing. Those of floats alone have an infinity.
NOTHING: Mapping[str, Expr] = {
    "rsum": Integer(0),
    "rprod": Integer(1),
    "rany": FALSE,
    "rall": TRUE,
    "rmax": Apply("neg", (INFINITY,)),
    "rmin": INFINITY,
}
OF_FLOATS = ("rmax", "rmin")


@dataclass(frozen=True, slots=True)
class DataRange:
    """A range of a label of which an end is made of elements of inputs."""

    start: Expr
    stop: Expr
    span: Span | None = field(default=None, compare=False)

    def holds(self, label: str) -> Expr:
        """Return the condition for an index of the label to be in the range."""
        parts: list[Expr] = []
        index = Index(label, self.span)
        if self.start != Integer(0):
            parts.append(Apply("le", (self.start, index), self.span))
        if self.stop != Size(label):
            parts.append(Apply("lt", (index, self.stop), self.span))
        total = parts[0]
        for one in parts[1:]:
            total = Apply("and", (total, one), self.span)
        return total


DataRanges = Mapping[str, DataRange]


@dataclass(frozen=True, slots=True)
class MaskedProgram:
    """A program in which masks stand for ranges, and the uses that no mask can stand for."""

    program: Program
    found: tuple[Diagnostic, ...]


def with_masks(program: Program, ranges: DataRanges) -> MaskedProgram:
    """Return the program with masks in the place of the ranges of labels."""
    if not ranges:
        return MaskedProgram(program, ())
    masking = _Masking(ranges, types_of(program))
    funcs = tuple(masking.func(one) for one in program.funcs)
    return MaskedProgram(replace(program, funcs=funcs), tuple(masking.found))


@dataclass
class _Masking:
    """The ranges of labels, the types of tensors, and the mistakes that were found."""

    ranges: DataRanges
    types: Types
    found: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def func(self, func: Func) -> Func:
        """Return a Func that is 0 where an index on its left side is not in its range."""
        scope = frozenset(func.labels)
        body = self.expression(func.body, scope)
        is_truth = type_of(func.body, self.types).dtype is DType.BOOL
        nothing = FALSE if is_truth else Integer(0)
        body = self.masked(body, func.labels, scope, nothing, func.span)
        return replace(func, body=body)

    def expression(self, expr: Expr, scope: frozenset[str]) -> Expr:
        """Return an expression whose reductions take what is in the ranges of their labels."""
        inner = scope | frozenset(expr.labels) if isinstance(expr, Reduce | Dot) else scope
        made = map_children(expr, lambda one: self.expression(one, inner))
        if not isinstance(expr, Reduce | Dot):
            return made
        own = tuple(one for one in expr.labels if one in self.ranges)
        if not own:
            return made
        match made:
            case Dot(left=left, right=right, labels=labels, span=span):
                sides = [
                    self.masked(one, labels, inner, self.nothing(one, "rsum"), span)
                    for one in (left, right)
                ]
                return replace(made, left=sides[0], right=sides[1])
            case Reduce(operation=operation, operand=operand, labels=labels, span=span):
                dtype = type_of(operand, self.types).dtype
                is_other = operation in OF_FLOATS and dtype is not None and not is_float(dtype)
                if operation not in NOTHING or made.scan is not None or is_other:
                    self.found.append(_no_mask(made, own[0], self.ranges[own[0]], is_other))
                    return made
                nothing = self.nothing(operand, operation)
                return replace(made, operand=self.masked(operand, labels, inner, nothing, span))
            case _:
                return made

    def nothing(self, operand: Expr, operation: str) -> Expr:
        """Return the value of an operand that changes nothing in a reduction."""
        is_truth = type_of(operand, self.types).dtype is DType.BOOL
        return FALSE if is_truth and operation == "rsum" else NOTHING[operation]

    def masked(
        self,
        value: Expr,
        labels: tuple[str, ...],
        scope: frozenset[str],
        nothing: Expr,
        span: Span | None,
    ) -> Expr:
        """Return a value that is another one where an index of the labels is not in its range."""
        for label in labels:
            if label not in self.ranges:
                continue
            range_ = self.ranges[label]
            condition = range_.holds(label)
            missing = [one for one in free_labels(condition) if one not in scope]
            if missing:
                self.found.append(_not_there(range_, label, missing[0], span))
                continue
            condition = _laid_out(condition, value)
            value = Apply("where", (condition, value, nothing), value.span)
        return value


def _laid_out(condition: Expr, value: Expr) -> Expr:
    """Return a condition in a shape that lines up with a value by label."""
    own, shape = free_labels(condition), shape_of(value).shape
    if shape is None:
        return condition
    inside = tuple(axis if axis in own else None for axis in shape.axes)
    before = tuple(one for one in own if one not in shape.axes)
    return Reshape(condition, (*before, *inside), condition.span)


def _not_there(range_: DataRange, label: str, other: str, span: Span | None) -> Diagnostic:
    return Diagnostic(
        "DT215",
        Severity.ERROR,
        f"the range of '{label}' depends on '{other}', which has no index here",
        span,
        f"uses '{label}', but not inside of anything over '{other}'",
        (Note(f"'{label}' has its range here", range_.span),),
        f"put '{other}' on the left side, or into a reduction around this one; "
        f"or use a label without a range in the place of '{label}'",
    )


def _no_mask(expr: Reduce, label: str, range_: DataRange, is_whole: bool) -> Diagnostic:
    what = f"'{expr.operation}' of whole numbers" if is_whole else f"'{expr.operation}'"
    why = "no value changes nothing here, for the indices outside of the range"
    way = f"use a label without a range, and write a mask: where(..., {label}, ...)"
    if is_whole:
        way = f"reduce floats: {expr.operation}(cast(..., f32), {label})"
    if expr.scan is not None:
        what, at = "a scan", expr.scan.at
        if at in (*free_labels(range_.start), *free_labels(range_.stop)):
            why = f"its range depends on '{at}', so each result would be of other elements"
            way = (
                f"reduce: give '{label}' a range that ends at {at} + 1, and write {_reduced(expr)}"
            )
            if expr.operation == RECURRENCE:
                way = f"write masks that do not depend on '{at}': {masked_scan(expr)}"
        else:
            why = f"has a result at each index of '{at}', and not only in the range"
            way = f"scan a label without a range, and a mask: {masked_scan(expr)}"
    if expr.operation == LIST:
        what = "a list of the largest"
    return Diagnostic(
        "DT238",
        Severity.ERROR,
        f"{what} cannot go over '{label}', whose range comes from data",
        expr.span,
        why,
        (Note(f"'{label}' has its range here", range_.span),),
        way,
    )


def _reduced(scan: Reduce) -> str:
    return f"{scan.operation}(e, {scan.labels[0]})"
