"""Read a launch in a `# verify:` line: the value of each parameter of the kernel, and the grid.

`launch` adds a `Launch` to the reading. Arguments that Triton would bind or convert in another way
raise Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import mul

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import (
    NoneValue,
    PointerValue,
    TextValue,
    TypeValue,
    Unread,
    Value,
    scalar,
)
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Given, Literal
from dtpoly.verify.algebra.whole import Whole, both, compare, number
from dtpoly.verify.plan.held import (
    BlockDescriptor,
    FactorProduct,
    FunctionReading,
    Held,
    LowerBound,
    PlanType,
    TensorOf,
)
from dtpoly.verify.plan.interface import CONSTANTS, check_kernel, check_options
from dtpoly.verify.triton.access import KernelLaunch
from dtpoly.verify.triton.early_launches import panel_of
from dtpoly.verify.triton.pairs import pair_of
from dtpoly.verify.triton.typed_operations import kept

OPTIONS = ("num_warps", "num_stages")
PLAIN = ""
# What a parameter has to be declared as for Triton to take a number of 32 bits.
SHORT, LONG = "tl.int32", "tl.int64"
# What it may be declared as for Triton to take a float: of 32 bits, as without it, or of 64.
FLOATS = ("tl.float32", "tl.float64")

Reader = Callable[[ast.expr], Held]


def launch(reading: FunctionReading, call: ast.Call, func: ast.Subscript, value: Reader) -> None:
    """Note a launch. `value` reads its arguments."""
    kernel = ast.unparse(func.value)
    definition = reading.file.jitted.get(kernel)
    if definition is None:
        raise Unread(call.lineno, f"a launch of '{kernel}', which is not here")
    check_kernel(definition, {str(one.arg) for one in call.keywords})
    check_options(call)
    bound, stages = _bound(definition, call, value)
    first = panel_of(definition)
    if first is not None and bound[first] != number(0):
        raise Unread(call.lineno, f"'{kernel}' is launched beside others, and may need them")
    if pair_of(reading.file, definition) is not None:
        raise Unread(call.lineno, f"a grid '{ast.unparse(func.slice)}'")
    grid = _grid(reading, func.slice, value)
    annotated = {
        one.arg: PLAIN if one.annotation is None else ast.unparse(one.annotation)
        for one in definition.args.args
    }
    launched = KernelLaunch(
        definition.name,
        {
            one: _argument(reading, one, held, annotated[one], call.lineno)
            for one, held in bound.items()
        },
        grid,
        turns=None,
        stages=stages,
        line=call.lineno,
        near=reading.near,
        below=reading.below,
        is_finite=reading.is_finite,
        powers=reading.powers,
    )
    reading.launches.append(launched)


def _bound(
    definition: ast.FunctionDef, call: ast.Call, value: Reader
) -> tuple[Mapping[str, Held], int | None]:
    """Return what each parameter is given, and the number of stages. Raises Unread."""
    kernel, arguments = definition.name, definition.args
    parameters = [one.arg for one in arguments.args]
    given = [value(arg) for arg in call.args]
    if len(given) > len(parameters):
        raise Unread(call.lineno, f"'{kernel}' is given too much")
    bound: dict[str, Held] = dict(zip(parameters, given, strict=False))
    stages: int | None = None
    for keyword in call.keywords:
        match keyword:
            case ast.keyword(arg="num_stages", value=ast.Constant(value=int() as count)):
                stages = count
            case ast.keyword(arg=word) if word in OPTIONS:
                continue
            case ast.keyword(arg=str() as word, value=given_value) if (
                word in parameters and word not in bound
            ):
                bound[word] = value(given_value)
            case _:
                raise Unread(call.lineno, f"'{kernel}' has no '{keyword.arg}' to give")
    defaults = zip(reversed(parameters), reversed(arguments.defaults), strict=False)
    for one, default in dict(defaults).items():
        if one not in bound and isinstance(default, ast.Constant):
            bound[one] = value(default)
    if missing := [one for one in parameters if one not in bound]:
        raise Unread(call.lineno, f"'{kernel}' is not given '{missing[0]}'")
    return bound, stages


def _grid(reading: FunctionReading, node: ast.expr, value: Reader) -> tuple[tuple[Whole, ...], ...]:
    """Return the number of programs along each axis, as factors."""
    found = value(node)
    parts = found if isinstance(found, tuple) else (found,)
    axes: list[tuple[Whole, ...]] = []
    for part in parts:
        match part:
            case FactorProduct(factors=factors):
                axes.append(tuple(one for one in factors if one.constant != 1))
            case Whole():
                axes.append(() if part.constant == 1 else (part,))
            case _:
                raise Unread(node.lineno, f"a grid '{ast.unparse(node)}'")
    _check_sign(reading, [extent for axis in axes for extent in axis], node)
    return tuple(axes)


def _check_sign(reading: FunctionReading, extents: Sequence[Whole], node: ast.expr) -> None:
    """Raise Unread if an extent of a grid may be negative.

    Two negative numbers have a positive product, and no lemma is about coordinates of such a grid.
    """
    calls = set_of(both(*reading.facts))
    for one in extents:
        if not is_affine(one) or not reading.run.holds(compare(">=", one, number(0)), calls):
            raise Unread(node.lineno, f"a grid '{ast.unparse(node)}' of what may be negative")


def _types(reading: FunctionReading, held: Held) -> tuple[str, ...]:
    """Return the types that a parameter may be declared to have, since they change no number."""
    match held:
        case Given(name=one):
            # Triton takes a float for 32 bits unless its parameter is declared as 64.
            declared = (reading.scalars[one],) if reading.scalars[one] else FLOATS
            return (PLAIN, *CONSTANTS, *declared)
        case PlanType():
            return CONSTANTS
        case Literal():
            return (PLAIN, *CONSTANTS, "tl.float32")
        case Whole() if _is_short(reading, held):
            return (PLAIN, *CONSTANTS, SHORT, LONG)
        case Whole() if is_affine(held):
            return (PLAIN, *CONSTANTS, LONG)
        case TensorOf(array=array):
            # Triton takes the memory for elements of that type, so it must be theirs.
            return (PLAIN, *CONSTANTS, f"tl.pointer_type({array.kind})")
        case _:
            return (PLAIN, *CONSTANTS)


def _is_short(reading: FunctionReading, size: Whole) -> bool:
    """Return whether a number has 32 bits in each call."""
    if not is_affine(size):
        return False
    calls = set_of(both(*reading.facts))
    fits = both(compare("<", size, number(kinds.HALF)), compare(">=", size, number(-kinds.HALF)))
    return reading.run.holds(fits, calls)


def _argument(
    reading: FunctionReading, parameter: str, held: Held, annotation: str, line: int
) -> Value:
    if annotation not in _types(reading, held):
        raise Unread(line, f"'{parameter}: {annotation}', which is a type for Triton")
    is_constant = annotation in CONSTANTS
    match held:
        case TensorOf(array=array):
            return scalar(PointerValue(array.name, number(0)), array.kind)
        case Whole():
            if annotation in (SHORT, LONG):
                return scalar(held, annotation)
            return scalar(held, kinds.WEAK if is_constant else kinds.SIZE)
        case Given(name=one):
            # Triton makes a tensor of 32 bits of a float that is no constant, unless the parameter
            # is declared as 64. Its interpreter leaves it a float of Python.
            wide = annotation if annotation == "tl.float64" else kinds.NUMBER
            as_float = kinds.WEAK if is_constant else wide
            return scalar(held, reading.scalars[one] or as_float)
        case PlanType(name=kind):
            return TypeValue(kind)
        case FactorProduct(factors=factors):
            # Triton is given the number that Python makes of it.
            product = reduce(mul, factors, number(1))
            return scalar(product, kinds.WEAK if is_constant else kinds.SIZE)
        case NoneValue():
            return held
        case TextValue() if is_constant:
            return held
        case Literal():
            # A float that is no constant becomes an f32, as one does that a name is set to.
            return scalar(held) if is_constant else kept(scalar(held))
        case BlockDescriptor() | LowerBound() | TextValue() | tuple():
            raise Unread(line, f"what '{parameter}' is given")
        case _:
            # Triton makes a tensor of one bit from a truth, unless the parameter is a constant.
            return scalar(held, kinds.WEAK if is_constant else kinds.BOOL)
