"""Computes all that a right kernel may return for every Func of a Program and its inputs.

What is allowed for: each elementwise operation, sum and product in the type that the language
promises (f32, f64 where the type is f64), in any order, as exactly as a GPU does it; each Func
rounded to its type or not; operands of products of matrices rounded to theirs. Whole numbers and
booleans are exact, or open where they depend on floats that are too close to call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from string import ascii_letters
from typing import assert_never

import torch

from dtpoly.algorithm.dtypes import DType, is_float
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
    Size,
    labels_of_conditions,
)
from dtpoly.algorithm.inference import InferredType
from dtpoly.algorithm.operations import COMPARISON, OPERATION, ResultRule
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.reference import labelled_operations as operations
from dtpoly.reference.inputs import Inputs, with_dtypes
from dtpoly.reference.labelled_values import (
    DTYPE,
    TORCH_DTYPE,
    TabulatedValue,
    indices_along,
    laid_out,
    spread,
)
from tests.codegen import list_bounds, reductions
from tests.codegen.bounded_values import (
    PLACES,
    Bounded,
    ProgramIndex,
    Scope,
    Tensor,
    is_known,
    joined_type,
    laid_out_over,
    opened,
    over,
    place_at,
    precision_of,
)
from tests.codegen.elementwise import applied
from tests.codegen.exact import (
    Allowed,
    Exact,
    as_floats,
    cast,
    compared,
    each,
    exactly,
    logical,
    parts,
)
from tests.codegen.floats import (
    DOUBLE,
    SINGLE,
    Floats,
    Precision,
    hull,
    perhaps_rounded,
)
from tests.codegen.in_range import holding, nothing, within

# An operand of a product may lose this share of itself, by the digits that it keeps.
OPERAND_LOSS = {"tf32": 2.0**-10, "tf32x3": 2.0**-20}


def allowed(
    program: Program,
    inputs: Inputs,
    sizes: Mapping[str, int],
    program_index: ProgramIndex | None = None,
) -> dict[str, Allowed]:
    """Return the values that each Func may have."""
    typed = with_dtypes(program, inputs)
    given = {t.name: torch.as_tensor(inputs[t.name]) for t in typed.tensors}
    device = next((tensor.device for tensor in given.values()), torch.device("cpu"))
    is_double = any(tensor.dtype is torch.float64 for tensor in given.values())
    tensors = {name: _input(tensor) for name, tensor in given.items()}
    precision = DOUBLE if is_double else SINGLE
    scalars = {
        s.name: _scalar(inputs[s.name], s.dtype or DType.F32, precision, device)
        for s in typed.scalars
    }
    modes = [str(d.arguments[0].target) for d in program.directives if d.name == "precision"]
    loss = max((OPERAND_LOSS.get(mode, 0.0) for mode in modes), default=0.0)
    scope = Scope(tensors, scalars, sizes, is_double, loss, device, program_index=program_index)
    for func in in_order(typed):
        adds = _additions(program, func, sizes)
        value = _stored(func, replace(scope, tensors=tensors, func=func, adds=adds))
        tensors = {**tensors, func.name: value}
    return {func.name: tensors[func.name].allowed for func in program.funcs}


def _additions(program: Program, func: Func, sizes: Mapping[str, int]) -> int:
    """Return how many programs may add to an element in memory."""
    mine = [d for d in program.directives if d.func == func.name]
    if not any(d.name == "atomic" for d in mine):
        return 0
    labels = [str(a.target) for d in mine if d.name == "atomic" for a in d.arguments]
    total = 1
    for label in labels:
        total *= max(sizes[label], 1)
    return total


def _input(tensor: Tensor) -> Bounded:
    labels = tuple(str(axis) for axis in range(tensor.dim()))
    return Bounded(exactly(tensor), labels, InferredType(DTYPE[tensor.dtype]))


def _scalar(
    given: Tensor | float, dtype: DType, precision: Precision, device: torch.device
) -> Bounded:
    theirs = torch.float64 if is_float(dtype) else TORCH_DTYPE[dtype]
    exact = exactly(torch.as_tensor(given, dtype=theirs, device=device))
    if isinstance(exact, Floats) and precision is SINGLE:
        exact = perhaps_rounded(exact, DType.F32)
    return Bounded(exact, (), InferredType(dtype, weak=True))


def _stored(func: Func, scope: Scope) -> Bounded:
    """Return a Func's values over its labels, rounded as they are if another kernel reads them."""
    value = over(bounded(func.body, scope), func.labels, scope)
    if func.when:
        value = over(_taken(value, func.when, 0, scope), func.labels, scope)
    assert value.type.dtype is not None
    taken = None if func.into is None else scope.tensors[func.into.tensor].type.dtype
    dtype = func.dtype or taken or value.type.dtype
    if not is_float(dtype):
        assert isinstance(value.allowed, Exact)
        whole = Exact(value.allowed.tensor.to(TORCH_DTYPE[dtype]), value.allowed.known)
        return Bounded(whole, func.labels, InferredType(dtype))
    floats = as_floats(value.allowed, precision_of(value.type, scope))
    return Bounded(perhaps_rounded(floats, dtype), func.labels, InferredType(dtype))


