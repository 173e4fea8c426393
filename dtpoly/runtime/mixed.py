"""Words the warning about a call in which a product is of tensors of two types of floats."""

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import Dot, walk
from dtpoly.algorithm.inference import combine, type_of, types_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.algorithm.show import show_expr
from dtpoly.codegen.type_text import TORCH

DTYPES = {word: dtype for dtype, word in TORCH.items()}


def has_products(program: Program) -> bool:
    """Return whether a Func multiplies as tensor cores do."""
    return any(isinstance(one, Dot) for func in program.funcs for one in walk(func.body))


def mixed_product(program: Program, given: Mapping[str, str]) -> str:
    """Word the warning about the first product of two float types; "" where there is none.

    `given` are torch's names of types, as in `torch.float32`, for inputs by name.
    """
    return next(_mixed(_declared_as(program, given)), "")


def _declared_as(program: Program, given: Mapping[str, str]) -> Program:
    inputs = tuple(
        replace(one, dtype=DTYPES.get(given.get(one.name, "")))
        if isinstance(one, Tensor) and one.dtype is None
        else one
        for one in program.inputs
    )
    return replace(program, inputs=inputs)


def _mixed(program: Program) -> Iterator[str]:
    types = types_of(program)
    for func in program.funcs:
        for one in walk(func.body):
            if not isinstance(one, Dot):
                continue
            sides = [type_of(side, types) for side in (one.left, one.right)]
            both = combine(*sides)
            left, right = (side.dtype for side in sides)
            if both is None or both.dtype is None or left is None or right is None:
                continue
            if left is not right and is_float(left) and is_float(right):
                yield (
                    f"{show_expr(one.left)} is {left} and {show_expr(one.right)} is {right}: "
                    f"their product in '{func.name}' is computed in {both.dtype}; "
                    "cast one of them before the call, or say that it is meant, "
                    f"as in cast(e, {both.dtype})"
                )
