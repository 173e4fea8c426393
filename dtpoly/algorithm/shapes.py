"""Computes the shape of each expression by label, and checks that operands line up.

A shape has `axes`, which line up from the right as in NumPy, but by label. It also has `named`
labels, which line up wherever they stand: those of an index value, of the result of a reduction,
and of a read with an affine index.
"""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import (
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
    data_of,
    free_labels,
    labels_of_conditions,
)
from dtpoly.algorithm.program import Func
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.source import Span

Axes = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """The axes that line up by position (None is a 1), and the labels that line up by name."""

    axes: Axes = ()
    named: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        """Return every label, those of the axes first."""
        return tuple(dict.fromkeys((*(axis for axis in self.axes if axis), *self.named)))

    def __str__(self) -> str:
        named = [label for label in self.named if label not in self.axes]
        return f"[{', '.join(axis or '1' for axis in (*self.axes, *named))}]"

    @property
    def by_position(self) -> str:
        """Return the axes as text, followed by the labels that line up by name."""
        named = [label for label in self.named if label not in self.axes]
        axes = ", ".join(axis or "1" for axis in self.axes)
        return f"[{axes}] (and {', '.join(named)} by name)" if named and axes else str(self)


SCALAR = Shape()


def combine(left: Shape, right: Shape) -> Shape | None:
    """Return the shape of two operands together, or None if they do not line up."""
    rank = max(len(left.axes), len(right.axes))
    pairs = zip(_padded(left.axes, rank), _padded(right.axes, rank), strict=True)
    axes: list[str | None] = []
    for a, b in pairs:
        if a and b and a != b:
            return None
        axes.append(a or b)
    if len({axis for axis in axes if axis}) < sum(axis is not None for axis in axes):
        return None  # one label at two positions: A[x] + reshape(B[x], x, 1)
    named = dict.fromkeys((*left.named, *right.named))
    return Shape(tuple(axes), tuple(label for label in named if label not in axes))


def _padded(axes: Axes, rank: int) -> Axes:
    return (None,) * (rank - len(axes)) + axes


def read_shape(read: Read) -> Shape:
    """Return the shape of a read.

    It lines up by name if an index is not just a label, or if a label stands twice.
    """
    labels = [label for index in read.indices for label in index.labels]
    if all(index.is_plain for index in read.indices) and len(set(labels)) == len(labels):
        return Shape(tuple(labels))
    return Shape((), tuple(dict.fromkeys(labels)))


@dataclass(frozen=True, slots=True)
class Shaped:
    """A shape, or None after an error, and the mistakes that were found while it was computed."""

    shape: Shape | None
    found: tuple[Diagnostic, ...] = ()


def check_shapes(func: Func) -> list[Diagnostic]:
    """Report every mistake in the shapes of a definition."""
    shaped = shape_of(func.body)
    found = list(shaped.found)
    if shaped.shape is None:
        return found
    labels = shaped.shape.labels
    for label in labels:
        if label not in func.labels:
            found.append(_label_not_on_left(func, label))
    for label in func.labels:
        if label not in labels:
            found.append(
                Diagnostic(
                    "DT142",
                    Severity.NOTE,
                    f"'{func.name}' repeats its value along '{label}'",
                    func.body.span,
                    f"has no label '{label}'",
                )
            )
    return found


def _label_not_on_left(func: Func, label: str) -> Diagnostic:
    left = ", ".join((*func.labels, label))
    return Diagnostic(
        "DT141",
        Severity.ERROR,
        f"label '{label}' is on the right but not on the left",
        _brings(func.body, label).span,
        f"has the label '{label}', which {func.name}[{', '.join(func.labels)}] lacks",
        hint=f"reduce over it, as in rsum(..., {label}), or define {func.name}[{left}]",
    )


def _brings(expr: Expr, label: str) -> Expr:
    """Return the first and smallest part of an expression that has a label."""
    below = next((child for child in children(expr) if label in free_labels(child)), None)
    return expr if below is None else _brings(below, label)


def shape_of(expr: Expr, reduced: tuple[str, ...] = ()) -> Shaped:
    """Return the shape of an expression and every mistake below it.

    If a reduction has it as an operand, `reduced` are the labels that the operand must have.
    """
    match expr:
        case Integer() | Float() | ScalarRead() | Size() | ProgramId():
            return Shaped(SCALAR)
        case Index(label=label):
            return Shaped(Shape((), (label,)))
        case Read(padding=padding):
            return _shape_of_read(expr, padding)
        case Cast(operand=operand):
            return shape_of(operand, reduced)
        case Apply():
            return _shape_of_apply(expr)
        case Reduce(labels=labels, scan=ScanOrder(factor=factor)) if factor is not None:
            return _shape_of_recurrence(expr, labels)
        case Reduce(operand=operand, labels=labels, when=when):
            below = shape_of(operand, labels)
            wrong = tuple(_check_reduced(expr, labels, (operand,), (below.shape,)))
            shape = None if wrong else _reduced(below.shape, labels, when)
            return Shaped(shape, (*below.found, *wrong))
        case Dot(left=left, right=right, labels=labels, when=when):
            a, b = shape_of(left, labels), shape_of(right, labels)
            wrong = tuple(_check_reduced(expr, labels, (left, right), (a.shape, b.shape)))
            found = (*a.found, *b.found, *wrong)
            if a.shape is None or b.shape is None or wrong:
                return Shaped(None, found)
            both = dict.fromkeys((*a.shape.labels, *b.shape.labels))
            return Shaped(_reduced(Shape((), tuple(both)), labels, when), found)
        case Reshape(operand=operand, axes=axes):
            below = shape_of(operand)
            if below.shape is None:
                return below
            found = (*below.found, *_check_reshape(expr, axes, below.shape, reduced))
            return Shaped(Shape(axes), found)


