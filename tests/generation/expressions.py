"""Makes random expressions that the frontend accepts in a scope and layout.

A layout is the labels that an expression may have, in the order in which operands line up.
"""

import math
from collections.abc import Callable, Sequence

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType, is_integer
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Float,
    Index,
    Integer,
    ProgramId,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
)
from dtpoly.algorithm.inference import combine, type_of
from dtpoly.algorithm.operations import OPERATIONS, REDUCTIONS, Reduction, ResultRule
from dtpoly.algorithm.shapes import shape_of
from tests.generation.choice import Choose, one_in, pick, shuffled, some
from tests.generation.reading import read
from tests.generation.scope import Scope

Layout = Sequence[str]
Generate = Callable[[Choose, Scope, Layout, int], Expr]

INTEGERS = (1, 0, 2, 3, 7, 16, 1000, 2**31, 2**63 - 1)
FLOATS = (0.5, 1.0, 0.0, 1e-05, 2.75, 3.0e38, 1e16, 0.1, math.inf, math.nan)
# `cdiv` is for whole numbers and has a case of its own.
NUMERIC = [
    o
    for o in OPERATIONS
    if o.result in (ResultRule.PROMOTED, ResultRule.FLOAT)
    and o.name != "cdiv"
    and not o.operands_are_whole
]
OF_WHOLES = [o for o in OPERATIONS if o.operands_are_whole or o.name == "cdiv"]
OF_BITS = [o for o in OPERATIONS if o.operands_are_whole and o.takes_bools]
COMPARISONS = [o for o in OPERATIONS if o.result is ResultRule.BOOL and not o.operands_are_bool]
NUMERIC_REDUCTIONS = [r for r in REDUCTIONS if not r.operands_are_bool]
BOOL_REDUCTIONS = [r for r in REDUCTIONS if r.operands_are_bool]
NUMERIC_DTYPES = tuple(dtype for dtype in DType if dtype is not DType.BOOL)