def bounded(expr: Expr, scope: Scope) -> Bounded:
    """Return the values that an expression may have."""
    match expr:
        case Integer(value=given):
            return _number(torch.tensor(given), DType.I64, scope)
        case Float(value=given):
            number = _number(torch.tensor(given, dtype=torch.float64), DType.F32, scope)
            assert isinstance(number.allowed, Floats)
            if scope.is_double:
                return number
            return replace(number, allowed=perhaps_rounded(number.allowed, DType.F32))
        case ScalarRead(name=name):
            return scope.scalars[name]
        case Size(label=label):
            return _number(torch.tensor(scope.sizes[label]), DType.I64, scope)
        case Index(label=label):
            places = torch.arange(scope.sizes[label], device=scope.device)
            return Bounded(exactly(places), (label,), InferredType(DType.I64))
        case ProgramId():
            return _program_id(scope)
        case Read():
            return _read(expr, scope)
        case Apply(operation=operation, operands=(Reduce(operation="rlist") as largest, place)):
            return _listed(operation, largest, place, scope)
        case Apply():
            return _apply(expr, scope)
        case Cast(operand=operand, dtype=dtype):
            value = bounded(operand, scope)
            rounded = cast(value.allowed, value.type.dtype, dtype)
            return Bounded(rounded, value.labels, InferredType(dtype))
        case Reduce(scan=scan) if scan is not None and scan.factor is not None:
            raise NotImplementedError("bounds of recurrences")
        case Reduce():
            return _reduce(expr, scope)
        case Dot():
            return _dot(expr, scope)
        case Reshape(operand=operand, axes=axes):
            value = bounded(operand, scope)
            labels = tuple(dict.fromkeys((*(axis for axis in axes if axis), *value.labels)))
            return over(value, labels, scope)
        case _:
            assert_never(expr)


def _number(tensor: Tensor, dtype: DType, scope: Scope) -> Bounded:
    return Bounded(exactly(tensor.to(scope.device)), (), InferredType(dtype, weak=True))


def _program_id(scope: Scope) -> Bounded:
    if scope.program_index is None or scope.func is None:
        return _number(torch.tensor(0), DType.I64, scope)
    labels = scope.func.labels
    along = indices_along(labels, scope.sizes, scope.device)
    program = torch.as_tensor(scope.program_index(scope.func.name, along), device=scope.device)
    table = program.expand([scope.sizes[label] for label in labels])
    return Bounded(exactly(table), labels, InferredType(DType.I64, weak=True))


