"""Computes the value of each Func of a Program with torch: this is the meaning of the language.

Every expression becomes a tensor with one axis for each label that its value depends on. Floats are
computed in one dtype, f64 unless asked otherwise, and only an explicit `cast` rounds: neither the
dtype of an input nor that of a Func does. Whole numbers and booleans have the dtype that torch's
promotion gives, and wrap as torch's do; a Func declared as one converts to it.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import assert_never

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Conditions,
    DataIndex,
    DividedIndex,
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
    data_of,
    labels_of_conditions,
    reads,
)
from dtpoly.algorithm.inference import check_types
from dtpoly.algorithm.label_sizes import sizes_of
from dtpoly.algorithm.operations import REDUCTION
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Func, Into, Program, in_order, touched
from dtpoly.algorithm.sum_starts import with_typed_starts
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity, has_errors
from dtpoly.frozen import dataclass
from dtpoly.reference.inputs import Inputs, check_inputs, with_dtypes
from dtpoly.reference.labelled_operations import apply, dot, recurrence, reduce, scan
from dtpoly.reference.labelled_values import TORCH_DTYPE, TabulatedValue, indices_along, spread
from dtpoly.reference.lists import listed
from dtpoly.reference.promised_data import broken_ranges

# The name of the label of places while the list is made.
PLACES = "the places of a list"

# The number of the program instance that computes an element of a Func, by its name and the index
# of each of its labels (tensors that broadcast together).
ProgramIndex = Callable[[str, Mapping[str, torch.Tensor]], torch.Tensor | int]


@dataclass(frozen=True, slots=True, eq=False)
class RunScope:
    """The data on which the value of an expression may depend, besides its labels."""

    tensors: Mapping[str, torch.Tensor]  # inputs, and the Funcs computed so far
    scalars: Mapping[str, torch.Tensor]
    sizes: Mapping[str, int]
    func: Func
    compute: torch.dtype
    device: torch.device
    program_index: ProgramIndex | None = None
    is_rough: bool = False  # products take of each operand what tf32 keeps
    bound: frozenset[str] = frozenset()  # labels of the reductions around the expression


def run(
    program: Program,
    inputs: Inputs,
    *,
    sizes: Mapping[str, int] | None = None,
    wanted: Iterable[str] | None = None,
    compute: torch.dtype = torch.float64,
    device: torch.device | str | None = None,
    program_index: ProgramIndex | None = None,
    is_rough: bool = False,
) -> dict[str, torch.Tensor]:
    """Return the value of every wanted Func, else of all; floats come back in the compute dtype.

    Runs on the device of the first tensor unless told otherwise. Without a `program_index` every
    Func is computed by one program, as in the default schedule. With `is_rough` every
    product takes of its operands what tf32 keeps: that is no meaning, but shows what is lost.
    Raises DtpolyError where the inputs do not fit, or break a promise of range.
    """
    funcs = tuple(func.name for func in program.funcs) if wanted is None else tuple(wanted)
    check_inputs(program, inputs, sizes or {}, funcs)
    typed = with_dtypes(program, inputs)
    found = check_types(typed)
    if has_errors(found):
        raise DtpolyError(d for d in found if d.severity is Severity.ERROR)
    given = {t.name: torch.as_tensor(inputs[t.name]) for t in program.tensors}
    known = sizes_of(program, {name: tuple(t.shape) for name, t in given.items()}, sizes)
    if broken := list(broken_ranges(program, given, known)):
        raise DtpolyError(broken)
    at = _device(given, device)
    scalars = {s.name: _scalar(inputs[s.name], s.dtype, compute, at) for s in typed.scalars}
    tensors = {name: _computable(tensor.to(at), compute) for name, tensor in given.items()}
    for func in in_order(with_typed_starts(typed), funcs):
        scope = RunScope(tensors, scalars, known, func, compute, at, program_index, is_rough)
        tensors = {**tensors, func.name: define(func, scope)}
    return {name: tensors[name].clone(memory_format=torch.contiguous_format) for name in funcs}


def scope_of_indices(
    program: Program, inputs: Inputs, sizes: Mapping[str, int], func: Func
) -> RunScope:
    """Return a scope in which the indices of a Func can be computed that are data.

    It has the inputs, which are no copies if no index is made of floats, and the Funcs that indices
    are made of. The inputs have dtypes, and fit.
    """
    given = {t.name: torch.as_tensor(inputs[t.name]) for t in program.tensors}
    at, compute = _device(given, None), torch.float64
    values = [one for place in touched(func) for one in data_of(place)]
    names = {read.tensor for value in values for read in reads(value)}
    funcs = in_order(program, [one.name for one in program.funcs if one.name in names])
    names |= {read.tensor for one in funcs for read in reads(one.body)}
    tensors = {n: _computable(one, compute) if n in names else one for n, one in given.items()}
    scalars = {s.name: _scalar(inputs[s.name], s.dtype, compute, at) for s in program.scalars}
    scope = RunScope(tensors, scalars, sizes, func, compute, at)
    for one in funcs:
        scope = replace(scope, tensors={**scope.tensors, one.name: define(one, scope)})
    start = None if func.into is None else program.find_func(func.into.tensor)
    if start is not None:  # only its shape is asked for
        shaped = torch.empty((), device=at).expand([sizes[label] for label in start.labels])
        scope = replace(scope, tensors={**scope.tensors, start.name: shaped})
    return scope


def _device(given: Mapping[str, torch.Tensor], device: torch.device | str | None) -> torch.device:
    if device is not None:
        return torch.device(device)
    return next((tensor.device for tensor in given.values()), torch.device("cpu"))


def _computable(tensor: torch.Tensor, compute: torch.dtype) -> torch.Tensor:
    return tensor.to(compute) if tensor.dtype.is_floating_point else tensor


def _scalar(
    given: torch.Tensor | float, dtype: DType | None, compute: torch.dtype, device: torch.device
) -> torch.Tensor:
    assert dtype is not None, "every input has been given a dtype"
    exact = torch.float64 if is_float(dtype) else TORCH_DTYPE[dtype]
    number = torch.as_tensor(given, dtype=exact)
    return _computable(number, compute).to(device)


def define(func: Func, scope: RunScope) -> torch.Tensor:
    """Return the value of a Func, its axes in the order of its left side; 1s become repetitions."""
    value = evaluate(func.body, scope)
    tensor = spread(value, func.labels, scope.sizes)
    if func.when:
        taken = spread(_holding(func.when, scope), func.labels, scope.sizes)
        tensor = torch.where(taken, tensor, torch.zeros_like(tensor))
    if func.into is not None:
        tensor = tensor.to(scope.tensors[func.into.tensor].dtype)
        return tensor if func.into.at is None else _placed(tensor, func.labels, func.into, scope)
    if func.dtype is None:
        return tensor
    return tensor.to(scope.compute if is_float(func.dtype) else TORCH_DTYPE[func.dtype])


def _placed(
    tensor: torch.Tensor, labels: tuple[str, ...], into: Into, scope: RunScope
) -> torch.Tensor:
    """Return a tensor in which elements stand at their places, or are added, where it is inside."""
    at = into.at
    assert at is not None
    whole = scope.tensors[at.tensor].clone()
    along = indices_along(labels, scope.sizes, scope.device)
    places = [place_along(index, along, scope).expand(tensor.shape) for index in at.indices]
    inside = torch.ones(tensor.shape, dtype=torch.bool, device=scope.device)
    for place, extent in zip(places, whole.shape, strict=True):
        inside = inside & (place >= 0) & (place < extent)
    if not places:
        return whole + tensor if into.is_added else tensor
    found = tuple(place[inside] for place in places)
    return whole.index_put_(found, tensor[inside], accumulate=into.is_added)


def evaluate(expr: Expr, scope: RunScope) -> TabulatedValue:
    """Return the value of an expression, as a function of its free labels."""
    match expr:
        case Integer(value=value):
            return _number(value, torch.int64, scope)
        case Float(value=value):
            return _number(value, scope.compute, scope)
        case ScalarRead(name=name):
            return TabulatedValue(scope.scalars[name], weak=True)
        case Size(label=label):
            return _number(scope.sizes[label], torch.int64, scope)
        case Index(label=label):
            return _index(label, scope)
        case ProgramId(axis=axis):
            return _program_id(axis, scope)
        case Read():
            return _read(expr, scope)
        case Apply(operation=operation, operands=(Reduce(operation="rlist") as largest, place)):
            return _listed(operation, largest, place, scope)
        case Apply(operation=operation, operands=operands):
            return apply(operation, [evaluate(e, scope) for e in operands], scope.compute)
        case Cast(operand=operand, dtype=dtype):
            return _cast(evaluate(operand, scope), dtype, scope)
        case Reduce():
            return _reduce(expr, scope)
        case Dot(left=left, right=right, labels=labels, when=when):
            inner = _inside(labels, scope)
            sides = evaluate(left, inner), evaluate(right, inner)
            taken = _holding(when, scope) if when else None
            total = dot(*sides, labels, scope.sizes, is_rough=scope.is_rough, taken=taken)
            return _left(total, labels, scope)
        case Reshape(operand=operand, axes=axes):
            return _reshape(evaluate(operand, scope), axes, scope)
        case _:
            assert_never(expr)


def _number(value: float, dtype: torch.dtype, scope: RunScope) -> TabulatedValue:
    return TabulatedValue(torch.tensor(value, dtype=dtype, device=scope.device), weak=True)


def _index(label: str, scope: RunScope) -> TabulatedValue:
    return TabulatedValue(torch.arange(scope.sizes[label], device=scope.device), (label,))


def _read(read: Read, scope: RunScope) -> TabulatedValue:
    tensor = scope.tensors[read.tensor]
    labels = tuple(dict.fromkeys(label for index in read.indices for label in index.labels))
    plain = all(index.is_plain for index in read.indices) and len(labels) == len(read.indices)
    if plain and read.padding is None:
        for axis, label in enumerate(labels):
            tensor = tensor.narrow(axis, 0, scope.sizes[label])
        return TabulatedValue(tensor, labels)
    along = indices_along(labels, scope.sizes, scope.device)
    places = tuple(place_along(index, along, scope) for index in read.indices)
    padding = padding_of(read)
    if padding is None:
        return TabulatedValue(tensor[places] if places else tensor, labels)
    return TabulatedValue(_padded(tensor, places, evaluate(padding, scope).tensor), labels)


def _holding(when: Conditions, scope: RunScope) -> TabulatedValue:
    """Return where all conditions hold, as a truth for each index of their labels."""
    labels = labels_of_conditions(when)
    along = indices_along(labels, scope.sizes, scope.device)
    holds = torch.ones([1] * len(labels), dtype=torch.bool, device=scope.device)
    for one in when:
        sizes = sum(c * scope.sizes[label] for label, c in one.sizes.linear)
        holds = holds & (place_along(one.index, along, scope) + sizes >= 0)
    return TabulatedValue(
        spread(
            TabulatedValue(holds.squeeze() if not labels else holds, labels), labels, scope.sizes
        ),
        labels,
    )


def place_along(index: Affine, along: Mapping[str, torch.Tensor], scope: RunScope) -> torch.Tensor:
    """Return an index as a tensor, for the indices of labels along their axes."""
    place = torch.full([1] * len(along), index.constant, device=scope.device)
    for term, coefficient in index.terms:
        match term:
            case str():
                value = along[term]
            case DividedIndex(operator, inner, divisor):
                whole = place_along(inner, along, scope)
                value = whole // divisor if operator == "//" else whole % divisor
            case DataIndex(data):
                labels = tuple(along)
                value = spread(evaluate(data, scope), labels, scope.sizes).to(torch.int64)
        place = place + coefficient * value
    return place


def _padded(
    tensor: torch.Tensor, places: tuple[torch.Tensor, ...], padding: torch.Tensor
) -> torch.Tensor:
    # An element to pick must exist, also where all of it is outside.
    something = tensor if tensor.numel() else tensor.new_zeros([max(n, 1) for n in tensor.shape])
    inside = torch.ones((), dtype=torch.bool, device=tensor.device)
    for place, extent in zip(places, tensor.shape, strict=True):
        inside = inside & (place >= 0) & (place < extent)
    nearest = tuple(
        place.clamp(0, extent - 1) for place, extent in zip(places, something.shape, strict=True)
    )
    picked = something[nearest] if nearest else something
    return torch.where(inside, picked, padding.to(tensor.dtype))


def _cast(operand: TabulatedValue, dtype: DType, scope: RunScope) -> TabulatedValue:
    """Round to the dtype; a float is computed with in the compute dtype ever after."""
    rounded = operand.tensor.to(TORCH_DTYPE[dtype])
    return TabulatedValue(_computable(rounded, scope.compute), operand.labels)


def _reshape(
    operand: TabulatedValue, axes: tuple[str | None, ...], scope: RunScope
) -> TabulatedValue:
    """Return labels that the operand lacks repeat it; all others only change places."""
    labels = tuple(dict.fromkeys((*(axis for axis in axes if axis), *operand.labels)))
    return TabulatedValue(spread(operand, labels, scope.sizes), labels, operand.weak)


def _reduce(expr: Reduce, scope: RunScope) -> TabulatedValue:
    operand = evaluate(expr.operand, _inside(expr.labels, scope))
    if expr.scan is not None:
        (label,) = expr.labels
        if expr.scan.factor is not None and expr.scan.initial is not None:
            factor = evaluate(expr.scan.factor, _inside(expr.labels, scope))
            first = evaluate(expr.scan.initial, scope)
            found = recurrence(factor, operand, first, label, expr.scan, scope.sizes)
        else:
            found = scan(expr.operation, operand, label, expr.scan, scope.sizes)
        return _left(found, (label,), scope)
    empty = [label for label in expr.labels if scope.sizes[label] == 0]
    if empty and not REDUCTION[expr.operation].has_identity:
        raise DtpolyError([_reduces_nothing(expr, empty[0])])
    taken = _holding(expr.when, scope) if expr.when else None
    total = reduce(expr.operation, operand, expr.labels, scope.sizes, taken)
    return _left(total, expr.labels, scope)


def _listed(operation: str, largest: Reduce, place: Expr, scope: RunScope) -> TabulatedValue:
    operand = evaluate(largest.operand, _inside(largest.labels, scope))
    taken = _holding(largest.when, scope) if largest.when else None
    (label,) = largest.labels
    # The label of the places may be the one that the list is made over: it gets another name.
    at = evaluate(place, scope)
    at = replace(at, labels=tuple(PLACES if one == label else one for one in at.labels))
    sizes = {**scope.sizes, PLACES: scope.sizes[label]}
    found = listed(operand, label, at, sizes, taken, is_index=operation == "rargtopk")
    back = replace(found, labels=tuple(label if one == PLACES else one for one in found.labels))
    return _left(back, largest.labels, scope)


def _reduces_nothing(expr: Reduce, label: str) -> Diagnostic:
    return Diagnostic(
        "DT156",
        Severity.ERROR,
        f"'{expr.operation}' has nothing to choose from",
        expr.span,
        f"the size of '{label}' is 0",
        (Note("the index of an extreme exists only where there is an element"),),
        f"pass tensors in which '{label}' is not empty",
    )


def _inside(labels: Iterable[str], scope: RunScope) -> RunScope:
    return replace(scope, bound=scope.bound | frozenset(labels))


def _program_id(axis: int, scope: RunScope) -> TabulatedValue:
    """Return the program that computes the element of the Func, whatever is reduced around it.

    Where a reduction binds one of the Func's own labels, that of the left side is meant; it goes
    by another name until the reduction is over.
    """
    if axis > 0 or scope.program_index is None:
        return _number(0, torch.int64, scope)  # programs are numbered along axis 0
    labels = scope.func.labels
    along = indices_along(labels, scope.sizes, scope.device)
    program = torch.as_tensor(scope.program_index(scope.func.name, along), device=scope.device)
    table = program.expand([scope.sizes[label] for label in labels])
    names = tuple(_outer(label) if label in scope.bound else label for label in labels)
    return TabulatedValue(table, names, weak=True)


def _outer(label: str) -> str:
    return f"{label} of the left side"


def _left(value: TabulatedValue, labels: Iterable[str], scope: RunScope) -> TabulatedValue:
    """Return the value after a reduction over these labels."""
    over = {_outer(label): label for label in labels if label not in scope.bound}
    return replace(value, labels=tuple(over.get(label, label) for label in value.labels))