def numeric(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    """Return an expression whose value is a number."""
    return pick(choose, _NUMERIC if depth > 0 else _LEAVES)(choose, scope, layout, depth - 1)


def condition(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    """Return an expression whose value is a boolean."""
    return pick(choose, _CONDITIONS if depth > 0 else _CONDITION_LEAVES)(
        choose, scope, layout, depth - 1
    )


def _literal(choose: Choose, _scope: Scope, _layout: Layout, _depth: int) -> Expr:
    at = choose(len(INTEGERS) + len(FLOATS))
    return Integer(INTEGERS[at]) if at < len(INTEGERS) else Float(FLOATS[at - len(INTEGERS)])


def _name(choose: Choose, scope: Scope, layout: Layout, _depth: int) -> Expr:
    """Return a scalar input, a size, an index, or rarely a program id."""
    names = _scalars(scope, is_bool=False)
    names.extend(Index(label) for label in layout)
    names.extend(Size(d.label) for d in scope.dimensions[:3])
    if one_in(choose, 12):
        names = [ProgramId(axis) for axis in range(3)]
    return pick(choose, names) if names else Integer(4)


def _scalars(scope: Scope, *, is_bool: bool) -> list[Expr]:
    return [ScalarRead(name) for name, dtype in scope.scalars if (dtype is DType.BOOL) is is_bool]


def _number_read(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    found = read(choose, scope, layout, is_bool=False)
    return _name(choose, scope, layout, depth) if found is None else found


def _applied(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    operation = pick(choose, NUMERIC)
    operands = [numeric(choose, scope, layout, depth) for _ in range(operation.arity)]
    return Apply(operation.name, promoting(scope, operands))


def _of_wholes(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    operation = pick(choose, OF_WHOLES)
    operands: list[Expr] = []
    for _ in range(operation.arity):
        operand = numeric(choose, scope, layout, depth)
        dtype = type_of(operand, scope.types).dtype
        whole = dtype is not None and is_integer(dtype)
        operands.append(operand if whole else Cast(operand, DType.I32))
    if operation.name in ("shl", "shr") and isinstance(operands[1], Integer | Apply):
        # A written number, with a sign or without, that is no place of a bit is an error.
        operands[1] = Cast(operands[1], DType.I32)
    return Apply(operation.name, tuple(operands))


def _cast(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    generate = condition if one_in(choose, 4) else numeric
    return Cast(generate(choose, scope, layout, depth), pick(choose, NUMERIC_DTYPES))


def _chosen(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    test = condition(choose, scope, layout, depth)
    values = [numeric(choose, scope, layout, depth) for _ in range(2)]
    return Apply("where", (test, *promoting(scope, values)))


def _reduced(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return _reduction(choose, scope, layout, depth, numeric, NUMERIC_REDUCTIONS)


def _dot(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    bound = _bound(choose, scope)
    if not bound:
        return _number_read(choose, scope, layout, depth)
    sides: list[Expr] = []
    for _ in range(2):
        inner = _inner_layout(choose, scope, some(choose, layout), bound)
        sides.append(_over(scope, bound, numeric(choose, scope, inner, depth), "mul"))
    left, right = promoting(scope, sides)
    return Dot(left, right, bound)


def _reshaped(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return _reshape(choose, scope, layout, depth, numeric)


def _compared(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    operands = [numeric(choose, scope, layout, depth) for _ in range(2)]
    return Apply(pick(choose, COMPARISONS).name, promoting(scope, operands))


def _bool_read(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    found = read(choose, scope, layout, is_bool=True)
    if found is not None:
        return found
    scalars = _scalars(scope, is_bool=True)
    return pick(choose, scalars) if scalars else _compared(choose, scope, layout, 0)


def _joined(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    words = ("and", "or", *(o.name for o in OF_BITS if o.arity == 2))
    operands = [condition(choose, scope, layout, depth) for _ in range(2)]
    return Apply(pick(choose, words), tuple(operands))


def _negated(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return Apply(pick(choose, ("not", "invert")), (condition(choose, scope, layout, depth),))


def _chosen_condition(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    operands = [condition(choose, scope, layout, depth) for _ in range(3)]
    return Apply("where", tuple(operands))


def _cast_to_bool(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return Cast(numeric(choose, scope, layout, depth), DType.BOOL)


def _any_or_all(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return _reduction(choose, scope, layout, depth, condition, BOOL_REDUCTIONS)


def _reshaped_condition(choose: Choose, scope: Scope, layout: Layout, depth: int) -> Expr:
    return _reshape(choose, scope, layout, depth, condition)


_LEAVES: tuple[Generate, ...] = (_literal, _name, _number_read, _number_read, _number_read)
_NUMERIC: tuple[Generate, ...] = (
    *(_literal, _name, _number_read, _number_read),
    *(_applied, _applied, _applied, _applied, _of_wholes, _cast, _chosen),
    *(_reduced, _reduced, _dot, _dot, _reshaped),
)
_CONDITION_LEAVES: tuple[Generate, ...] = (_compared, _bool_read)
_CONDITIONS: tuple[Generate, ...] = (
    *(_compared, _compared, _bool_read, _joined, _joined, _negated),
    *(_chosen_condition, _cast_to_bool, _any_or_all, _reshaped_condition),
)

# The kinds of a Func's body: often a reduction, which can then be the last operation.
BODIES: tuple[Generate, ...] = (numeric, _applied, _applied, _reduced, _dot, condition)


def promoting(scope: Scope, operands: Sequence[Expr]) -> tuple[Expr, ...]:
    """Return operands that have a common type: 8-bit floats are cast unless all are the same."""
    types = [type_of(operand, scope.types) for operand in operands]
    strong = {t.dtype for t in types if not t.weak}
    total = types[0]
    for mine in types[1:]:
        combined = combine(total, mine)
        if combined is None or (len(strong) > 1 and strong & set(EIGHT_BIT_FLOATS)):
            return tuple(
                Cast(operand, DType.F32) if mine.dtype in EIGHT_BIT_FLOATS else operand
                for operand, mine in zip(operands, types, strict=True)
            )
        total = combined
    return tuple(operands)


def _bound(choose: Choose, scope: Scope, most: int = 3) -> tuple[str, ...]:
    """Return labels to reduce over, mostly one."""
    labels = scope.reducible
    if not labels:
        return ()
    if most > 1 and len(labels) > 1 and one_in(choose, 4):
        return shuffled(choose, some(choose, labels, least=1)[:most])
    return (pick(choose, labels),)


def _inner_layout(
    choose: Choose, scope: Scope, outer: Layout, bound: tuple[str, ...]
) -> tuple[str, ...]:
    """Return a layout of outer and bound labels, if possible one in which a tensor can be read."""
    free = [label for label in outer if label not in bound]
    if scope.tensors:
        tensor = pick(choose, scope.tensors)
        order: list[str] = []
        for axis in tensor.axes:
            fitting = (
                label
                for label in (*bound, *free)
                if label not in order and scope.dimension(label).size == axis.size
            )
            order.extend(list(fitting)[:1])
        if set(order) & set(bound):
            return tuple(dict.fromkeys((*(v for v in (*free, *bound) if v not in order), *order)))
    return shuffled(choose, (*free, *bound))


def _over(scope: Scope, labels: tuple[str, ...], operand: Expr, operation: str) -> Expr:
    """Return the operand, changed so that it depends on every one of the labels."""
    shape = shape_of(operand).shape
    for label in labels:
        if shape is None or label not in shape.labels:
            operand = Apply(operation, promoting(scope, (operand, Index(label))))
    return operand


def _reduction(
    choose: Choose,
    scope: Scope,
    layout: Layout,
    depth: int,
    generate: Generate,
    reductions: Sequence[Reduction],
) -> Expr:
    reduction = pick(choose, reductions)
    bound = _bound(choose, scope, 3 if reduction.has_identity else 1)
    if not bound:
        return generate(choose, scope, layout, depth)
    inner = _inner_layout(choose, scope, layout, bound)
    operand = generate(choose, scope, inner, depth)
    if generate is numeric:
        return Reduce(reduction.name, _over(scope, bound, operand, "add"), bound)
    tests = [Apply("ne", (Index(label), Integer(2))) for label in bound]
    shape = shape_of(operand).shape
    for label, test in zip(bound, tests, strict=True):
        if shape is None or label not in shape.labels:
            operand = Apply("and", (operand, test))
    return Reduce(reduction.name, operand, bound)


def _reshape(choose: Choose, scope: Scope, layout: Layout, depth: int, generate: Generate) -> Expr:
    """Return part of the layout, with 1s for the rest.

    Rarely it has a label that the operand lacks.
    """
    part = some(choose, layout)
    operand = generate(choose, scope, part, depth)
    shape = shape_of(operand).shape
    assert shape is not None
    wanted = part if one_in(choose, 6) else shape.labels
    axes = [label if label in wanted else None for label in layout]
    while axes and axes[0] is None and not one_in(choose, 3):
        axes = axes[1:]
    return Reshape(operand, tuple(axes))
