"""Turns reads round: from what readers give to what an element of a tensor is given.

A Func gives a value at each index of its labels to the element of a tensor at an index made of
them. So an element is given the sum of the values at all labels whose index is its own. Where that
says which label it is (`A[x]` at x, `A[2 * h + r]` at h for each r), that stands in its place; the
other labels are summed over; and what is left of the equation is a condition.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    DividedIndex,
    Dot,
    Expr,
    Index,
    Integer,
    Read,
    Reduce,
    at_data,
    divided,
    map_children,
    walk,
)
from dtpoly.algorithm.outside import padded_axes
from dtpoly.algorithm.substitute import as_expr
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.gradient.derivation import Derivation, Gift
from dtpoly.gradient.derived_nodes import ZERO, applied, chosen, plain, product_of, read_at, summed
from dtpoly.gradient.messages import size_not_kept
from dtpoly.gradient.simplify import simplified

PRIME = "'"  # behind a label of a reader that has the name of one of the tensor
# Of polynomials nothing is infinite where their parts are 0, as they are outside.
POLYNOMIAL = frozenset(("add", "sub", "mul", "neg", "where"))
TRUTHS = frozenset(("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not"))


@dataclass
class Solution:
    """The solution of an equation of indices: an index for each label, and further conditions."""

    put: dict[str, Affine] = field(default_factory=dict[str, Affine])
    exact: set[str] = field(default_factory=set[str])
    more: list[str] = field(default_factory=list[str])
    conditions: list[Expr] = field(default_factory=list[Expr])


def turned(gift: Gift, labels: tuple[str, ...], derivation: Derivation) -> Expr:
    """Return what the element of a tensor at some labels is given in all."""
    value = simplified(gift.value)
    if not gift.indices:
        return summed(value, gift.labels)
    # A label of the reader may have the name of one of the tensor: it has another one meanwhile.
    other = {one: f"{one}{PRIME}" for one in gift.labels if one in labels}
    own = tuple(other.get(one, one) for one in gift.labels)
    turn = {one: plain(new) for one, new in other.items()}
    indices = tuple(_renamed(index, turn) for index in gift.indices)
    found = _solved(gift, indices, labels, own, derivation)
    value = with_indices(value, turn)
    rest = tuple(one for one in own if one not in found.put)
    is_exact = set(found.put) == found.exact
    is_hidden = any(one in other.values() for one in rest)
    if is_hidden and is_exact and not found.conditions:
        # What is summed over has the name of a label of the tensor: sum in a Func of its own.
        kept = tuple(one for one in own if one not in rest)
        value = _named(gift, kept, simplified(summed(value, rest)), other, derivation)
        rest, is_hidden = (), False
    elif is_hidden or not (is_exact or _vanishes_outside(value, found)):
        value = _named(gift, own, value, other, derivation)
    if is_hidden:
        fresh = {
            one: derivation.label(f"{one.rstrip(PRIME)}_all")
            for one in rest
            if one in other.values()
        }
        rest = _with_fresh(rest, fresh, found)
    moved = _moved(value, read_at(gift.tensor, labels), indices, found)
    _check_padded(moved, found, gift)
    for condition in found.conditions:
        moved = chosen(condition, moved)
    return summed(moved, (*rest, *found.more))


def _check_padded(value: Expr, found: Solution, gift: Gift) -> None:
    """Refuse a value that must be read outside along an axis where no read may be outside.

    A read through `pad` with an index that is a sum is inside along axes that are read at labels.
    """
    short = {
        index.plain: label
        for label, index in found.put.items()
        if index.plain is not None and label not in found.exact
    }
    for node in walk(value):
        if not isinstance(node, Read) or node.padding is None:
            continue
        inside = {axis for axis in range(len(node.indices))} - padded_axes(node)
        for axis in sorted(inside):
            if (label := short.get(node.indices[axis].plain or "")) is not None:
                raise DtpolyError([size_not_kept(label.rstrip(PRIME), gift.span)])


def _renamed(index: Affine, turn: Mapping[str, Affine]) -> Affine:
    if index.data is None:
        return index.substitute(turn)
    return at_data(with_indices(index.data, turn), index.within)


def _named(
    gift: Gift,
    labels: tuple[str, ...],
    value: Expr,
    other: Mapping[str, str],
    derivation: Derivation,
) -> Expr:
    """Return the read of a Func that has a value; the Func has the labels of the reader."""
    back = {new: one for one, new in other.items()}
    own = tuple(back.get(one, one) for one in labels)
    body = _with_labels(value, back)
    said = f"what {gift.giver} gives to {gift.tensor}"
    return read_at(derivation.func(f"d_{gift.tensor}_by_{gift.giver}", own, body, said), labels)


def _with_labels(value: Expr, names: Mapping[str, str]) -> Expr:
    """Return an expression with other names of labels, also of those that it sums over."""
    made = map_children(value, lambda one: _with_labels(one, names))
    put = {one: plain(new) for one, new in names.items()}
    match made:
        case Reduce(labels=labels) | Dot(labels=labels):
            return replace(made, labels=tuple(names.get(one, one) for one in labels))
        case Index() | Read():
            return with_indices(made, put)
        case _:
            return made


def _with_fresh(
    rest: tuple[str, ...], fresh: Mapping[str, str], found: Solution
) -> tuple[str, ...]:
    """Put new labels in the place of those that are summed over; the new ones have an axis."""
    put = {one: plain(new) for one, new in fresh.items()}
    for label, index in found.put.items():
        found.put[label] = index.substitute(put)
    found.conditions = [with_indices(one, put) for one in found.conditions]
    found.put |= put
    found.exact |= set(put)
    return tuple(fresh.get(one, one) for one in rest)


def _solved(
    gift: Gift,
    indices: tuple[Affine, ...],
    labels: tuple[str, ...],
    own: Collection[str],
    derivation: Derivation,
) -> Solution:
    """Return what the labels of a gift are if its index is that of an element."""
    found = Solution()
    left: list[tuple[Affine, str]] = []
    is_shifted = any(not one.is_plain for one in indices)
    for axis, (index, label) in enumerate(zip(indices, labels, strict=True)):
        if index.plain is not None and index.plain not in found.put:
            found.put[index.plain] = plain(label)
            is_inside = not gift.is_padded or is_shifted
            if is_inside and (gift.tensor, axis, index.plain.rstrip(PRIME)) in derivation.whole:
                found.exact.add(index.plain)
        else:
            left.append((index, label))
    for index, label in left:
        _solve(index, label, own, found, gift, derivation)
        # What an index decided may be told by labels that only a later one decides.
        put = {one: value for one, value in found.put.items() if one not in found.exact}
        found.put |= {one: value.substitute(put) for one, value in found.put.items()}
        found.conditions = [with_indices(one, put) for one in found.conditions]
    return found


def _solve(
    index: Affine,
    label: str,
    own: Collection[str],
    found: Solution,
    gift: Gift,
    derivation: Derivation,
) -> None:
    """Find the label that an index decides if it is a label of the tensor, or add a condition.

    It is one of the reader's `own` labels.
    """
    if index.data is not None:
        value = with_indices(index.data, found.put)
        found.conditions.append(applied("eq", value, Index(label)))
        return
    index = index.substitute(found.put)
    func = derivation.program.func(gift.giver)
    best = _best(index, own, found, func.labels, derivation.program.fixed)
    if best is None:
        if not _quotient(index, label, own, found, derivation):
            found.conditions.append(applied("eq", as_expr(index), Index(label)))
        return
    coefficient = dict(index.terms)[best]
    apart = plain(label) - (index - Affine(((best, coefficient),)))
    if coefficient < 0:
        apart, coefficient = apart.scaled(-1), -coefficient
    if coefficient > 1:
        left_over = divided("%", apart, coefficient)
        found.conditions.append(applied("eq", as_expr(left_over), ZERO))
        apart = divided("//", apart, coefficient)
    found.put[best] = apart


def _best(
    index: Affine,
    own: Collection[str],
    found: Solution,
    outer: tuple[str, ...],
    fixed: Mapping[str, int],
) -> str | None:
    """Return the label of an index that is best not summed over; None if it has none.

    That is one of the Func rather than one that it reduces, and one that takes large steps.
    """
    inside = {label for one in index.divisions for label in one.inner.labels}
    free = [
        (label, coefficient)
        for label, coefficient in index.terms
        if isinstance(label, str)
        and label in own
        and label not in found.put
        and label not in inside
    ]
    if not free:
        return None

    def is_better(one: tuple[str, int]) -> tuple[bool, bool, int]:
        name = one[0].rstrip(PRIME)
        return name in outer, name not in fixed, abs(one[1])

    return max(free, key=is_better)[0]


def _quotient(
    index: Affine, label: str, own: Collection[str], found: Solution, derivation: Derivation
) -> bool:
    """Solve `(c + rest) // n`: c is n times the label, plus one of n numbers, minus the rest."""
    match index.terms:
        case ((DividedIndex("//", inner, divisor), 1),):
            pass
        case _:
            return False
    best = _best(inner, own, found, (), {})
    if best is None or abs(dict(inner.terms)[best]) != 1:
        return False
    sign = dict(inner.terms)[best]
    member = derivation.label(f"{best.rstrip(PRIME)}_part", divisor)
    rest = inner - Affine(((best, sign),))
    start = (plain(label) - Affine((), index.constant)).scaled(divisor) + plain(member)
    found.put[best] = (start - rest).scaled(sign)
    found.more.append(member)
    return True


def _vanishes_outside(value: Expr, found: Solution) -> bool:
    """Return whether a value is 0 where a label is outside, if what is read there is 0.

    One of its factors is read at all labels that may be outside, and no part of it is infinite.
    """
    outside = set(found.put) - found.exact
    return _has_zero(value, outside) and _is_finite(value, outside)


def _has_zero(value: Expr, outside: set[str]) -> bool:
    match value:
        case Apply(operation="where", operands=(_, yes, no)):
            return _has_zero(yes, outside) and _has_zero(no, outside)
        case Apply(operation="add" | "sub", operands=(one, other)):
            return _has_zero(one, outside) and _has_zero(other, outside)
        case Integer(value=0):
            return True
        case _:
            pass
    product = product_of(value)
    if product.factors == (value,):
        return isinstance(value, Read) and _ends_with(value, outside)
    if product.number == 0:
        return True
    return any(_has_zero(one, outside) for one in product.factors)


def _ends_with(read: Read, outside: set[str]) -> bool:
    """Return whether a read is outside of its tensor wherever one of some labels is outside.

    An axis that is read at a label alone has the size of the label.
    """
    return read.padding is None and outside <= {index.plain for index in read.indices}


def _is_finite(value: Expr, outside: set[str]) -> bool:
    """Return whether a value is finite at indices that are outside, where reads give 0."""
    if not any(
        isinstance(node, Read) and not outside.isdisjoint(_labels(node)) for node in walk(value)
    ):
        return True
    match value:
        case Read(indices=indices):
            return all(index.data is None for index in indices)
        case Apply(operation="div", operands=(one, other)):
            return _is_finite(one, outside) and not _reads_any(other, outside)
        case Apply(operation=operation, operands=operands) if operation in POLYNOMIAL | TRUTHS:
            return all(_is_finite(one, outside) for one in operands)
        case _:
            return False


def _reads_any(value: Expr, outside: set[str]) -> bool:
    reads = (node for node in walk(value) if isinstance(node, Read))
    return any(not outside.isdisjoint(_labels(one)) for one in reads)


def _labels(read: Read) -> set[str]:
    return {label for index in read.indices for label in index.labels}


def _moved(value: Expr, own: Read, indices: tuple[Affine, ...], found: Solution) -> Expr:
    """Return a value with what was found in the place of labels; reads that may be outside are 0.

    The read of the gift itself becomes that of the element, `own`.
    """
    outside = frozenset(set(found.put) - found.exact)

    def move(expr: Expr) -> Expr:
        if isinstance(expr, Read) and (expr.tensor, expr.indices) == (own.tensor, indices):
            return own
        return _substituted(expr, found.put, outside, move)

    return move(value)


def with_indices(expr: Expr, put: Mapping[str, Affine]) -> Expr:
    """Return an expression with indices in the place of labels. Sizes stay those of the labels."""

    def move(one: Expr) -> Expr:
        return _substituted(one, put, frozenset(), move)

    return move(expr)


def _substituted(
    expr: Expr, put: Mapping[str, Affine], padded: frozenset[str], move: Callable[[Expr], Expr]
) -> Expr:
    match expr:
        case Index(label=label) if label in put:
            return as_expr(put[label])
        case Read(tensor=tensor, indices=indices, padding=padding):
            places = tuple(
                index.substitute(put)
                if index.data is None
                else at_data(move(index.data), index.within)
                for index in indices
            )
            is_outside = not padded.isdisjoint(_labels(expr))
            return Read(tensor, places, ZERO if padding is None and is_outside else padding)
        case _:
            return map_children(expr, move)
