"""Says what a scan reads where, and checks that each scan has a meaning.

A scan `scan_sum(A[x, s], s, t)` is a reduction over s, for each index of t. Its order along t gives
one pass over the elements: the element that comes in at an index is the operand at that index.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import (
    Affine,
    Cast,
    Dot,
    Expr,
    Read,
    Reduce,
    SizedIndex,
    children,
    free_labels,
    map_children,
    reads,
    walk,
)
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.operations import RECURRENCE, SCAN
from dtpoly.algorithm.program import Func, Part, Program
from dtpoly.algorithm.show import show_expr
from dtpoly.algorithm.substitute import substituted
from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.source import Span

# By reductions, what changes nothing in a scan.
_NEUTRAL = {"rsum": "0", "rprod": "1", "rmax": "-inf", "rmin": "inf"}
NO_PARTS: Mapping[str, Part] = MappingProxyType({})


def scans_of(expr: Expr) -> Iterator[Reduce]:
    """Yield the scans in an expression."""
    return (node for node in walk(expr) if isinstance(node, Reduce) and node.scan is not None)


def scanned(scan: Reduce) -> tuple[Expr, ...]:
    """Return what a scan has an element of at each index: the operand, and a factor if any."""
    order = scan.scan
    return (scan.operand, *(order.beside[:1] if order is not None else ()))


def coming_in(scan: Reduce, parts: Mapping[str, Part] = NO_PARTS) -> Reduce:
    """Return the scan with the elements that come in at an index: those there, or beside it.

    Where there is no such element, the reads of it are not done. The index may number parts: a part
    is there if its first index is.
    """
    (label,), order = scan.labels, scan.scan
    assert order is not None
    index = Affine(((order.at, 1),), -order.step)
    part = parts.get(order.at)
    first = index if part is None else Affine(((order.at, part.size),), -order.step * part.size)
    within = ((first, order.at if part is None else part.of),) if order.step else ()
    put = {label: index}
    if order.factor is not None:
        order = replace(order, factor=substituted(order.factor, put, within))
    return replace(scan, operand=substituted(scan.operand, put, within), scan=order)


def at_results(expr: Expr) -> Expr:
    """Return an expression in which each scan reads its elements at the indices of its results.

    What moves between memory and registers can be seen in it.
    """
    expr = map_children(expr, at_results)
    if not isinstance(expr, Reduce) or expr.scan is None:
        return expr
    put = dict.fromkeys(expr.labels, Affine(((expr.scan.at, 1),)))
    order = expr.scan
    if order.factor is not None:
        order = replace(order, factor=substituted(order.factor, put, ()))
    return replace(expr, operand=substituted(expr.operand, put, ()), scan=order)


def first_conditions(scan: Reduce, parts: Mapping[str, Part] = NO_PARTS) -> tuple[SizedIndex, ...]:
    """Return the conditions for an element to come in at an index; all of them do if empty.

    The `parts` are those that labels number. A scan along the label of a part has the elements of
    that part alone.
    """
    order = scan.scan
    assert order is not None
    if not order.step:
        return ()
    at, one = SizedIndex(Affine(((order.at, 1),))), SizedIndex(Affine((), 1))
    size = SizedIndex(Affine(), Affine(((order.at, 1),)))
    numbered = parts.get(order.at)
    if numbered is not None:
        at, size = at.scaled(numbered.size), SizedIndex(Affine(), Affine(((numbered.of, 1),)))
    width = numbered.size if numbered else 1
    found = [size - at - SizedIndex(Affine((), width + 1))] if order.is_reverse else [at - one]
    for number, part in parts.items():
        if part.of == order.at:
            start = SizedIndex(Affine(((number, part.size),)))
            last = SizedIndex(Affine(((number, part.size),), part.size - 1))
            found.append((last - at if order.is_reverse else at - start) - one)
    return tuple(found)


def check_scanned(program: Program) -> list[Diagnostic]:
    """Report each scan of what has another type than it needs."""
    types = types_of(program)
    scans = [scan for func in program.funcs for scan in scans_of(func.body)]
    return [
        *(
            _wrong(
                scan.operand.span,
                f"'{SCAN[scan.operation]}' needs numbers",
                "is bool",
                f"cast it, which makes 0 and 1 of it: cast({show_expr(scan.operand)}, i32)",
            )
            for scan in scans
            if scan.operation not in ("rsum", RECURRENCE)
            and type_of(scan.operand, types).dtype is DType.BOOL
        ),
        *(
            _wrong(
                scan.span,
                f"'{SCAN[scan.operation]}' needs floats",
                f"is {dtype}",
                "cast an operand, as in "
                f"{show_expr(replace(scan, operand=Cast(scan.operand, DType.F32)))}",
            )
            for scan in scans
            if scan.operation == RECURRENCE
            and (dtype := type_of(scan, types).dtype) is not None
            and not is_float(dtype)
        ),
    ]


def check_scans(program: Program, func: Func) -> list[Diagnostic]:
    """Report each scan of a Func that stands where it has no meaning, or has an operand of none."""
    return list(_inside(program, func, func.body, None))


def _inside(
    program: Program, func: Func, expr: Expr, around: Reduce | Dot | None
) -> Iterator[Diagnostic]:
    if isinstance(expr, Reduce) and expr.scan is not None:
        yield from _check(program, func, expr, around)
    inner = expr if isinstance(expr, Reduce | Dot) else around
    for child in children(expr):
        yield from _inside(program, func, child, inner)


def _check(
    program: Program, func: Func, scan: Reduce, around: Reduce | Dot | None
) -> Iterator[Diagnostic]:
    (label,), order = scan.labels, scan.scan
    assert order is not None
    word, at = SCAN[scan.operation], order.at
    if around is not None:
        yield _wrong(
            scan.span,
            f"'{word}' stands inside of a reduction",
            "has a result for each index of the left side, and of nothing else",
            f"give it a Func of its own, such as part[..., {at}] = {show_expr(scan)}, and read "
            "that here",
        )
    elif at not in func.labels:
        yield _wrong(
            scan.span,
            f"'{word}' has a result for each index of '{at}', which '{func.name}' lacks",
            f"'{at}' is not on the left side",
            f"put '{at}' on the left side"
            + (
                ""
                if order.factor is not None
                else "; if only the last result is meant, it is "
                f"{scan.operation}({show_expr(scan.operand)}, {label})"
            ),
        )
    inside = [read for one in scanned(scan) for read in reads(one)]
    if any(at in free_labels(one) for one in scanned(scan)):
        yield _wrong(
            next((read.span for read in inside if _reads(read, at)), scan.span),
            f"the operand of '{word}' depends on '{at}', the index of the result",
            f"differs for each index of '{at}'",
            f"write '{label}' for '{at}' in it, or take a factor that depends on '{at}' out of "
            "the scan",
        )
    initial = order.initial
    if initial is not None and {label, at} & {*free_labels(initial)}:
        yield _wrong(
            initial.span,
            f"the initial value of '{word}' depends on the index of an element",
            f"depends on '{label if label in free_labels(initial) else at}'",
            "write one value for all indices, such as 0 or the state at the end of the last call",
        )
    if label in program.ranges:
        yield _wrong(
            scan.span,
            f"'{word}' goes over '{label}', which has a range",
            "goes over all elements up to an index",
            f"scan a label without a range, and a mask: {masked_scan(scan)}",
        )


def masked_scan(scan: Reduce) -> str:
    """Return a scan of the same kind with a mask, for a hint: what it hides changes nothing."""
    word = SCAN[scan.operation]
    at = "" if scan.scan is None else scan.scan.at
    if scan.operation == RECURRENCE:
        return f"{word}(where(condition, a, 1), where(condition, b, 0), s, {at}, h)"
    return f"{word}(where(condition, e, {_NEUTRAL[scan.operation]}), s, {at})"


def _reads(read: Read, label: str) -> bool:
    return any(label in index.labels for index in read.indices)


def _wrong(span: Span | None, title: str, label: str, hint: str) -> Diagnostic:
    return Diagnostic("DT218", Severity.ERROR, title, span, label, hint=hint)
