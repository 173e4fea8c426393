"""Mistakes in wrappers: grids, launches and their arguments, sizes, scratch, types."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from tests.verify.mutation.edits import Edit, Text, called, calls, nodes


def _programs(function: ast.FunctionDef) -> Iterator[ast.expr]:
    """What says how many programs there are."""
    for node in nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=one)], value=value) if one.startswith("programs"):
                yield value
            case ast.Expr(value=ast.Call(func=ast.Subscript(slice=ast.Tuple(elts=counts)))):
                yield from counts
            case _:
                pass


def grid_small(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A ragged block has no program."""
    for value in _programs(function):
        for node in (value, *nodes(value)):
            match node:
                case ast.BinOp(op=ast.FloorDiv(), left=ast.BinOp(op=ast.Add(), left=size) as left):
                    yield text.put(left, text.of(size))
                case _:
                    pass


def grid_large(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """There is a program too many."""
    for value in _programs(function):
        yield text.put(value, f"{text.around(value)} + 1")


def grid_short(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """There is a program too few."""
    for value in _programs(function):
        yield text.put(value, f"max({text.of(value)} - 1, 0)")


def grid_axis_missing(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Programs are counted along fewer axes."""
    for value in _programs(function):
        match value:
            case ast.BinOp(op=ast.Mult(), left=left, right=right):
                yield text.put(value, text.around(left))
                yield text.put(value, text.around(right))
            case _:
                pass


def grid_constant(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Blocks are counted as larger than they are."""
    for value in _programs(function):
        for node in nodes(value):
            match node:
                case ast.BinOp(op=ast.FloorDiv(), right=ast.Constant(value=int(size)) as right):
                    yield text.put(right, str(size * 2))
                case _:
                    pass


def _launches(function: ast.FunctionDef) -> list[tuple[ast.Expr, ast.Call]]:
    found: list[tuple[ast.Expr, ast.Call]] = []
    for node in nodes(function):
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=one)) as call) if one.endswith("_launch"):
                found.append((node, call))
            case _:
                pass
    return found


def launch_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A kernel is not launched."""
    for node, _ in _launches(function):
        yield text.drop(node)


def launch_again(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A kernel is launched twice."""
    for node, _ in _launches(function):
        yield text.put(node, f"{text.of(node)}\n{' ' * node.col_offset}{text.of(node)}")


def launches_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Kernels are launched in another order."""
    found = [node for node, _ in _launches(function)]
    for one, other in pairwise(found):
        yield text.swap(one, other)


def scratch_small(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """There is too little room for what passes between statements."""
    for node in nodes(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=one)], value=ast.Call(args=[ast.Tuple(elts=extents)]) as made
            ) if one != "out" and called(made, "torch.empty", "torch.zeros", "torch.full"):
                for extent in extents:
                    yield text.put(extent, f"max({text.of(extent)} - 1, 0)")
            case _:
                pass


def result_shape(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The result has other extents."""
    for node in nodes(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id="out")], value=ast.Call(args=[ast.Tuple(elts=[a, b, *_])])
            ):
                yield text.swap(a, b)
            case _:
                pass


def arguments_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Two arguments of a launch change places."""
    for _, call in _launches(function):
        names = [one for one in call.args if isinstance(one, ast.Name)]
        for one, other in pairwise(names):
            yield text.swap(one, other)


def _strides(function: ast.FunctionDef) -> list[tuple[ast.Starred, ast.expr]]:
    found: list[tuple[ast.Starred, ast.expr]] = []
    for _, call in _launches(function):
        for one in call.args:
            match one:
                case ast.Starred(value=ast.Call(func=ast.Attribute(value=tensor, attr="stride"))):
                    found.append((one, tensor))
                case _:
                    pass
    return found


def strides_of_another(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A tensor is given with another's strides."""
    found = _strides(function)
    names = list(dict.fromkeys(text.of(tensor) for _, tensor in found))
    for _, tensor in found:
        yield from (text.put(tensor, one) for one in names if one != text.of(tensor))


def strides_reversed(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Strides are given in the other order."""
    for node, tensor in _strides(function):
        yield text.put(node, f"*{text.of(tensor)}.stride()[::-1]")


def shape_swapped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Sizes are those of other axes."""
    for node in nodes(function):
        match node:
            case ast.Assign(
                targets=[ast.Tuple(elts=[one, other, *_])],
                value=ast.Attribute(attr="shape"),
            ):
                yield text.swap(one, other)
            case ast.Assign(
                value=ast.Subscript(
                    value=ast.Attribute(attr="shape"), slice=ast.Constant(value=int(axis)) as at
                )
            ):
                yield text.put(at, str(1 - axis) if axis < 2 else "0")
            case _:
                pass


def size_wrong(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A size that is given to a kernel is one less."""
    for _, call in _launches(function):
        for one in call.args:
            if isinstance(one, ast.Name) and one.id.endswith("_size"):
                yield text.put(one, f"{one.id} - 1")


def flag_set(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A tile counts as full."""
    for _, call in _launches(function):
        for one in call.keywords:
            if one.arg is not None and one.arg == "even":
                yield text.put(one.value, "True")


def flag_of_half(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A tile counts as full where half of it is."""
    for _, call in _launches(function):
        for one in call.keywords:
            for node in nodes(one):
                match node:
                    case ast.BinOp(op=ast.Mod(), right=ast.Constant(value=int(tile)) as right):
                        yield text.put(right, str(tile // 2))
                    case _:
                        pass


def lanes_wrong(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """There are fewer lanes than elements."""
    for call in calls(function, "dt_lanes"):
        yield text.put(call, f"max({text.of(call)} // 2, 1)")


def result_type(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """The result has another type."""
    for node in nodes(function):
        match node:
            case ast.Assign(targets=[ast.Name(id="out")], value=ast.Call() as made):
                for one in made.keywords:
                    if one.arg == "dtype":
                        yield text.put(one.value, "torch.float16")
            case _:
                pass


def real_of_fewer(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A type does not depend on all that it should."""
    for call in calls(function, "dt_real", "dt_promoted"):
        least = 2 if text.of(call.func) == "dt_promoted" else 1
        if len(call.args) > least:
            given = ", ".join(text.of(one) for one in call.args[:-1])
            yield text.put(call, f"{text.of(call.func)}({given})")


def return_negated(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """It returns where there is something to do."""
    for node in nodes(function):
        match node:
            case ast.If(test=ast.UnaryOp(op=ast.Not(), operand=operand), body=[ast.Return()]):
                yield text.put(node.test, text.of(operand))
            case _:
                pass


def launched_never(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """A launch that stands under a condition of another number."""
    for node in nodes(function):
        match node:
            case ast.If(test=ast.Name(id=one)) if one.startswith("programs"):
                yield text.put(node.test, f"{one} > 1")
            case _:
                pass


def small_offsets(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Offsets have 32 bits whatever the sizes are."""
    for call in calls(function, "dt_offset"):
        yield text.put(call, "tl.int32")


def check_dropped(text: Text, function: ast.FunctionDef) -> Iterator[Edit]:
    """Tensors that disagree are let through."""
    for node in nodes(function):
        match node:
            case ast.If(test=test, body=[ast.Raise()]):
                yield text.put(test, "False")
            case _:
                pass
