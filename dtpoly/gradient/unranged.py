"""Writes the ranges of labels as masks, which mean the same.

A gradient sums over other labels than the algorithm did. A range may only name labels around it, so
`RVar l in [0, m + 1)` has no place in a sum over m.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.data_ranges import FALSE, NOTHING, OF_FLOATS
from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Conditions,
    Dot,
    Expr,
    Integer,
    Read,
    Reduce,
    map_children,
)
from dtpoly.algorithm.inference import Types, type_of, types_of
from dtpoly.algorithm.operations import LIST
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.substitute import as_condition
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.gradient.derived_nodes import plain
from dtpoly.gradient.messages import no_rule


def without_ranges(program: Program) -> Program:
    """Return the program with masks in the place of ranges. Raises DtpolyError if there is none."""
    if not program.ranges:
        return program
    types = types_of(program)
    whole = {func.name: func for func in program.funcs}
    funcs = tuple(_without(func, types, whole) for func in program.funcs)
    labels = tuple(replace(label, range=None) for label in program.labels)
    return replace(program, labels=labels, funcs=funcs)


def _without(func: Func, types: Types, funcs: Mapping[str, Func]) -> Func:
    body = _masked(func.body, types, funcs)
    condition = as_condition(func.when)
    if condition is not None:
        is_truth = type_of(func.body, types).dtype is DType.BOOL
        body = Apply("where", (condition, body, FALSE if is_truth else Integer(0)), body.span)
    return replace(func, body=body, when=())


def _masked(expr: Expr, types: Types, funcs: Mapping[str, Func]) -> Expr:
    """Return an expression whose reductions take of each range what its mask says."""
    match expr:
        case Apply(operation="rtopk", operands=(Reduce(when=when) as listed, place)) if when:
            # Of the largest values, -inf is one only where there are no others.
            operand = _masked(listed.operand, types, funcs)
            dtype = type_of(operand, types).dtype
            if dtype is None or is_float(dtype):
                masked = _where(operand, when, NOTHING["rmax"], funcs)
                return replace(expr, operands=(replace(listed, operand=masked, when=()), place))
        case _:
            pass
    made = map_children(expr, lambda one: _masked(one, types, funcs))
    match made:
        case Reduce(scan=scan, when=when) if scan is not None:
            if len(when) > len(scan.conditions(made.labels[0])):
                raise DtpolyError([_no_mask(made)])
            return made
        case Reduce(when=when) | Dot(when=when) if not when:
            return made
        case Reduce(operation=operation, operand=operand, when=when):
            dtype = type_of(operand, types).dtype
            is_whole = operation in OF_FLOATS and dtype is not None and not is_float(dtype)
            if operation not in NOTHING or is_whole:
                raise DtpolyError([_no_mask(made)])
            nothing = NOTHING[operation]
            if operation == "rsum" and dtype is DType.BOOL:
                nothing = FALSE
            return replace(made, operand=_where(operand, when, nothing, funcs), when=())
        case Dot(left=left, right=right, when=when):
            if _is_zero_outside(right, when, funcs):
                return replace(made, when=())
            return replace(made, left=_where(left, when, Integer(0), funcs), when=())
        case _:
            return made


def _where(operand: Expr, when: Conditions, nothing: Expr, funcs: Mapping[str, Func]) -> Expr:
    condition = as_condition(when)
    if condition is None or (nothing == Integer(0) and _is_zero_outside(operand, when, funcs)):
        return operand
    return Apply("where", (condition, operand, nothing), operand.span)


def _is_zero_outside(expr: Expr, when: Conditions, funcs: Mapping[str, Func]) -> bool:
    """Return whether an operand is an element of a Func that is 0 where a condition fails."""
    if not isinstance(expr, Read) or expr.tensor not in funcs or expr.padding is not None:
        return False
    func = funcs[expr.tensor]
    is_own = expr.indices == tuple([plain(label) for label in func.labels])
    return is_own and set(when) <= set(func.when)


def _no_mask(expr: Reduce) -> Diagnostic:
    word = {LIST: "rargtopk", "raffine": "scan_affine"}.get(expr.operation, expr.operation)
    return no_rule(
        f"'{word}' over a range",
        expr.span,
        "no value changes nothing here, for the indices outside of the range",
        "use a label without a range, and write a mask",
    )