def _read(read: Read, scope: Scope) -> Bounded:
    tensor = scope.tensors[read.tensor]
    labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
    along = indices_along(labels, scope.sizes, scope.device)
    shape = [scope.sizes[label] for label in labels]
    data = [
        None if index.data is None else _data(bounded(index.data, scope), labels, scope)
        for index in read.indices
    ]
    places = [
        place_at(index, along, shape, scope.device) if found is None else found.tensor.long()
        for index, found in zip(read.indices, data, strict=True)
    ]
    unsure = [~found.known for found in data if found is not None]
    extents = parts(tensor.allowed)[0].shape
    inside = torch.ones(shape, dtype=torch.bool, device=scope.device)
    for place, extent in zip(places, extents, strict=True):
        inside = inside & (place >= 0) & (place < extent)

    def picked(part: Tensor) -> Tensor:
        if not places:
            return part
        # There must be an element to pick, also where all of the tensor is outside.
        some = part if part.numel() else part.new_zeros([max(n, 1) for n in part.shape])
        nearest = (p.clamp(0, n - 1) for p, n in zip(places, some.shape, strict=True))
        return some[tuple(nearest)]

    found = each(tensor.allowed, picked)
    outside = padding_of(read)
    if outside is None:
        assert bool(inside.all()), f"{read} is outside"
        return Bounded(opened(found, unsure), labels, tensor.type)
    padding = bounded(outside, scope).allowed
    assert tensor.type.dtype is not None
    if isinstance(found, Floats):
        outer: Allowed = perhaps_rounded(as_floats(padding, DOUBLE), tensor.type.dtype)
    else:
        assert isinstance(padding, Exact)
        outer = Exact(padding.tensor.to(found.tensor.dtype), padding.known)
    pairs = zip(parts(found), parts(outer), strict=True)
    chosen = iter([torch.where(inside, a, b) for a, b in pairs])
    picked_ones = each(found, lambda _: next(chosen))
    return Bounded(opened(picked_ones, unsure), labels, tensor.type)


def _data(value: Bounded, labels: Sequence[str], scope: Scope) -> Exact:
    """Return an index that is data, over some labels."""
    allowed = over(value, labels, scope).allowed
    assert isinstance(allowed, Exact)
    return allowed


def _apply(expr: Apply, scope: Scope) -> Bounded:
    operands = [bounded(operand, scope) for operand in expr.operands]
    labels = tuple(dict.fromkeys(label for one in operands for label in one.labels))
    values = [laid_out_over(one, labels) for one in operands]
    info = OPERATION[expr.operation]
    if info.operands_are_bool:
        return Bounded(logical(expr.operation, values), labels, InferredType(DType.BOOL))
    if info.result in (ResultRule.LONG, ResultRule.SINGLE):
        return _drawn(expr.operation, operands, labels)
    counted = operands[1:] if info.result is ResultRule.CHOSEN else operands
    type_ = joined_type(counted)
    has_floats = any(isinstance(one.allowed, Floats) for one in counted)
    if info.precedence == COMPARISON:
        is_weak = all(one.type.weak for one in operands)
        if has_floats:
            precision = precision_of(type_, scope)
            floats = _met(operands, values, precision)
            return Bounded(
                compared(expr.operation, *floats), labels, InferredType(DType.BOOL, is_weak)
            )
        return Bounded(_whole(expr.operation, operands), labels, InferredType(DType.BOOL, is_weak))
    if info.result is ResultRule.FLOAT and not has_floats:
        type_ = InferredType(DType.F32, type_.weak)
    if info.result is ResultRule.CHOSEN:
        return Bounded(_chosen(values, has_floats, operands, type_, scope), labels, type_)
    if has_floats or info.result is ResultRule.FLOAT:
        precision = precision_of(type_, scope)
        floats = _met(operands, values, precision)
        return Bounded(applied(expr.operation, floats, precision), labels, type_)
    return Bounded(_whole(expr.operation, operands), labels, type_)


def _drawn(operation: str, operands: Sequence[Bounded], labels: tuple[str, ...]) -> Bounded:
    """Return random numbers; where an operand is not known, any that there are."""
    found = _whole(operation, operands)
    if OPERATION[operation].result is ResultRule.LONG:
        return Bounded(found, labels, InferredType(DType.I64))
    low = torch.where(found.known, found.tensor, 0.0)
    high = torch.where(found.known, found.tensor, 1.0)
    return Bounded(
        Floats(low, high, torch.zeros_like(found.known)), labels, InferredType(DType.F32)
    )


def _met(
    operands: Sequence[Bounded], values: Sequence[Allowed], precision: Precision
) -> list[Floats]:
    """Return the values as floats of a type; a number is rounded to the type that it meets, if f32.

    This is also done for a literal beside an index, even if numbers alone are computed in f64.
    """
    floats = [as_floats(value, precision) for value in values]
    return [
        perhaps_rounded(one, DType.F32) if operand.type.weak and precision is SINGLE else one
        for operand, one in zip(operands, floats, strict=True)
    ]


