"""Gives types to what a gradient keeps, multiplies and returns, where inputs have several types.

Without a declared type a Func has one that holds the values of all that it is computed of. That is
right as long as all inputs have one type. What is kept for a gradient of 16-bit inputs has 32 bits,
and all that is computed of it would have 32 bits, too.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Cast, Dot, Expr, Read, map_children, walk
from dtpoly.algorithm.inference import InferredType, type_of, types_of
from dtpoly.algorithm.program import Argument, Directive, Func, Program, Tensor
from dtpoly.directives.built_in import COMPILING, FUSING, JOINING
from dtpoly.gradient.derived_nodes import read_at
from dtpoly.gradient.naming import FreeNames


def with_copies(program: Program, funcs: Iterable[str], dtype: DType) -> Program:
    """Return a Program that returns copies of some Funcs which have a type of their own.

    A Func that is computed inside of another one's kernel gets a copy there, at its end, so that
    the Func itself and what is computed of it keep their types. A Func with a kernel of its own is
    in memory in its own type already, and is returned as it is.
    """
    names, copies, placed = FreeNames(program), dict[str, Func](), list[Directive]()
    for one in funcs:
        func = program.func(one)
        own = [d for d in program.directives if d.func == one]
        place = next((d for d in own if d.name in (FUSING, JOINING)), None)
        if func.dtype is not None or (own and place is None):
            continue
        name = names.new(f"kept_{one}")
        copies[one] = Func(name, func.labels, read_at(one, func.labels), dtype)
        if place is None:
            continue
        at = place.arguments
        if place.name == JOINING:  # it is known where the loop ends
            at = (at[0], Argument(func.labels[-1]))
        placed.append(Directive(name, FUSING, at))
    directives = tuple(_returning(one, copies) for one in program.directives)
    every = (*program.funcs, *copies.values())
    return replace(program, funcs=every, directives=(*directives, *placed))


def _returning(directive: Directive, copies: Mapping[str, Func]) -> Directive:
    if directive.name not in COMPILING:
        return directive
    arguments = tuple(
        replace(one, target=copies[str(one.target)].name) if str(one.target) in copies else one
        for one in directive.arguments
    )
    return replace(directive, arguments=arguments)


def with_types(
    program: Program, inputs: Mapping[str, DType], results: Mapping[str, DType]
) -> Program:
    """Return a Program whose results have these types, and which multiplies as its inputs are.

    Where a product has an input of 16 bits on one side, and on the other one what was computed in
    32, this is rounded, as it would be if nothing of 32 bits were read. So tensor cores multiply.
    """
    starts = {added: start for start, added in program.starts.items()}
    own = {starts.get(one, one): dtype for one, dtype in results.items()}
    own = {one: dtype for one, dtype in own.items() if program.func(one).dtype is None}
    funcs = tuple(replace(one, dtype=own.get(one.name, one.dtype)) for one in program.funcs)
    made = replace(program, funcs=funcs)
    declared = tuple(
        replace(one, dtype=inputs.get(one.name, one.dtype)) if isinstance(one, Tensor) else one
        for one in made.inputs
    )
    types = types_of(replace(made, inputs=declared))
    sides = dict[str, DType]()
    for func in made.funcs:
        for wide, dtype in _widened(func, types):
            if isinstance(wide, Read) and _is_open(made, wide.tensor):
                sides[wide.tensor] = dtype
    funcs = tuple(replace(one, dtype=sides.get(one.name, one.dtype)) for one in made.funcs)
    return replace(made, funcs=tuple(_cast_sides(one, types, sides) for one in funcs))


def _is_open(program: Program, name: str) -> bool:
    func = program.find_func(name)
    return func is not None and func.dtype is None


def _widened(func: Func, types: Mapping[str, InferredType]) -> Iterator[tuple[Expr, DType]]:
    """Yield sides of products that are wider than the 16-bit ones they are multiplied with."""
    for node in walk(func.body):
        if isinstance(node, Dot):
            for one, other in ((node.left, node.right), (node.right, node.left)):
                wide, narrow = (type_of(side, types).dtype for side in (one, other))
                if wide is None or narrow is None or not (is_float(wide) and is_float(narrow)):
                    continue
                if narrow in (DType.F16, DType.BF16) and wide is DType.F32:
                    yield one, narrow


def _cast_sides(func: Func, types: Mapping[str, InferredType], sides: Mapping[str, DType]) -> Func:
    """Round the sides of products that are no Funcs of their own."""
    found = [(one, dtype) for one, dtype in _widened(func, types)]

    def put(expr: Expr) -> Expr:
        for one, dtype in found:
            if expr is one and not (isinstance(one, Read) and one.tensor in sides):
                return Cast(expr, dtype)
        return map_children(expr, put)

    return replace(func, body=put(func.body)) if found else func
