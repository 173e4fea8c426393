"""Says what to write instead of a Func that reads itself: a scan or a reduction.

h[t] = a[t] * h[t - 1] + b[t];      is      h[t] = scan_affine(a[s], b[s], s, t, 0);
"""

from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Expr,
    Integer,
    Read,
    Reduce,
    ScanOrder,
    children,
    reads,
)
from dtpoly.algorithm.operations import RECURRENCE
from dtpoly.algorithm.program import Func, Program
from dtpoly.algorithm.show import show_expr
from dtpoly.algorithm.substitute import substituted
from dtpoly.frozen import dataclass

REDUCED = "to add up over a label use a reduction, as in rsum(A[x, k], k)"
SCANNED = (
    "a value that goes on along a label is a scan: scan_sum(A[s], s, t), scan_prod, scan_max or "
    "scan_min; or scan_affine(a[s], b[s], s, t, h0) for h = a * h + b, which begins with h0"
)
ZERO, ONE = Integer(0), Integer(1)
OF_TWO = {"maximum": "rmax", "minimum": "rmin"}


def instead_of_cycle(program: Program, funcs: list[str]) -> str:
    """Return what to write instead of Funcs that are defined by each other."""
    if len(funcs) > 1:
        return f"{REDUCED}; {SCANNED}"
    func = next(one for one in program.funcs if one.name == funcs[0])
    own = [read for read in reads(func.body) if read.tensor == func.name]
    if all(_is_at(read, func, {}) for read in own):
        return REDUCED
    scan = _scan(program, func, own)
    if scan is None:
        return SCANNED
    left = f"{func.name}[{', '.join(func.labels)}]"
    return f"it is a scan: write {left} = {show_expr(scan)}; and declare RVar {scan.labels[0]};"


def _is_at(read: Read, func: Func, apart: dict[str, int]) -> bool:
    """Return whether a Func reads itself at its own labels, some of them that far apart."""
    own = tuple(Affine(((label, 1),), apart.get(label, 0)) for label in func.labels)
    return read.indices == own


def _scan(program: Program, func: Func, own: list[Read]) -> Reduce | None:
    """Return the scan that a Func is which reads its element before, or None if it is none."""
    found = [
        (label, step)
        for label in func.labels
        for step in (-1, 1)
        if all(_is_at(read, func, {label: step}) for read in own)
    ]
    if len(own) != 1 or len(found) != 1:
        return None
    ((label, step),), (read,) = found, own
    order = ScanOrder(label, is_reverse=step > 0)
    name = _new_name(program)
    put = {label: Affine(((name, 1),))}

    def over(expr: Expr) -> Expr:
        return substituted(expr, put, ())

    body = func.body
    if isinstance(body, Apply) and body.operation in OF_TWO and read in body.operands:
        (other,) = (one for one in body.operands if one is not read)
        return Reduce(OF_TWO[body.operation], over(other), (name,), scan=order)
    step_of = _linear(body, read)
    if step_of is None:
        return None
    factor, added = step_of.factor, step_of.added
    if factor == ONE:
        return Reduce("rsum", over(added), (name,), scan=order)
    if added == ZERO:
        return Reduce("rprod", over(factor), (name,), scan=order)
    order = replace(order, factor=over(factor), initial=read.padding or ZERO)
    return Reduce(RECURRENCE, over(added), (name,), scan=order)


def _new_name(program: Program) -> str:
    """Return a name for the label that is scanned, which nothing in the program has."""
    taken = {one.name for one in (*program.labels, *program.inputs, *program.funcs)}
    names = ("s", "u", "k", *(f"s{number}" for number in range(len(taken) + 1)))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True, slots=True)
class _Linear:
    """The value factor * r + added of a read r, which stands in neither of the two."""

    factor: Expr
    added: Expr


def _linear(expr: Expr, read: Read) -> _Linear | None:
    """Return an expression as one that is linear in a read; None if it is not of that form."""
    if expr is read:
        return _Linear(ONE, ZERO)
    if not any(one is read for one in reads(expr)):
        return _Linear(ZERO, expr)
    if not isinstance(expr, Apply) or expr.operation not in ("add", "sub", "mul", "neg"):
        return None
    parts = [_linear(part, read) for part in children(expr)]
    if any(part is None for part in parts):
        return None
    one, *others = (part for part in parts if part is not None)
    if expr.operation == "neg":
        return _Linear(_difference(ZERO, one.factor), _difference(ZERO, one.added))
    other = others[0]
    if expr.operation == "mul":
        if other.factor != ZERO:
            one, other = other, one
        if other.factor != ZERO:
            return None
        return _Linear(_product(one.factor, other.added), _product(one.added, other.added))
    join = _sum if expr.operation == "add" else _difference
    return _Linear(join(one.factor, other.factor), join(one.added, other.added))


def _sum(left: Expr, right: Expr) -> Expr:
    if ZERO in (left, right):
        return right if left == ZERO else left
    return Apply("add", (left, right))


def _difference(left: Expr, right: Expr) -> Expr:
    if right == ZERO:
        return left
    return Apply("neg", (right,)) if left == ZERO else Apply("sub", (left, right))


def _product(left: Expr, right: Expr) -> Expr:
    if ZERO in (left, right):
        return ZERO
    if ONE in (left, right):
        return right if left == ONE else left
    return Apply("mul", (left, right))
