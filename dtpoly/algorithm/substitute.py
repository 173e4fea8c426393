"""Puts the definition of a Func in the place of its reads, for the directive `inline`."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Cast,
    Conditions,
    DataIndex,
    Dot,
    Expr,
    Index,
    Integer,
    Read,
    Reduce,
    Reshape,
    Size,
    SizedIndex,
    Term,
    at_data,
    map_children,
    walk,
)
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.program import Func, Program, in_order

FALSE = Apply("lt", (Integer(1), Integer(0)))
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
    types = types_of(program)
    body = type_of(func.body, types)
    if body.weak or (func.dtype is not None and func.dtype != body.dtype):
        dtype = func.dtype or body.dtype or DType.F32
        func = replace(func, body=Cast(func.body, dtype))
    is_truth = type_of(func.body, types).dtype is DType.BOOL
    funcs = tuple(
        replace(other, body=_inlined(other.body, func, other.when, is_truth=is_truth))
        for other in program.funcs
        if other.name != name
    )
    return replace(program, funcs=funcs)


def _inlined(expr: Expr, func: Func, known: Conditions, *, is_truth: bool) -> Expr:
    """Return the expression with the definition of a Func in the place of its reads.

    The conditions that are `known` hold where the value is used.
    """
    inner = known
    if isinstance(expr, Reduce | Dot):
        # What is known of a label says nothing of the label that a reduction binds again.
        inner = tuple(one for one in known if set(one.labels).isdisjoint(expr.labels)) + expr.when
    expr = map_children(expr, lambda child: _inlined(child, func, inner, is_truth=is_truth))
    if not isinstance(expr, Read) or expr.tensor != func.name:
        return expr
    put = dict(zip(func.labels, expr.indices, strict=True))
    own = tuple((index, label) for label, index in put.items()) if expr.padding is not None else ()
    when = tuple(replace(one, index=one.index.substitute(put)) for one in func.when)
    element = substituted(func.body, put, (*expr.within, *own))
    open_ones = tuple(one for one in when if one not in known)
    element = within_ranges(element, open_ones, is_truth=is_truth)
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


def substituted(expr: Expr, put: Mapping[str, Affine], within: Within) -> Expr:
    """Return the expression with indices in the place of labels.

    Where `within` restricts it, reads get a padding, because the values outside are not used.
    """
    match expr:
        case Index(label=label) if label in put:
            return as_expr(put[label])
        case Read(indices=indices, padding=padding):
            moved = tuple(
                index.substitute(put)
                if index.data is None
                else at_data(substituted(index.data, put, within), index.within)
                for index in indices
            )
            if padding is not None:
                padding = substituted(padding, put, within)
            elif within:
                padding = Integer(0)
            mine = tuple((index.substitute(put), label) for index, label in expr.within)
            return replace(expr, indices=moved, padding=padding, within=(*within, *mine))
        case Reshape(operand=operand):
            # The labels line up by value here, so the reshape is dropped. The new indices may not
            # be plain.
            return substituted(operand, put, within)
        case _:
            return map_children(expr, lambda one: substituted(one, put, within))


def _term(term: Term) -> Expr:
    if isinstance(term, str):
        return Index(term)
    if isinstance(term, DataIndex):
        return term.value
    by = Integer(term.divisor)
    if term.operator == "%":
        return Apply("mod", (as_expr(term.inner), by))
    # Rounded up, this is the quotient rounded down.
    return Apply("cdiv", (as_expr(term.inner - Affine((), term.divisor - 1)), by))


def within_ranges(body: Expr, when: Conditions, *, is_truth: bool) -> Expr:
    """Return a value that is 0 where a condition does not hold; a truth is false there."""
    inside = as_condition(when)
    if inside is None:
        return body
    return Apply("where", (inside, body, FALSE if is_truth else Integer(0)))


def as_condition(when: Conditions) -> Expr | None:
    """Return the expression that all conditions hold; None if there are none."""
    inside: Expr | None = None
    for one in when:
        positive = SizedIndex(*(_signed(part, 1) for part in (one.index, one.sizes)))
        negative = SizedIndex(*(_signed(part, -1) for part in (one.index, one.sizes)))
        condition = Apply("ge", (_as_sum(positive), _as_sum(negative)))
        inside = condition if inside is None else Apply("and", (inside, condition))
    return inside


def _signed(index: Affine, sign: int) -> Affine:
    """Return the part of a sum whose numbers have a sign, without the sign."""
    terms = tuple((label, abs(c)) for label, c in index.linear if c * sign > 0)
    return Affine(terms, max(index.constant * sign, 0))


def _as_sum(one: SizedIndex) -> Expr:
    total = as_expr(one.index) if one.index != Affine() or not one.sizes.terms else None
    for label, coefficient in one.sizes.linear:
        size: Expr = Size(label)
        size = size if coefficient == 1 else Apply("mul", (Integer(coefficient), size))
        total = size if total is None else Apply("add", (total, size))
    assert total is not None
    return total


def as_expr(index: Affine) -> Expr:
    """Return an index as an expression."""
    total: Expr | None = None
    for one, coefficient in index.terms:
        term = _term(one)
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
