"""Derives the gradients of scans and products, which are scans in the other direction.

A recurrence h = a * h + b gives to b what reaches h from all later results: a recurrence from the
end, whose factor at each step is that of the step after it. A product of all is a product of those
before and of those behind, so that nothing is divided by an element that is 0.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Affine,
    Expr,
    Float,
    Index,
    Read,
    Reduce,
    ScanOrder,
    Size,
    free_labels,
    reads,
)
from dtpoly.algorithm.program import Func
from dtpoly.gradient.derivation import Derivation
from dtpoly.gradient.derived_nodes import ONE, ZERO, applied, chosen, plain, read_at, times
from dtpoly.gradient.turning import with_indices

# An operand, what it is given, and the labels around it.
Given = tuple[Expr, Expr, tuple[str, ...]]


def scan_of(operation: str, operand: Expr, label: str, order: ScanOrder) -> Reduce:
    """Return a scan over a label."""
    return Reduce(operation, operand, (label,), when=order.conditions(label), scan=order)


def given_by_scan(func: Func, d: Expr, derivation: Derivation) -> Iterator[Given]:
    """Yield what a scan gives to its operands."""
    scan = func.body
    assert isinstance(scan, Reduce)
    order = scan.scan
    assert order is not None
    (label,) = scan.labels
    labels = tuple(label if one == order.at else one for one in func.labels)
    match scan.operation:
        case "rsum":
            derivation.rule("scan_sum gives to an element the sum of d over all results behind it")
            back = ScanOrder(label, order.is_before, not order.is_reverse)
            name = derivation.func(
                f"d_{func.name}_sums",
                labels,
                scan_of("rsum", d, order.at, back),
                f"of each element, what all results of {func.name} were given that have it",
            )
            yield scan.operand, read_at(name, labels), labels
        case "rprod":
            whole = replace(order, factor=scan.operand, initial=ONE)
            yield from _given_by_states(func, scan_of("raffine", ZERO, label, whole), d, derivation)
        case "raffine":
            yield from _given_by_states(func, scan, d, derivation)
        case "rmax" | "rmin":
            yield _given_by_running(func, scan, d, derivation)
        case _:
            raise AssertionError(f"no such scan: {scan.operation}")


def _given_by_running(func: Func, scan: Reduce, d: Expr, derivation: Derivation) -> Given:
    """Return what a running maximum gives: all until the next element that is the largest so far.

    Among equal elements it is the last one, as in torch.
    """
    order = scan.scan
    assert order is not None
    (label,), at = scan.labels, order.at
    derivation.rule(
        "scan_max and scan_min give d to the last element that is the largest or smallest so far"
    )
    labels = tuple(label if one == at else one for one in func.labels)
    so_far = func.name
    if order.is_before:
        so_far = derivation.func(
            f"{func.name}_so_far",
            func.labels,
            scan_of(scan.operation, scan.operand, label, replace(order, is_before=False)),
            f"{func.name}, with the element itself",
        )
    extreme = Read(so_far, tuple(plain(label if one == at else one) for one in func.labels))
    is_it = applied("eq", scan.operand, extreme)
    goes_on = derivation.func(
        f"{func.name}_goes_on",
        labels,
        chosen(is_it, ZERO, Float(1.0)),
        f"0 where {func.name} takes another element",
    )
    states = _back(func, scan, read_at(goes_on, labels), d, derivation)
    return scan.operand, chosen(is_it, read_at(states, labels)), labels


def _back(func: Func, scan: Reduce, factor: Expr, d: Expr, derivation: Derivation) -> str:
    """Add what reaches each step from all results behind it; return the name of the Func.

    The factor of each step is that of the next one: an element of a tensor, or alike for all steps.
    """
    order = scan.scan
    assert order is not None
    (label,), at = scan.labels, order.at
    labels = tuple(label if one == at else one for one in func.labels)
    next_one = Affine(((at, 1),), -1 if order.is_reverse else 1)
    moved = with_indices(factor, {label: next_one})
    if isinstance(moved, Read) and moved != factor:
        moved = replace(moved, padding=ZERO)
    if order.is_before:
        gift = derivation.func(
            f"d_{func.name}_results", func.labels, d, f"what the results of {func.name} were given"
        )
        d = Read(gift, tuple(next_one if one == at else plain(one) for one in func.labels), ZERO)
    back = ScanOrder(label, False, not order.is_reverse, moved, ZERO)
    return derivation.func(
        f"d_{func.name}_states",
        labels,
        scan_of("raffine", d, at, back),
        f"what each state of {func.name} is given by all results behind it",
    )


def _given_by_states(func: Func, scan: Reduce, d: Expr, derivation: Derivation) -> Iterator[Given]:
    """Yield what a recurrence gives to its factor, to what it adds, and to its initial state."""
    order = scan.scan
    assert order is not None
    assert order.factor is not None
    assert order.initial is not None
    derivation.rule(
        "scan_affine(a, b, ...) gives g = d + (the next a) * (the next g) to b, and g * (the state "
        "before) to a"
    )
    (label,), at = scan.labels, order.at
    rest = tuple(one for one in func.labels if one != at)
    labels = tuple(label if one == at else one for one in func.labels)
    factor = order.factor
    if label in free_labels(factor) and not _is_element(factor, derivation):
        said = f"the factors of {func.name}"
        factor = read_at(derivation.func(f"{func.name}_factors", labels, factor, said), labels)
    states = _back(func, scan, factor, d, derivation)
    given = read_at(states, labels)
    before = func.name
    if not order.is_before:
        before = derivation.func(
            f"{func.name}_before",
            func.labels,
            scan_of(scan.operation, scan.operand, label, replace(order, is_before=True)),
            f"the state before each step of {func.name}",
        )
    state = Read(before, tuple(plain(label if one == at else one) for one in func.labels))
    yield scan.operand, given, labels
    yield order.factor, times(given, state), labels
    end: Expr = applied("sub", Size(label), ONE) if order.is_reverse else ZERO
    first = times(given, factor)
    if order.is_before:
        # The first result is the initial state itself.
        own = {at: plain(label)}
        first = applied("add", first, with_indices(d, own))
    yield order.initial, chosen(applied("eq", Index(label), end), first), (*rest, label)


def _is_element(factor: Expr, derivation: Derivation) -> bool:
    """Return whether a factor is an element of a tensor that has one for each step and no more."""
    return isinstance(factor, Read) and all(
        one.plain is not None and (factor.tensor, axis, one.plain) in derivation.whole
        for axis, one in enumerate(factor.indices)
    )


def given_by_product(func: Func, d: Expr, derivation: Derivation) -> Given:
    """Return what a product over a label gives to its operand."""
    product = func.body
    assert isinstance(product, Reduce)
    (label,) = product.labels
    derivation.rule("rprod(a, k) gives to an element d times the product of all others")
    at = derivation.label(f"{label}_at")
    labels = (*func.labels, at)
    operand = product.operand
    if not any(one.padding is None and plain(label) in one.indices for one in reads(operand)):
        # No tensor shows that both labels have the same size, but a Func over one of them does.
        own = (*func.labels, label)
        said = f"the elements of which {func.name} is the product"
        name = derivation.func(f"{func.name}_elements", own, operand, said)
        derivation.kept.add(name)
        operand = read_at(name, own)
    sides = [
        derivation.func(
            f"{func.name}_{word}",
            labels,
            scan_of("rprod", operand, label, ScanOrder(at, True, is_reverse)),
            f"the product of all elements {word} each one",
        )
        for word, is_reverse in (("before", False), ("behind", True))
    ]
    others = [read_at(side, (*func.labels, label)) for side in sides]
    return product.operand, times(d, *others), (*func.labels, label)
