"""Read a launch in a line of a hand-written file: what each parameter is given, and the grid.

Such a line is a call as Python has it: arguments by position and by name. What Triton would bind
or convert in another way raises Unread.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from dtpoly.verify.algebra import kinds
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import Given
from dtpoly.verify.algebra.values import Unread, Value, scalar
from dtpoly.verify.algebra.whole import Whole, both, compare, number
from dtpoly.verify.plan.arguments import plain_argument
from dtpoly.verify.plan.held import Held, Product, Wrapper
from dtpoly.verify.plan.interface import CONSTANTS, check_kernel, check_options
from dtpoly.verify.triton.access import Launch
from dtpoly.verify.triton.early import panel_of
from dtpoly.verify.triton.pairs import pair_of

OPTIONS = ("num_warps", "num_stages")
# Reads an argument, or a grid.
Reader = Callable[[Wrapper, ast.expr], Held]
Grid = tuple[tuple[Whole, ...], ...]


def launch_by_hand(wrapper: Wrapper, call: ast.Call, func: ast.Subscript, value: Reader) -> None:
    """Note a launch, whose arguments are read by `value`. Raises Unread."""
    kernel = ast.unparse(func.value)
    definition = wrapper.file.jitted.get(kernel)
    if definition is None:
        raise Unread(call.lineno, f"a launch of '{kernel}', which is not here")
    check_kernel(definition, {str(one.arg) for one in call.keywords})
    check_options(call)
    bound, stages = _bound(wrapper, call, kernel, definition, value)
    first = panel_of(definition)
    if first is not None and bound[first] != number(0):
        raise Unread(call.lineno, f"'{kernel}' is launched beside others, and may need them")
    if pair_of(wrapper.file, definition) is not None:
        raise Unread(func.slice.lineno, f"a grid '{ast.unparse(func.slice)}'")
    annotated = {
        one.arg: "" if one.annotation is None else ast.unparse(one.annotation)
        for one in definition.args.args
    }
    grid = _grid(wrapper, func.slice, value)
    arguments = {
        one: _argument(wrapper, one, held, annotated[one], call.lineno)
        for one, held in bound.items()
    }
    launched = Launch(
        kernel,
        arguments,
        grid,
        None,
        stages,
        call.lineno,
        near=wrapper.near,
        below=wrapper.below,
        is_finite=wrapper.is_finite,
        factors=dict(wrapper.factors),
    )
    wrapper.launches.append(launched)


def _bound(
    wrapper: Wrapper, call: ast.Call, kernel: str, definition: ast.FunctionDef, value: Reader
) -> tuple[Mapping[str, Held], int | None]:
    """Return what each parameter is given, and the number of stages."""
    given: list[Held] = []
    for arg in call.args:
        if isinstance(arg, ast.Starred):
            given.extend(wrapper.parts(value(wrapper, arg.value), arg.value))
        else:
            given.append(value(wrapper, arg))
    arguments = definition.args
    parameters = [one.arg for one in arguments.args]
    defaults = dict(zip(reversed(parameters), reversed(arguments.defaults), strict=False))
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
                bound[word] = value(wrapper, given_value)
            case _:
                raise Unread(call.lineno, f"'{kernel}' has no '{keyword.arg}' to give")
    for one, default in defaults.items():
        if one not in bound and isinstance(default, ast.Constant):
            bound[one] = value(wrapper, default)
    if missing := [one for one in parameters if one not in bound]:
        raise Unread(call.lineno, f"'{kernel}' is not given '{missing[0]}'")
    return bound, stages


def _grid(wrapper: Wrapper, node: ast.expr, value: Reader) -> Grid:
    """Return the number of programs along each axis, as factors."""
    found = value(wrapper, node)
    axes: list[tuple[Whole, ...]] = []
    for part in found if isinstance(found, tuple) else (found,):
        match part:
            case Product(factors=factors):
                axes.append(tuple(one for one in factors if one.constant != 1))
            case Whole():
                axes.append(() if part.constant == 1 else (part,))
            case _:
                raise Unread(node.lineno, f"a grid '{ast.unparse(node)}'")
    _check_sign(wrapper, [extent for axis in axes for extent in axis], node)
    return tuple(axes)


def _check_sign(wrapper: Wrapper, extents: Sequence[Whole], node: ast.expr) -> None:
    """Raise Unread if an extent of a grid may be negative.

    Two negative numbers have a positive product, and no lemma is about coordinates of such a grid.
    """
    calls = set_of(both(*wrapper.facts))
    for one in extents:
        if not is_affine(one) or not wrapper.run.holds(compare(">=", one, number(0)), calls):
            raise Unread(node.lineno, f"a grid '{ast.unparse(node)}' of what may be negative")


def _argument(wrapper: Wrapper, parameter: str, held: Held, annotation: str, line: int) -> Value:
    """Return the value that a kernel sees. Raises Unread if Triton would make another of it.

    Triton makes a tensor of 32 bits of a float, unless the parameter is declared as 64 bits or is a
    constant. Triton's interpreter leaves it a float of Python.
    """
    match held:
        case Given(name=one):
            own = wrapper.scalars[one]
            if annotation not in ("", *CONSTANTS, own or "tl.float64"):
                raise Unread(line, f"'{parameter}: {annotation}', which is a type for Triton")
            as_float = kinds.WEAK if annotation in CONSTANTS else annotation or kinds.NUMBER
            return scalar(held, own or as_float)
        case _:
            return plain_argument(wrapper, parameter, held, annotation, line)
