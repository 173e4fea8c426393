"""Puts the definition of a Func in the place of its reads, for the directive `inline`."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Expr,
    Index,
    Integer,
    Read,
    Reshape,
    Size,
    map_children,
    walk,
)
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.program import Func, Program, in_order

# Pairs of an index and a label: a value is used only where each index is in its label's range.
Within = tuple[tuple[Affine, str], ...]


def parts_of(program: Program, names: Collection[str]) -> dict[str, int]:
    """Return how many nodes the expression of each Func would have after these Funcs are inlined.

    The expressions are counted and not built: in a chain of Funcs, each of which reads the one
    before twice, every step doubles the number.
    """
    found: dict[str, int] = {}
    for func in in_order(program):
        nodes = list(walk(func.body))
        read = (node.tensor for node in nodes if isinstance(node, Read))
        found[func.name] = len(nodes) + sum(found[one] for one in read if one in names)
    return found


def inlined(program: Program, name: str) -> Program:
    """Return the Program without a Func that has no reductions; its readers compute its elements.

    Each element is cast to the type of the Func, because a weak number in the definition was an
    element of a tensor to the readers.
    """
    func = program.find_func(name)
    if func is None:
        return program
    body = type_of(func.body, types_of(program))
    if body.weak or (func.dtype is not None and func.dtype != body.dtype):
        dtype = func.dtype or body.dtype or DType.F32
        func = replace(func, body=Cast(func.body, dtype))
    funcs = tuple(
        replace(other, body=_inlined(other.body, func))
        for other in program.funcs
        if other.name != name
    )
    return replace(program, funcs=funcs)


def _inlined(expr: Expr, func: Func) -> Expr:
    expr = map_children(expr, lambda child: _inlined(child, func))
    if not isinstance(expr, Read) or expr.tensor != func.name:
        return expr
    put = dict(zip(func.labels, expr.indices, strict=True))
    own = tuple((index, label) for label, index in put.items()) if expr.padding is not None else ()
    element = _substituted(func.body, put, (*expr.within, *own))
    if expr.padding is None:
        return element
    inside: Expr | None = None
    for label, index in put.items():
        for condition in (
            Apply("ge", (as_expr(index), Integer(0))),
            Apply("lt", (as_expr(index), Size(label))),
        ):
            inside = condition if inside is None else Apply("and", (inside, condition))
    return element if inside is None else Apply("where", (inside, element, expr.padding))


def _substituted(expr: Expr, put: Mapping[str, Affine], within: Within) -> Expr:
    """Return the expression with indices in the place of labels.

    Where `within` restricts it, reads get a padding, because the values outside are not used.
    """
    match expr:
        case Index(label=label) if label in put:
            return as_expr(put[label])
        case Read(indices=indices, padding=padding):
            moved = tuple(index.substitute(put) for index in indices)
            if padding is not None:
                padding = _substituted(padding, put, within)
            elif within:
                padding = Integer(0)
            mine = tuple((index.substitute(put), label) for index, label in expr.within)
            return replace(expr, indices=moved, padding=padding, within=(*within, *mine))
        case Reshape(operand=operand):
            # The labels line up by value here, so the reshape is dropped. The new indices may not
            # be plain.
            return _substituted(operand, put, within)
        case _:
            return map_children(expr, lambda one: _substituted(one, put, within))


def as_expr(index: Affine) -> Expr:
    """Return an index as an expression."""
    total: Expr | None = None
    for label, coefficient in index.terms:
        term: Expr = Index(label)
        if coefficient != 1:
            number: Expr = Integer(abs(coefficient))
            term = Apply("mul", (number, term))
            term = Apply("neg", (term,)) if coefficient < 0 else term
        total = term if total is None else Apply("add", (total, term))
    if total is None or index.constant:
        number = Integer(abs(index.constant))
        number = Apply("neg", (number,)) if index.constant < 0 else number
        total = number if total is None else Apply("add", (total, number))
    return total