def _whole(operation: str, operands: Sequence[Bounded]) -> Exact:
    """Apply torch's own operation on whole numbers or booleans."""
    values: list[TabulatedValue] = []
    known = torch.ones((), dtype=torch.bool)
    labels = tuple(dict.fromkeys(label for one in operands for label in one.labels))
    for one in operands:
        assert isinstance(one.allowed, Exact)
        values.append(TabulatedValue(one.allowed.tensor, one.labels, one.type.weak))
        known = known.to(one.allowed.known.device)
        known = known & laid_out(TabulatedValue(one.allowed.known, one.labels), labels)
    result = operations.apply(operation, values, torch.float64)
    tensor = laid_out(result, labels)
    return Exact(tensor, torch.broadcast_to(known, tensor.shape))


def _chosen(
    values: Sequence[Allowed],
    has_floats: bool,
    operands: Sequence[Bounded],
    type_: InferredType,
    scope: Scope,
) -> Allowed:
    condition = values[0]
    assert isinstance(condition, Exact)
    test, known = condition.tensor.bool(), condition.known
    if not has_floats:
        first, second = values[1], values[2]
        assert isinstance(first, Exact)
        assert isinstance(second, Exact)
        chosen = _whole("where", operands)
        sure = torch.where(test, first.known, second.known)
        same = first.known & second.known & (first.tensor == second.tensor)
        return Exact(chosen.tensor, torch.broadcast_to((known & sure) | same, chosen.known.shape))
    precision = precision_of(type_, scope)
    one, two = _met(operands[1:], values[1:], precision)
    both = hull(one, two)

    def pick(a: Tensor, b: Tensor, either: Tensor) -> Tensor:
        return torch.where(known, torch.where(test, a, b), either)

    return Floats(
        pick(one.low, two.low, both.low),
        pick(one.high, two.high, both.high),
        pick(one.nan, two.nan, both.nan),
    )


def _taken(value: Bounded, when: Conditions, other: float, scope: Scope) -> Bounded:
    """Return the values where all conditions hold, and a number elsewhere."""
    labels = tuple(dict.fromkeys((*value.labels, *labels_of_conditions(when))))
    holds = holding(when, labels, scope.sizes, scope.device)
    return Bounded(within(over(value, labels, scope).allowed, holds, other), labels, value.type)


def _reduce(expr: Reduce, scope: Scope) -> Bounded:
    operand = bounded(expr.operand, scope)
    if expr.when:
        operand = _taken(operand, expr.when, nothing(expr.operation, operand.allowed), scope)
    kept = tuple(label for label in operand.labels if label not in expr.labels)
    wide = over(operand, (*kept, *expr.labels), scope)
    operation = expr.operation
    paired = operation in ("rargmax", "rargmin")
    if isinstance(wide.allowed, Exact):
        total = operations.reduce(
            operation, TabulatedValue(wide.allowed.tensor, wide.labels), expr.labels, scope.sizes
        )
        type_ = InferredType(DTYPE[total.tensor.dtype])
        return Bounded(
            Exact(total.tensor, is_known(operation, wide.allowed, len(kept))), kept, type_
        )
    precision = precision_of(InferredType(operand.type.dtype), scope)
    flat = each(wide.allowed, lambda part: part.flatten(len(kept)))
    (lines,) = _met([operand], [flat], precision)
    if paired:
        find = reductions.first_largest if operation == "rargmax" else reductions.first_smallest
        return Bounded(Exact(*find(lines)), kept, InferredType(DType.I64))
    type_ = InferredType(operand.type.dtype)
    match operation:
        case "rsum":
            return Bounded(reductions.summed(lines, precision, _lost(type_, scope)), kept, type_)
        case "rprod":
            return Bounded(reductions.product(lines, precision), kept, type_)
        case "rmax":
            return Bounded(reductions.largest(lines), kept, type_)
        case _:
            return Bounded(reductions.smallest(lines), kept, type_)


