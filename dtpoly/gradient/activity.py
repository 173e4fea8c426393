"""Finds what a gradient flows through: the Funcs that depend on an input by derivatives."""

from collections.abc import Collection

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    children,
)
from dtpoly.algorithm.program import Program, in_order
from dtpoly.diagnostics import DtpolyError
from dtpoly.gradient.element_rules import FLAT, RULES
from dtpoly.gradient.messages import no_rule

UNKNOWN = "has no rule, and is not known to be flat"
WAY = "leave the inputs out of --by that it reads, or write it by operations that have a rule"
WITHOUT_GRADIENT = frozenset({"rany", "rall", "rargmax", "rargmin"})


def is_active(expr: Expr, active: Collection[str]) -> bool:
    """Return whether a gradient flows through an expression to one of some tensors or numbers."""
    match expr:
        case Read(tensor=tensor, padding=padding):
            return tensor in active or (padding is not None and is_active(padding, active))
        case ScalarRead(name=name):
            return name in active
        case Cast(operand=operand, dtype=dtype):
            return is_float(dtype) and is_active(operand, active)
        case Apply(operation="rtopk", operands=(listed, _)):
            return is_active(listed, active)
        case Apply(operation="where", operands=(_, yes, no)):
            return is_active(yes, active) or is_active(no, active)
        case Apply(operation=operation) if operation in FLAT:
            return False
        case Apply(operation=operation, operands=operands, span=span):
            found = any(is_active(one, active) for one in operands)
            if found and operation not in RULES:
                raise DtpolyError([no_rule(f"'{operation}'", span, UNKNOWN, WAY)])
            return found
        case Reduce(operation=operation) if operation in WITHOUT_GRADIENT:
            return False
        case Reduce() | Dot() | Reshape():
            return any(is_active(one, active) for one in children(expr))
        case _:
            return False


def active_names(program: Program, by: Collection[str]) -> frozenset[str]:
    """Return the inputs of `by` and all Funcs through which a gradient flows to them."""
    active = set(by)
    for func in in_order(program):
        if is_active(func.body, active):
            active.add(func.name)
        if func.into is not None and func.into.at is not None and func.into.tensor in active:
            active.add(func.name)  # its result has what was there
    return frozenset(active)