def _shape_of_read(read: Read, padding: Expr | None) -> Shaped:
    found = tuple(one for value in data_of(read) for one in shape_of(value).found)
    if padding is None:
        return Shaped(read_shape(read), found)
    below = shape_of(padding)
    found = (*found, *below.found)
    if below.shape is not None and below.shape.labels:
        wrong = Diagnostic(
            "DT139",
            Severity.ERROR,
            "the value of a pad must be a scalar",
            padding.span,
            f"has shape {below.shape}",
            hint="pad with a number or a scalar input",
        )
        found = (*found, wrong)
    return Shaped(read_shape(read), found)


def _reduced(shape: Shape | None, labels: tuple[str, ...], when: Conditions) -> Shape | None:
    if shape is None:
        return None
    every = dict.fromkeys((*shape.labels, *labels_of_conditions(when)))
    return Shape((), tuple(label for label in every if label not in labels))


def _shape_of_recurrence(expr: Reduce, labels: tuple[str, ...]) -> Shaped:
    """Return the shape of a recurrence: its operands line up by label, as those of `rdot` do."""
    parts = children(expr)
    shapes = [shape_of(one) for one in parts]
    # A factor, or what is added, may be the same at each index; the initial value has no index.
    found = [one for shape in shapes for one in shape.found]
    if any(shape.shape is None for shape in shapes):
        return Shaped(None, tuple(found))
    both = dict.fromkeys(label for one in shapes if one.shape for label in one.shape.labels)
    wanted = Shape((), tuple(both))
    wrong = tuple(_check_reduced(expr, labels, (expr,), (wanted,)))
    if wrong:
        return Shaped(None, (*found, *wrong))
    return Shaped(_reduced(wanted, labels, expr.when), tuple(found))


def _check_reduced(
    expr: Reduce | Dot,
    labels: tuple[str, ...],
    operands: tuple[Expr, ...],
    shapes: tuple[Shape | None, ...],
) -> Iterator[Diagnostic]:
    for operand, shape in zip(operands, shapes, strict=True):
        if shape is None:
            continue
        for label in labels:
            if label not in shape.labels:
                name = expr.operation if isinstance(expr, Reduce) else "rdot"
                yield Diagnostic(
                    "DT147",
                    Severity.ERROR,
                    f"'{name}' reduces over '{label}', which its operand lacks",
                    operand.span,
                    f"has shape {shape}",
                    hint=_reduction_hint(shape, label),
                )


def _reduction_hint(shape: Shape, label: str) -> str:
    if not shape.labels:
        return f"index the operand by '{label}'; len({label}) is the size of the label"
    return f"reduce over {' or '.join(shape.labels)}, or index the operand by '{label}'"


def _check_reshape(
    expr: Reshape, axes: Axes, shape: Shape, reduced: tuple[str, ...]
) -> Iterator[Diagnostic]:
    new = [axis for axis in axes if axis]
    by_position = [axis for axis in shape.axes if axis]
    lost = [label for label in shape.labels if label not in new]
    wanted = ", ".join(axis or "1" for axis in axes)
    if lost:
        yield Diagnostic(
            "DT143",
            Severity.ERROR,
            f"this reshape drops the label '{lost[0]}'",
            expr.span,
            f"{shape} does not fit into [{wanted}]",
            hint=f"name every label of the operand: {', '.join(shape.labels)}; "
            "to get rid of one, reduce over it",
        )
    elif [axis for axis in new if axis in by_position] != by_position:
        yield Diagnostic(
            "DT144",
            Severity.ERROR,
            "a reshape cannot reorder labels",
            expr.span,
            f"{shape} becomes [{wanted}]",
            hint="operands line up by label, so keep the order; a Func can transpose: "
            f"t[{', '.join(new)}] = {show_expr(expr.operand)}",
        )
    for axis in new:
        # A reduction needs the label, and nothing beside its operand could bring it in.
        if axis not in shape.labels and axis not in reduced:
            ones = ", ".join("1" if a == axis else a or "1" for a in axes)
            meant = show_expr(Reshape(expr.operand, tuple(None if a == axis else a for a in axes)))
            yield Diagnostic(
                "DT145",
                Severity.WARNING,
                f"this reshape repeats its operand along '{axis}'",
                expr.span,
                f"{shape} has no label '{axis}'",
                hint=f"write 1 where the operand lacks a label: {meant}",
                edits=_reshape_edit(expr, ones),
            )