def _listed(operation: str, largest: Reduce, place: Expr, scope: Scope) -> Bounded:
    operand = bounded(largest.operand, scope)
    if largest.when:
        operand = _taken(operand, largest.when, nothing("rmax", operand.allowed), scope)
    kept = tuple(label for label in operand.labels if label not in largest.labels)
    wide = over(operand, (*kept, *largest.labels), scope).allowed
    is_index, is_cut = operation == "rargtopk", bool(largest.when)
    of = InferredType(operand.type.dtype)
    found: Allowed
    if isinstance(wide, Exact):
        found = list_bounds.of_wholes(wide, largest.count, is_index=is_index, is_cut=is_cut)
    else:
        (lines,) = _met([operand], [wide], precision_of(of, scope))
        found = list_bounds.values_in(lines, largest.count)
        if is_index:
            found = list_bounds.indices_in(lines, largest.count, is_cut=is_cut)
    at = bounded(place, scope)
    assert isinstance(at.allowed, Exact)
    both = (*kept, *(label for label in at.labels if label not in kept))
    index = spread(TabulatedValue(at.allowed.tensor, at.labels), both, scope.sizes).unsqueeze(-1)

    def picked(part: Tensor) -> Tensor:
        table = TabulatedValue(part, (*kept, PLACES))
        return spread(table, (*both, PLACES), scope.sizes).gather(-1, index).squeeze(-1)

    type_ = InferredType(DType.I64) if is_index else of
    return Bounded(each(found, picked), both, type_)


def _lost(type_: InferredType, scope: Scope) -> float:
    """Return the share of a sum that is lost if programs add to an element of a narrow type."""
    if not scope.adds:
        return 0.0
    assert type_.dtype is not None
    assert scope.func is not None
    return scope.adds * torch.finfo(TORCH_DTYPE[scope.func.dtype or type_.dtype]).eps


def _dot(expr: Dot, scope: Scope) -> Bounded:
    left, right = bounded(expr.left, scope), bounded(expr.right, scope)
    type_ = joined_type((left, right))
    both = tuple(dict.fromkeys((*left.labels, *right.labels)))
    missing = tuple(label for label in expr.labels if label not in both)
    left = over(left, (*left.labels, *missing), scope)
    if expr.when:
        more = tuple(dict.fromkeys((*both, *missing, *labels_of_conditions(expr.when))))
        sides = (_taken(over(one, more, scope), expr.when, 0, scope) for one in (left, right))
        left, right = sides
        both = left.labels
        missing = ()
    every = (*both, *missing)
    kept = tuple(label for label in both if label not in expr.labels)
    if isinstance(left.allowed, Exact) and isinstance(right.allowed, Exact):
        whole = operations.dot(
            TabulatedValue(left.allowed.tensor, left.labels, left.type.weak),
            TabulatedValue(right.allowed.tensor, right.labels, right.type.weak),
            expr.labels,
            scope.sizes,
        )
        known = over(Bounded(left.allowed, left.labels, type_), every, scope)
        other = over(Bounded(right.allowed, right.labels, type_), every, scope)
        sure = parts(known.allowed)[1] & parts(other.allowed)[1]
        order = [every.index(label) for label in (*kept, *expr.labels)]
        sure = sure.permute(order).flatten(len(kept)).all(-1)
        return Bounded(Exact(whole.tensor, sure), kept, InferredType(DTYPE[whole.tensor.dtype]))
    precision = precision_of(type_, scope)
    assert type_.dtype is not None
    letters = dict(zip(every, ascii_letters, strict=False))
    words = [
        "".join(letters[label] for label in side) for side in (left.labels, right.labels, kept)
    ]
    operands = [as_floats(side.allowed, precision) for side in (left, right)]
    operands = [perhaps_rounded(one, type_.dtype) for one in operands]
    steps = 1
    for label in expr.labels:
        steps *= scope.sizes[label]
    total = reductions.dotted(
        operands[0],
        operands[1],
        f"{words[0]},{words[1]}->{words[2]}",
        steps,
        precision,
        (0.0 if precision is DOUBLE else scope.operand_loss) + _lost(type_, scope) / 2,
    )
    return Bounded(total, kept, InferredType(type_.dtype))
