"""Translates an algorithm into torch operations, so that torch's autograd differentiates it.

It is for tests alone: it shares no code with `dtpoly/gradient`, which it judges, and none with the
reference, which computes what is judged, but the random numbers, which are constants. A value is a
tensor with one axis for each label around it, of size 1 where it does not depend on the label.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any, assert_never

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Conditions,
    DataIndex,
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
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.reference.philox import random, random_bits

Tensor = torch.Tensor
FLOATS: Mapping[str, torch.dtype] = {
    "f8e4m3": torch.float8_e4m3fn,
    "f8e5m2": torch.float8_e5m2,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "f32": torch.float32,
    "f64": torch.float64,
}
WHOLE: Mapping[str, torch.dtype] = {
    "u8": torch.uint8,
    "i8": torch.int8,
    "i16": torch.int16,
    "i32": torch.int32,
}


def _true_division(a: Tensor, b: Tensor) -> Tensor:
    return a.double() / b.double()


def _rounded_up(a: Tensor, b: Tensor) -> Tensor:
    return torch.ceil(a / b) if a.is_floating_point() else -torch.div(-a, b, rounding_mode="floor")


def _floats(f: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    def applied(a: Tensor) -> Tensor:
        return f(a.double())

    return applied


def _quotient(a: Tensor, b: Tensor) -> Tensor:
    return torch.div(a, b, rounding_mode="floor")


def _random(seed: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return random(*_as_long(seed, first, second)).double()


def _random_bits(seed: Tensor, first: Tensor, second: Tensor) -> Tensor:
    return random_bits(*_as_long(seed, first, second))


def _as_long(*numbers: Tensor) -> list[Tensor]:
    zero = sum((0 * one.long() for one in numbers), torch.zeros((), dtype=torch.int64))
    return [one.long() + zero for one in numbers]


def _fma(a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    return a * b + c


OPERATIONS: Mapping[str, Callable[..., Tensor]] = {
    "neg": torch.neg,
    "not": torch.logical_not,
    "invert": torch.bitwise_not,
    "mul": torch.mul,
    "div": _true_division,
    "div_rn": _true_division,
    "fdiv": _true_division,
    "mod": torch.remainder,
    "quotient": _quotient,
    "cdiv": _rounded_up,
    "add": torch.add,
    "sub": torch.sub,
    "lt": torch.lt,
    "le": torch.le,
    "gt": torch.gt,
    "ge": torch.ge,
    "eq": torch.eq,
    "ne": torch.ne,
    "and": torch.logical_and,
    "or": torch.logical_or,
    "bitand": torch.bitwise_and,
    "bitor": torch.bitwise_or,
    "bitxor": torch.bitwise_xor,
    "shl": torch.bitwise_left_shift,
    "shr": torch.bitwise_right_shift,
    "abs": torch.abs,
    "ceil": torch.ceil,
    "floor": torch.floor,
    "round": torch.round,
    "trunc": torch.trunc,
    "clamp": torch.clamp,
    "fma": _fma,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "pow": torch.pow,
    "random": _random,
    "random_bits": _random_bits,
    "cos": _floats(torch.cos),
    "erf": _floats(torch.erf),
    "exp": _floats(torch.exp),
    "exp2": _floats(torch.exp2),
    "log": _floats(torch.log),
    "log2": _floats(torch.log2),
    "rsqrt": _floats(torch.rsqrt),
    "sigmoid": _floats(torch.sigmoid),
    "sin": _floats(torch.sin),
    "sqrt": _floats(torch.sqrt),
    "sqrt_rn": _floats(torch.sqrt),
    "tanh": _floats(torch.tanh),
}


class _Rounded(torch.autograd.Function):
    """A value of fewer bits, which gives all that it is given: a cast has no other derivative."""

    @staticmethod
    def forward(ctx: Any, value: Tensor, dtype: torch.dtype) -> Tensor:
        """Round, and go on in 64 bits."""
        return value.to(dtype).double()

    @staticmethod
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gifts: Tensor
    ) -> tuple[Any, ...]:
        """Give what was given."""
        return gifts[0], None


def _wrapped(value: Tensor, dtype: DType | None) -> Tensor:
    """Return what a type has of a whole number; all are kept in 64 bits."""
    return value.to(WHOLE.get(dtype or "", torch.int64)).long()


def _converted(value: Tensor, dtype: DType) -> Tensor:
    if dtype not in FLOATS:
        return _wrapped(value, dtype)
    rounded: Tensor = getattr(_Rounded, "apply")(value.double(), FLOATS[dtype])  # noqa: B009
    return rounded


class Translation:
    """The tensors, numbers and sizes of one call."""

    def __init__(
        self, program: Program, given: Mapping[str, Tensor], sizes: Mapping[str, int]
    ) -> None:
        self.program, self.sizes = program, sizes
        self.types = types_of(program)
        self.tensors = dict(given)
        self.has_infinities = False  # whether anything is infinite that was computed on the way
        for func in in_order(program):
            self.tensors[func.name] = self.define(func)

    def define(self, func: Func) -> Tensor:
        """Return the elements of a Func."""
        value = self.of(func.body, func.labels)
        value = value.expand([self.sizes[label] for label in func.labels])
        if func.when:
            value = torch.where(self.holds(func.when, func.labels), value, 0)
        if func.dtype in WHOLE:
            value = _wrapped(value, func.dtype)
        if func.into is None or func.into.at is None:
            return value
        at = func.into.at
        whole = self.tensors[at.tensor].to(value.dtype)
        places = [self.place(index, func.labels).expand(value.shape) for index in at.indices]
        inside = torch.ones(value.shape, dtype=torch.bool)
        for place, extent in zip(places, whole.shape, strict=True):
            inside = inside & (place >= 0) & (place < extent)
        found = tuple(place[inside] for place in places)
        return whole.index_put(found, value[inside], accumulate=func.into.is_added)

    def along(self, label: str, labels: tuple[str, ...]) -> Tensor:
        """Return the indices of a label along its axis.

        A reduction may be over a label of the Func around it: then its own axis is meant.
        """
        axis = len(labels) - 1 - labels[::-1].index(label)
        return torch.arange(self.sizes[label]).reshape(
            [-1 if i == axis else 1 for i in range(len(labels))]
        )

    def place(self, index: Affine, labels: tuple[str, ...]) -> Tensor:
        """Return the value of an index."""
        total = torch.full([1] * len(labels), index.constant)
        for term, coefficient in index.terms:
            if isinstance(term, str):
                value = self.along(term, labels)
            elif isinstance(term, DataIndex):
                value = self.of(term.value, labels)
            else:
                inner = self.place(term.inner, labels)
                value = inner // term.divisor if term.operator == "//" else inner % term.divisor
            total = total + coefficient * value
        return total

    def holds(self, when: Conditions, labels: tuple[str, ...]) -> Tensor:
        """Return where conditions hold."""
        found = torch.ones([1] * len(labels), dtype=torch.bool)
        for one in when:
            sizes = sum(c * self.sizes[label] for label, c in one.sizes.linear)
            found = found & (self.place(one.index, labels) + sizes >= 0)
        return found

    def of(self, expr: Expr, labels: tuple[str, ...]) -> Tensor:
        """Return the value of an expression for each index of the labels around it."""
        value = self.value(expr, labels)
        self.has_infinities = self.has_infinities or bool(value.isinf().any())
        return value

    def value(self, expr: Expr, labels: tuple[str, ...]) -> Tensor:
        """Return what `of` returns, but do not look at it."""
        ones = [1] * len(labels)
        match expr:
            case Integer(value=value):
                return torch.full(ones, value)
            case Float(value=value):
                return torch.full(ones, value, dtype=torch.float64)
            case ScalarRead(name=name):
                return self.tensors[name].reshape(ones)
            case Size(label=label):
                return torch.full(ones, self.sizes[label])
            case Index(label=label):
                return self.along(label, labels)
            case ProgramId():
                raise NotImplementedError
            case Read():
                return self.read(expr, labels)
            case Cast(operand=operand, dtype=dtype):
                return _converted(self.of(operand, labels), dtype)
            case Reshape(operand=operand):
                return self.of(operand, labels)
            case Apply():
                return self.apply(expr, labels)
            case Dot(left=left, right=right, labels=own, when=when):
                inner = (*labels, *own)
                products = self.of(left, inner) * self.of(right, inner)
                return self.total("rsum", self.full(products, labels, own), len(own), when, inner)
            case Reduce(scan=scan) if scan is not None:
                return self.scan(expr, labels)
            case Reduce(operation=operation, operand=operand, labels=own, when=when):
                inner = (*labels, *own)
                elements = self.full(self.of(operand, inner), labels, own)
                return self.total(operation, elements, len(own), when, inner)
            case _:
                assert_never(expr)

    def apply(self, expr: Apply, labels: tuple[str, ...]) -> Tensor:
        """Return the value of an elementwise operation, or what is at a place of a list."""
        match expr:
            case Apply(operation="where", operands=(condition, yes, no)):
                truth, one, other = (self.of(e, labels) for e in (condition, yes, no))
                if one.is_floating_point() or other.is_floating_point():
                    one, other = one.double(), other.double()
                return torch.where(truth, one, other)
            case Apply(
                operation="rtopk" | "rargtopk" as name, operands=(Reduce() as listed, place)
            ):
                return self.listed(name, listed, place, labels)
            case _:
                values = [self.of(one, labels) for one in expr.operands]
                if any(one.is_floating_point() for one in values):
                    values = [one.double() for one in values]
                found = OPERATIONS[expr.operation](*values)
                is_whole = not found.is_floating_point() and found.dtype is not torch.bool
                return _wrapped(found, type_of(expr, self.types).dtype) if is_whole else found

    def full(self, value: Tensor, labels: tuple[str, ...], own: tuple[str, ...]) -> Tensor:
        """Return a value that is repeated along labels that are reduced over."""
        return value.expand([*value.shape[: len(labels)], *(self.sizes[one] for one in own)])

    def read(self, read: Read, labels: tuple[str, ...]) -> Tensor:
        """Return elements of a tensor, and the padding of those that are outside."""
        tensor = self.tensors[read.tensor]
        if not read.indices:
            return tensor.reshape([1] * len(labels))
        places = [self.place(index, labels) for index in read.indices]
        inside = torch.ones([1] * len(labels), dtype=torch.bool)
        for place, extent in zip(places, tensor.shape, strict=True):
            inside = inside & (place >= 0) & (place < extent)
        if 0 in tensor.shape:
            tensor = torch.zeros([max(one, 1) for one in tensor.shape], dtype=tensor.dtype)
        near = [p.clamp(0, extent - 1) for p, extent in zip(places, tensor.shape, strict=True)]
        picked = tensor[tuple(near)]
        if bool(inside.all()):
            return picked
        other = torch.zeros(()) if read.padding is None else self.of(read.padding, labels)
        return torch.where(inside, picked, other.to(picked.dtype))

    def total(
        self, operation: str, value: Tensor, count: int, when: Conditions, inner: tuple[str, ...]
    ) -> Tensor:
        """Reduce the last axes of a value."""
        if when:
            nothing = {
                "rprod": 1,
                "rmax": _least(value.dtype),
                "rmin": _most(value.dtype),
                "rall": 1,
            }.get(operation, 0)
            value = torch.where(self.holds(when, inner), value, nothing)
        axes = tuple(range(value.dim() - count, value.dim()))
        match operation:
            case "rsum":
                return value.sum(axes)
            case "rany":
                return value.amax(axes) if value.numel() else value.sum(axes).bool()
            case "rall":
                return ~((~value).amax(axes) if value.numel() else value.sum(axes).bool())
            case "rprod":
                for axis in reversed(axes):
                    value = value.prod(axis)
                return value
            case "rmax" | "rmin":
                if any(value.shape[axis] == 0 for axis in axes):
                    end = _least(value.dtype) if operation == "rmax" else _most(value.dtype)
                    return torch.full(value.shape[: -len(axes)], end, dtype=value.dtype)
                return value.amax(axes) if operation == "rmax" else value.amin(axes)
            case "rargmax" | "rargmin" if value.shape[-1] == 0:
                return torch.zeros(value.shape[:-1], dtype=torch.int64)
            case "rargmax" | "rargmin":
                return value.argmax(-1) if operation == "rargmax" else value.argmin(-1)
            case _:
                raise NotImplementedError(operation)

    def scan(self, scan: Reduce, labels: tuple[str, ...]) -> Tensor:
        """Return the results of a scan, one for each index of its label."""
        assert scan.scan is not None
        order, (own,) = scan.scan, scan.labels
        axis = labels.index(order.at)
        inner = tuple(own if one == order.at else one for one in labels)
        count = self.sizes[own]
        if scan.operation in ("rmax", "rmin"):
            value = self.of(scan.operand, inner)
            shape = [count if i == axis else n for i, n in enumerate(value.shape)]
            return self.running(scan, value.expand(shape), axis)

        def steps(expr: Expr) -> list[Tensor]:
            value = self.of(expr, inner)
            shape = [count if i == axis else n for i, n in enumerate(value.shape)]
            return list(value.expand(shape).unbind(axis))

        elements = steps(scan.operand)
        factors = elements if order.factor is None else steps(order.factor)
        first = {"rsum": 0.0, "rprod": 1.0}
        if order.initial is None:
            state = torch.full([1] * (len(labels) - 1), first[scan.operation]).double()
        else:
            state = self.of(order.initial, labels).squeeze(axis)
        results: list[Tensor] = [state] * count
        places = range(count)
        for at in reversed(places) if order.is_reverse else places:
            before = state
            match scan.operation:
                case "rsum":
                    state = state + elements[at]
                case "rprod":
                    state = state * elements[at]
                case _:
                    state = factors[at] * state + elements[at]
            results[at] = before if order.is_before else state
        if not results:
            shape = [0 if i == axis else self.sizes[one] for i, one in enumerate(labels)]
            return torch.zeros(shape, dtype=torch.float64)
        zero = sum((0 * one.detach() for one in results), torch.zeros(()))
        zero = torch.zeros_like(zero)  # of the shape of all
        return torch.stack([one + zero for one in results], axis)

    def running(self, scan: Reduce, value: Tensor, axis: int) -> Tensor:
        """Return running maxima or minima along an axis."""
        order = scan.scan
        assert order is not None
        if not value.shape[axis]:
            return value
        value = value.flip(axis) if order.is_reverse else value
        results = (value.cummax(axis) if scan.operation == "rmax" else value.cummin(axis)).values
        if order.is_before:
            end = -math.inf if scan.operation == "rmax" else math.inf
            first = torch.full_like(results.narrow(axis, 0, 1), end)
            results = torch.cat([first, results.narrow(axis, 0, results.shape[axis] - 1)], axis)
        return results.flip(axis) if order.is_reverse else results

    def listed(self, name: str, listed: Reduce, place: Expr, labels: tuple[str, ...]) -> Tensor:
        """Return what is at a place of the list of the largest values."""
        assert isinstance(place, Index)
        axis = labels.index(place.label)
        inner = (*labels, *listed.labels)
        value = self.full(self.of(listed.operand, inner), labels, listed.labels)
        if listed.when:
            value = torch.where(self.holds(listed.when, inner), value, _least(value.dtype))
        count = min(self.sizes[place.label], value.shape[-1])
        shape = [self.sizes[place.label] if i == axis else n for i, n in enumerate(value.shape)]
        found = torch.sort(value.expand(shape), dim=-1, descending=True, stable=True)
        kept = (found.values if name == "rtopk" else found.indices)[..., :count]
        nothing = _least(kept.dtype) if name == "rtopk" else self.sizes[listed.labels[0]]
        rest = [*kept.shape[:-1], self.sizes[place.label] - count]
        kept = torch.cat([kept, torch.full(rest, nothing, dtype=kept.dtype)], -1)
        return kept.diagonal(dim1=axis, dim2=-1).movedim(-1, axis)


def _least(dtype: torch.dtype) -> float:
    """Return the least value there is, which stands in a list where no value is left."""
    return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min


def _most(dtype: torch.dtype) -> float:
    """Return the largest value there is."""
    return math.inf if dtype.is_floating_point else torch.iinfo(dtype).max