def _reshape_edit(expr: Reshape, axes: str) -> tuple[Edit, ...]:
    if expr.span is None or expr.operand.span is None:
        return ()
    # The span of an expression in parentheses includes the parentheses.
    parentheses = expr.span.text.partition("reshape")[0].count("(")
    end = expr.span.end
    for _ in range(parentheses):
        end = expr.span.source.text.rindex(")", expr.operand.span.end, end)
    end = expr.span.source.text.rindex(")", expr.operand.span.end, end) + 1
    return (Edit(Span(expr.span.source, expr.operand.span.end, end), f", {axes})"),)


def _shape_of_apply(expr: Apply) -> Shaped:
    parts = [shape_of(operand) for operand in expr.operands]
    found = tuple(diagnostic for part in parts for diagnostic in part.found)
    shapes = [part.shape for part in parts if part.shape is not None]
    if len(shapes) < len(parts):
        return Shaped(None, found)
    total = shapes[0]
    for at in range(1, len(shapes)):
        combined = combine(total, shapes[at])
        if combined is None:
            return Shaped(None, (*found, _do_not_line_up(expr.operands, shapes, total, at)))
        total = combined
    return Shaped(total, found)


def _do_not_line_up(
    operands: tuple[Expr, ...], shapes: list[Shape], total: Shape, at: int
) -> Diagnostic:
    """Report that operand `at` does not line up with the operands before it.

    It is blamed unless a reshape of another operand alone would correct the expression.
    """
    order: tuple[str, ...] | None = ()
    for shape in shapes:
        order = None if order is None else _merged(order, shape.axes)
    if order is not None:
        by_name = dict.fromkeys(label for shape in shapes if shape.axes for label in shape.named)
        order = (*(label for label in by_name if label not in order), *order)
    mended = {
        place: show_expr(_reshaped(operands[place], _laid_out(shape, order)))
        for place, shape in enumerate(shapes)
        if order is not None and shape.axes and _laid_out(shape, order) != shape.axes
    }
    blamed = at if at in mended or not mended else next(iter(mended))
    against = at - 1 if blamed == at else at
    if order is None:
        hint = _transposing_hint(operands[at - 1], total, operands[at], shapes[at])
    else:
        hint = f"line up by label: {' and '.join(mended.values())}"
    return Diagnostic(
        "DT140",
        Severity.ERROR,
        f"shapes {total.by_position} and {shapes[at].by_position} do not line up",
        operands[blamed].span,
        f"has shape {shapes[blamed].by_position}",
        (Note(f"this has shape {shapes[against].by_position}", operands[against].span),),
        hint,
        tuple(
            Edit(span, text)
            for place, text in mended.items()
            if (span := operands[place].span) is not None
        ),
    )


def _reshaped(expr: Expr, axes: Axes) -> Expr:
    """Return an expression with other axes; a reshape that it is already is not needed then."""
    if isinstance(expr, Reshape):
        inner = shape_of(expr.operand).shape
        if inner is not None and {axis for axis in axes if axis} <= {*inner.labels}:
            return expr.operand if inner.axes == axes else Reshape(expr.operand, axes)
    return Reshape(expr, axes)


def _merged(left: Axes, right: Axes) -> tuple[str, ...] | None:
    """Return every label once, in an order that agrees with both, or None if there is none."""
    labels: list[str] = []
    rest = [axis for axis in right if axis]
    for axis in left:
        if axis in rest:
            before = rest[: rest.index(axis)]
            if any(label in left for label in before):
                return None
            labels.extend(before)
            rest = rest[len(before) + 1 :]
        if axis:
            labels.append(axis)
    return (*labels, *rest)


def _laid_out(shape: Shape, order: tuple[str, ...]) -> Axes:
    """Return the axes in an order of labels, with 1 for each label that the shape lacks."""
    axes = tuple(label if label in shape.labels else None for label in order)
    while axes and axes[0] is None:
        axes = axes[1:]
    return axes


def _transposing_hint(left: Expr, a: Shape, right: Expr, b: Shape) -> str:
    for expr, shape, other in ((right, b, a), (left, a, b)):
        order = [axis for axis in other.axes if axis and axis in shape.axes]
        if set(order) == {axis for axis in shape.axes if axis}:
            return (
                "their labels stand in another order; a Func can transpose: "
                f"t[{', '.join(order)}] = {show_expr(expr)}"
            )
    return (
        "from the right, each pair of axes must be the same label or have a 1; "
        "a Func can bring labels into another order"
    )
