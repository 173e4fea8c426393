"""Random programs: each element alone, by plain loops over indices, is the reference's element.

The loops know labels only as a dictionary from label to index, so they have no axes to mix up.
"""

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import assert_never

import pytest
import torch

from dtpoly.algorithm.dtypes import DType, is_float
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
    division,
    map_children,
)
from dtpoly.algorithm.inference import check_types, types_of
from dtpoly.algorithm.outside import padding_of
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.diagnostics import has_errors
from dtpoly.reference.inputs import with_dtypes
from dtpoly.reference.labelled_operations import apply, dot, reduce
from dtpoly.reference.labelled_values import TORCH_DTYPE, TabulatedValue
from dtpoly.reference.random_inputs import random_inputs
from dtpoly.reference.run import run
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import seeded
from tests.generation.extents import label_sizes

Tensor = torch.Tensor
Point = Mapping[str, int]
F64 = torch.float64


def numbered(_: str, indices: Mapping[str, Tensor]) -> Tensor:
    """A program for every element, numbered by its indices in the order of their names."""
    total = torch.zeros((), dtype=torch.int64)
    for label in sorted(indices):
        total = 7 * total + indices[label]
    return total


def computed(tensor: Tensor) -> Tensor:
    return tensor.to(F64) if tensor.dtype.is_floating_point else tensor


def stored(dtype: DType) -> torch.dtype:
    """Return what the reference keeps a dtype in: no float is rounded."""
    return F64 if is_float(dtype) else TORCH_DTYPE[dtype]


@dataclass(frozen=True)
class World:
    tensors: Mapping[str, Tensor]
    scalars: Mapping[str, Tensor]
    sizes: Mapping[str, int]

    def points(self, labels: tuple[str, ...]) -> Iterator[dict[str, int]]:
        for point in itertools.product(*(range(self.sizes[label]) for label in labels)):
            yield dict(zip(labels, point, strict=True))


def place(index: Affine, point: Point) -> int:
    total = index.constant
    for term, coefficient in index.terms:
        if isinstance(term, str):
            total += coefficient * point[term]
        else:
            term = division(term)
            quotient, rest = divmod(place(term.inner, point), term.divisor)
            total += coefficient * (quotient if term.operator == "//" else rest)
    return total


def element(expr: Expr, point: Point, outer: Point, world: World) -> TabulatedValue:
    """The value at a point; `outer` is the point of the definition."""

    def below(operand: Expr, more: Point | None = None) -> TabulatedValue:
        return element(operand, {**point, **(more or {})}, outer, world)

    match expr:
        case Integer(value=value):
            return TabulatedValue(torch.tensor(value), weak=True)
        case Float(value=value):
            return TabulatedValue(torch.tensor(value, dtype=F64), weak=True)
        case ScalarRead(name=name):
            return TabulatedValue(world.scalars[name], weak=True)
        case Size(label=label):
            return TabulatedValue(torch.tensor(world.sizes[label]), weak=True)
        case Index(label=label):
            return TabulatedValue(torch.tensor(point[label]))
        case ProgramId(axis=axis):
            number = numbered("", {v: torch.tensor(i) for v, i in outer.items()})
            return TabulatedValue(torch.tensor(0) if axis else number, weak=True)
        case Read(tensor=name, indices=indices):
            tensor = world.tensors[name]
            at = tuple(
                place(index, point) if index.data is None else int(below(index.data).tensor.item())
                for index in indices
            )
            if all(0 <= i < n for i, n in zip(at, tensor.shape, strict=True)):
                return TabulatedValue(tensor[at])
            other = padding_of(expr)
            assert other is not None
            return TabulatedValue(below(other).tensor.to(tensor.dtype))
        case Apply(operation=operation, operands=operands):
            return apply(operation, [below(operand) for operand in operands], F64)
        case Cast(operand=operand, dtype=dtype):
            return TabulatedValue(computed(below(operand).tensor.to(TORCH_DTYPE[dtype])))
        case Reshape(operand=operand):
            return below(operand)
        case Reduce(operation=operation, operand=operand, labels=labels):
            values = [below(operand, more).tensor for more in world.points(labels)]
            line = TabulatedValue(torch.stack(values), ("k",))
            return reduce(operation, line, ["k"], {"k": len(values)})
        case Dot(left=left, right=right, labels=labels):
            products = [
                dot(below(left, more), below(right, more), [], {}).tensor
                for more in world.points(labels)
            ]
            total = torch.zeros_like(products[0])  # a sum of one -0 is 0
            for product in products:
                total = total + product
            return TabulatedValue(total)
        case _:
            assert_never(expr)


def table(func: Func, world: World) -> Tensor:
    points = world.points(func.labels)
    elements = [element(func.body, point, point, world).tensor for point in points]
    tensor = torch.stack(elements).reshape([world.sizes[label] for label in func.labels])
    return tensor if func.dtype is None else tensor.to(stored(func.dtype))


def tame(expr: Expr) -> Expr:
    """Without literals so large that the order of a sum decides its value."""
    match expr:
        case Integer(value=value):
            return Integer(min(value, 16))
        case Float(value=value) if 1000 < value < float("inf"):
            return Float(4.0)
        case _:
            return map_children(expr, tame)


def made(seed: int) -> tuple[Program, dict[str, int]]:
    choose = seeded(seed)
    wild = algorithm(choose, Limits())
    funcs = tuple(Func(f.name, f.labels, tame(f.body), f.dtype) for f in wild.funcs)
    program = Program(wild.labels, wild.inputs, funcs)
    return program, label_sizes(choose, program, 1, 3)


def nothing_is_empty(seed: int) -> bool:
    """A stencil may leave a label with no index at all."""
    return all(made(seed)[1].values())


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [seed for seed in range(200) if nothing_is_empty(seed)])
def test_elements(seed: int) -> None:
    program, sizes = made(seed)
    inputs = random_inputs(program, sizes, seed)
    typed = with_dtypes(program, inputs)
    if has_errors(check_types(typed)):
        return  # the dtypes that the text leaves open do not suit the program
    actual = run(program, inputs, sizes=sizes, program_index=numbered)
    types = types_of(typed)
    tensors = {t.name: computed(torch.as_tensor(inputs[t.name])) for t in program.tensors}
    scalars = {
        s.name: torch.tensor(inputs[s.name], dtype=stored(types[s.name].dtype or DType.F64))
        for s in program.scalars
    }
    for func in in_order(program):
        tensors[func.name] = table(func, World(tensors, scalars, sizes))
        torch.testing.assert_close(
            actual[func.name], tensors[func.name], rtol=1e-9, atol=1e-9, equal_nan=True
        )
        dtype = types[func.name].dtype
        assert dtype is not None
        assert actual[func.name].dtype is stored(dtype)
