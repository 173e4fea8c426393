"""Read the branch of a wrapper that runs while torch traces, and that calls one torch operator.

The operator runs the wrapper itself, so it computes what the wrapper computes. Before it runs, the
function beside it tells torch what the result is like; that must be what the wrapper makes. This
module checks both.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.verify.algebra.extents import size_name
from dtpoly.verify.algebra.kinds import is_float
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import Truth, compare, name, number
from dtpoly.verify.plan.expressions import value
from dtpoly.verify.plan.held import Held, Maybe, TensorOf, Wrapper
from dtpoly.verify.plan.interface import OUT
from dtpoly.verify.plan.left_out import leave_out
from dtpoly.verify.triton.access import Array

OPERATORS = {"dt_operator": 4, "dt_operator_with_numbers": 5}


def look_at_operator(wrapper: Wrapper, test: ast.Call, again: ast.Call) -> None:
    """Check the call of the operator, and note the function that describes the result.

    It raises Unread if the operator is not one that runs this wrapper.
    """
    line = test.lineno
    wrapper.must_know("dt_is_traced", line)
    read = [one for one in wrapper.parameters if one in wrapper.arrays]
    if [ast.unparse(arg) for arg in test.args] != read or test.keywords:
        raise Unread(line, f"'{ast.unparse(test)}' of other tensors than are read")
    given = [one for one in wrapper.parameters if one != OUT]
    texts = [ast.unparse(arg) for arg in again.args]
    texts += [f"{k.arg}" for k in again.keywords if ast.unparse(k.value) == k.arg]
    if texts != [OUT, *given] or len(again.keywords) + len(again.args) != len(texts):
        raise Unread(line, f"another call of the operator: '{ast.unparse(again)}'")
    match wrapper.file.values.get(ast.unparse(again.func)):
        case ast.Call(func=ast.Name(id=made), args=args) if OPERATORS.get(made) == len(args):
            wrapper.must_know(made, line)
            run, like, schemas = ast.unparse(args[1]), ast.unparse(args[2]), args[3:]
        case _:
            raise Unread(line, f"what '{ast.unparse(again.func)}' is")
    own = wrapper.wanted if wrapper.wanted in wrapper.file.texts else f"{wrapper.wanted}_"
    if run != own:
        raise Unread(line, f"an operator that runs '{run}'")
    if [*_operators(wrapper)].count(ast.unparse(args[0])) > 1:
        raise Unread(line, "two operators of one name")
    for schema, are_tensors in zip(schemas, (False, True), strict=False):
        _check_schema(wrapper, schema, given, are_tensors)
    wrapper.like = like


def _operators(wrapper: Wrapper) -> Iterator[str]:
    """Yield the names of all operators of the file."""
    for one in wrapper.file.values.values():
        match one:
            case ast.Call(func=ast.Name(id=made), args=[called, *_]) if made in OPERATORS:
                yield ast.unparse(called)
            case _:
                pass


def _check_schema(
    wrapper: Wrapper, schema: ast.expr, given: Sequence[str], are_tensors: bool
) -> None:
    """Refuse a schema that does not declare the wrapper's parameters in their order.

    `are_tensors` is for the second schema, in which numbers are tensors.
    """
    text = schema.value if isinstance(schema, ast.Constant) else None
    words = text.split(", ") if isinstance(text, str) else []
    # A star stands before the arguments that are given by name only, in the schema as in the
    # wrapper.
    named = [one.arg for one in wrapper.file.plain[wrapper.wanted].args.kwonlyargs]
    stars = [given.index(one) for one in given if one in named][:1]
    if [at for at, one in enumerate(words) if one == "*"] != stars:
        raise Unread(schema.lineno, f"an operator that takes {ast.unparse(schema)}")
    words = [one.removesuffix("_") for one in words if one != "*"]
    if words != [_declared(wrapper, one, are_tensors).removesuffix("_") for one in given]:
        raise Unread(schema.lineno, f"an operator that takes {ast.unparse(schema)}")


def _declared(wrapper: Wrapper, one: str, are_tensors: bool) -> str:
    """Return how a parameter may be declared in a schema."""
    if one in wrapper.arrays:
        return f"Tensor {one}"
    if one in wrapper.scalars:
        kind = wrapper.scalars[one]
        word = "float" if not kind or is_float(kind) else "bool" if kind == "tl.int1" else "int"
        return f"{'Tensor' if are_tensors else word} {one}"
    if one == "device":
        return "Device? device=None"
    if isinstance(wrapper.names.get(one), Maybe):
        return f"SymInt? {one}=None"
    # The parameter is a size, or a tensor that nothing reads.
    return f"SymInt {one}" if one in wrapper.names else f"Tensor? {one}"


def check_like(wrapper: Wrapper, started: Mapping[str, Held], made: Array) -> None:
    """Refuse a result that torch is told of and the wrapper does not make. Raises Unread."""
    definition = wrapper.file.plain.get(wrapper.like)
    if definition is None:
        raise Unread(1, f"there is no function '{wrapper.like}'")
    parameters = [one.arg for one in (*definition.args.args, *definition.args.kwonlyargs)]
    wanted = [one for one in wrapper.parameters if one != OUT]
    # Here a name that Python needs for itself ends in an underscore.
    if [one.removesuffix("_") for one in parameters] != [one.removesuffix("_") for one in wanted]:
        raise Unread(definition.lineno, f"the parameters of '{wrapper.like}'")
    own = {a: started[b] for a, b in zip(parameters, wanted, strict=True) if b in started}
    names = {
        # A size that would be refused has no result, so it counts as checked here.
        a: replace(held, is_checked=True) if isinstance(held, Maybe) else held
        for a, held in {**started, **own}.items()
    }
    apart = replace(wrapper, names=names, arrays=dict(wrapper.arrays), facts=_of_sizes(wrapper))
    for node in definition.body:
        match node:
            case ast.Expr(value=ast.Constant(value=str())):
                continue
            case ast.Assign(targets=[ast.Name(id=one)], value=given):
                apart.names[one] = value(apart, given)
            case ast.If(
                test=test, body=[ast.Assign(targets=[ast.Name(id=one)], value=given)], orelse=[]
            ) if ast.unparse(test) == f"{one} is None":
                leave_out(apart, one, given)
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=given):
                parts = apart.parts(value(apart, given), given)
                for element, part in zip(elements, parts, strict=True):
                    apart.names[ast.unparse(element)] = part
            case ast.Return(value=ast.Call() as call):
                told = value(apart, call)
                if not isinstance(told, TensorOf) or told.array.shape != made.shape:
                    raise Unread(node.lineno, f"'{wrapper.like}' says another shape")
                if told.array.kind != made.kind:
                    raise Unread(node.lineno, f"'{wrapper.like}' says another type")
                if ast.unparse(call.func) != wrapper.maker:
                    raise Unread(node.lineno, f"'{wrapper.like}' says other strides")
                return
            case _:
                raise Unread(node.lineno, f"a statement of '{wrapper.like}'")
    raise Unread(definition.lineno, f"'{wrapper.like}' says nothing")


def _of_sizes(wrapper: Wrapper) -> list[Truth]:
    """Return the facts that no size is negative."""
    sizes = [extent for array in wrapper.arrays.values() for extent in array.shape]
    sizes += [name(size_name(label)) for label in wrapper.left_out]
    return [compare(">=", size, number(0)) for size in sizes]
