"""Read a launch that goes through a launcher as a launch of the kernel itself.

An emitted file makes a launcher for a kernel by `dt_launcher`. It remembers how a call was run, and
runs later calls that are alike in the same way. So it must be told what decides whether calls are
alike: where the tensors, their sizes and descriptors are among the arguments. This module checks
that it is told the truth.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Whole
from dtpoly.verify.plan import expressions
from dtpoly.verify.plan.held import Blocks, Held, TensorOf, Wrapper
from dtpoly.verify.plan.interface import check_call
from dtpoly.verify.plan.launching import GRID, TURNS, launch
from dtpoly.verify.plan.weakened import weakened

LAUNCHER = "dt_launcher"
# The words that a launcher is told for an axis whose length is not passed, and for an axis in which
# tiles may begin anywhere.
UNNAMED = ("_", "-")


def launch_by(wrapper: Wrapper, call: ast.Call, launcher: str) -> None:
    """Note a launch through a launcher, whose first argument is the grid.

    The launcher may pass on the truths that it is given, or False for all of them. In the same way
    it may pass on the descriptors, or None for all of them. In each case it runs the kernel.
    """
    match wrapper.file.values.get(launcher), call.args:
        case (
            ast.Call(
                func=ast.Name(id=made), args=[ast.Name() as kernel, ast.List(elts=axes), *more]
            ),
            [grid, *args],
        ) if made == LAUNCHER:
            wrapper.must_know(made, call.lineno)
            _check_grid(grid)
            given = _check_places(wrapper, args, axes, kernel.id, call.lineno)
            _check_blocks(wrapper, given, kernel, more, call.lineno)
            definition = wrapper.file.jitted.get(kernel.id)
            if definition is not None:
                check_call(definition, call, len(given))
        case _:
            raise Unread(call.lineno, f"a call of '{launcher}'")
    func = ast.copy_location(ast.Subscript(kernel, grid, ast.Load()), call)
    launch(wrapper, ast.copy_location(ast.Call(func, args, call.keywords), call), func, weakened)


def _check_grid(grid: ast.expr) -> None:
    """Raise Unread unless the grid has one number: a launcher uses only the first one."""
    match grid:
        case ast.Call(func=ast.Name(id=made)) if made in (GRID, *TURNS):
            return
        case ast.Tuple(elts=[ast.Constant(value=int())]):
            return
        case _:
            raise Unread(grid.lineno, f"a launcher that is given '{ast.unparse(grid)}' as its grid")


def _check_places(
    wrapper: Wrapper, args: Sequence[ast.expr], axes: Sequence[ast.expr], kernel: str, line: int
) -> Sequence[Held]:
    """Check that a launcher is told which arguments are tensors; return the values of all.

    For each tensor it is told the axes: the arguments are the tensor, then a stride for each axis.
    Raises Unread if it is told of other tensors, or of a word that is no size.
    """
    found: list[Held] = []
    for arg in args:
        if isinstance(arg, ast.Starred):
            found.extend(wrapper.parts(expressions.value(wrapper, arg.value), arg))
        else:
            found.append(expressions.value(wrapper, arg))
    places, at = list[tuple[int, int]](), 0
    for one in axes:
        rank = len(str(one.value).split()) if isinstance(one, ast.Constant) else -1
        places.append((at, rank))
        at += 1 + rank
    definition = wrapper.file.jitted.get(kernel)
    parameters = [] if definition is None else [one.arg for one in definition.args.args]
    sizes = {one for one, held in zip(parameters, found, strict=False) if isinstance(held, Whole)}
    words = [word for one in axes for word in ast.literal_eval(one).split()]
    if unknown := [word for word in words if word not in {*sizes, *UNNAMED}]:
        raise Unread(line, f"a launcher that is told of '{unknown[0]}', which is no size")
    tensors = [
        (at, len(one.array.shape)) for at, one in enumerate(found) if isinstance(one, TensorOf)
    ]
    if places != tensors:
        raise Unread(line, "a launcher that is told of other tensors")
    return found


def _check_blocks(
    wrapper: Wrapper,
    given: Sequence[Held],
    kernel: ast.Name,
    told: Sequence[ast.expr],
    line: int,
) -> None:
    """Raise Unread unless a launcher is told which parameters take descriptors.

    The tensor of each descriptor must also be passed by address.
    """
    definition = wrapper.file.jitted.get(kernel.id)
    parameters = [] if definition is None else [one.arg for one in definition.args.args]
    names = list[ast.expr]()
    match told:
        case [
            ast.List(elts=names),
            ast.Name(id="dt_descriptor" as made),
            ast.Name(id="dt_in_parts" as passed),
        ]:
            wrapper.must_know(made, line)
            wrapper.must_know(passed, line)
        case []:
            pass
        case _:
            raise Unread(line, "what a launcher is told")
    wanted = [one.value for one in names if isinstance(one, ast.Constant)]
    pairs = zip(parameters, given, strict=False)
    if wanted != [one for one, held in pairs if isinstance(held, Blocks)]:
        raise Unread(line, "a launcher that is told of other descriptors")
    addresses = {one.array.name for one in given if isinstance(one, TensorOf)}
    for one in given:
        # A launcher recognises calls that are alike by the strides of tensors passed by address.
        if isinstance(one, Blocks) and one.array.name not in addresses:
            raise Unread(line, f"a descriptor of '{one.array.name}', which is not passed besides")
