"""Simplifies what was derived, as a person would who writes it down.

Numbers are multiplied, zeros and ones vanish, signs move to the front, what a sum does not go over
stands behind it, and a sum of products of two tensors is a product of matrices. All of this keeps
the value of real numbers; only the order of roundings differs. So what is compared or rounded to a
whole number stays as it is: where the algorithm found that an element is the largest one, the
gradient must find the same.
"""

from dataclasses import replace
from functools import partial, reduce

from dtpoly.algorithm.dtypes import is_float
from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Integer,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
    free_labels,
    map_children,
    walk,
)
from dtpoly.gradient.derived_nodes import (
    ONE,
    ZERO,
    Factored,
    applied,
    chosen,
    minus,
    number,
    number_of,
    over,
    product_of,
    times,
)
from dtpoly.gradient.element_rules import FLAT

LEAST_POWER = 3  # so many equal factors are written as a power


def simplified(expr: Expr) -> Expr:
    """Return an expression of the same value that is written more simply."""
    if _takes_steps(expr):
        return _without_layout(expr)
    made = map_children(expr, simplified)
    match made:
        case Reshape(operand=operand):
            return operand  # values line up by label; the layout of the text comes last
        case Apply(operation="mul" | "div" | "neg"):
            return written(product_of(made))
        case Apply(operation="add", operands=(left, right)):
            return _sum(left, right)
        case Apply(operation="sub", operands=(left, right)):
            return _sum(left, written(product_of(minus(right))))
        case Apply(operation="where", operands=(condition, yes, no)):
            return _choice(condition, yes, no)
        case Apply(operation="pow", operands=(base, exponent)):
            return _power(base, exponent)
        case Cast(operand=operand) if number_of(operand) == 0:
            return ZERO
        case Reduce(operation="rsum", operand=operand, labels=labels, scan=None, when=()):
            return _total(operand, labels)
        case Dot(left=left, right=right, labels=labels, when=()):
            return _total(applied("mul", left, right), labels)
        case _:
            return made


def _takes_steps(expr: Expr) -> bool:
    """Return whether an expression jumps if what it is made of is rounded otherwise."""
    match expr:
        case Cast(dtype=dtype):
            is_step = not is_float(dtype)
        case Apply(operation=operation):
            is_step = operation in FLAT and operation not in ("and", "or", "not")
        case _:
            return False
    # Indices, sizes and whole numbers are not rounded.
    return is_step and any(isinstance(one, Read | ScalarRead) for one in walk(expr))


def _without_layout(expr: Expr) -> Expr:
    made = map_children(expr, _without_layout)
    return made.operand if isinstance(made, Reshape) else made


def written(product: Factored) -> Expr:
    """Return a product as a person writes it: the sign, the number, factors, divisors."""
    if product.number == 0:
        return ZERO
    masked = _with_mask_outside(product)
    if masked is not None:
        return masked
    product = _cancelled(product)
    value = abs(product.number)
    factors = _with_powers(product.factors)
    divisors = _with_powers(product.divisors)
    if value != 1 or not factors:
        if factors and value < 1 and 1 / value == int(1 / value):
            divisors = [number(1 / value), *divisors]
        else:
            factors = [number(value), *factors]
    if product.number < 0:
        factors = [minus(factors[0]), *factors[1:]]
    total = times(*factors)
    return over(total, times(*divisors)) if divisors else total


def _cancelled(product: Factored) -> Factored:
    """Return a product in which no number of the call, or size, stands above and below."""
    factors, divisors = list(product.factors), list(product.divisors)
    for one in product.factors:
        if isinstance(one, ScalarRead | Size) and one in divisors:
            factors.remove(one)
            divisors.remove(one)
    return replace(product, factors=tuple(factors), divisors=tuple(divisors))


def _with_mask_outside(product: Factored) -> Expr | None:
    """Return where(c, a * b, 0) for a product with the factor where(c, a, 0); None if it has none.

    So nothing is multiplied by 0 that may be infinite.
    """
    for at, factor in enumerate(product.factors):
        match factor:
            case Apply(operation="where", operands=(condition, yes, no)):
                others = (product.factors[:at], product.factors[at + 1 :])
            case _:
                continue
        if number_of(no) == 0:
            inner = product_of(yes)
            kept = Factored(
                product.number * inner.number,
                (*others[0], *inner.factors, *others[1]),
                (*inner.divisors, *product.divisors),
            )
            return chosen(condition, written(kept))
        if number_of(yes) == 0:
            inner = product_of(no)
            kept = Factored(
                product.number * inner.number,
                (*others[0], *inner.factors, *others[1]),
                (*inner.divisors, *product.divisors),
            )
            return chosen(condition, ZERO, written(kept))
    return None


def _with_powers(factors: tuple[Expr, ...]) -> list[Expr]:
    """Return factors in which equal ones are powers, if there are many."""
    counts = _counted(factors)
    return [
        part
        for one, count in counts.items()
        for part in (
            [applied("pow", one, Integer(count))] if count >= LEAST_POWER else [one] * count
        )
    ]


def _sum(left: Expr, right: Expr) -> Expr:
    one, other = number_of(left), number_of(right)
    if one is not None and other is not None:
        return number(one + other)
    if one == 0:
        return right
    if other == 0:
        return left
    merged = _merged(left, right)
    if merged is not None:
        return merged
    if product_of(right).number < 0:
        return applied("sub", left, written(product_of(minus(right))))
    if product_of(left).number < 0:
        return applied("sub", right, written(product_of(minus(left))))
    return applied("add", left, right)


def _merged(left: Expr, right: Expr) -> Expr | None:
    """Return a sum in which like terms of both sides are one; None if no two are alike.

    Terms are alike if they are numbers times the same, or choices by the same condition.
    """
    terms = _terms(left)
    is_merged = False
    for term in _terms(right):
        found = ((at, _joined(one, term)) for at, one in enumerate(terms))
        at, joined = next((one for one in found if one[1] is not None), (0, None))
        if joined is None:
            terms.append(term)
        else:
            terms[at], is_merged = joined, True
    if not is_merged:
        return None
    total: Expr = ZERO
    for one in terms:
        total = _sum(total, written(one))
    return total


def _terms(expr: Expr) -> list[Factored]:
    """Return the products of which an expression is the sum."""
    match expr:
        case Apply(operation="add", operands=(left, right)):
            return [*_terms(left), *_terms(right)]
        case Apply(operation="sub", operands=(left, right)):
            return [*_terms(left), *(replace(one, number=-one.number) for one in _terms(right))]
        case _:
            return [product_of(expr)]


def _joined(one: Factored, other: Factored) -> Factored | None:
    """Return the sum of two like terms as one; None if they are not alike."""
    if not one.factors or not other.factors:
        return None
    if _sorted(one) == _sorted(other):
        return replace(one, number=one.number + other.number)
    match written(one), written(other):
        case (
            Apply(operation="where", operands=(condition, yes, no)),
            Apply(operation="where", operands=(same, more, else_more)),
        ) if condition == same:
            # A choice whose other side is 0 is a mask: what it chooses stands beside that of both.
            zeros = [number_of(each) == 0 for each in (yes, no, more, else_more)]
            if (zeros[0] or zeros[1]) and (zeros[2] or zeros[3]):
                return Factored(1, (_choice(condition, _sum(yes, more), _sum(no, else_more)),))
        case _:
            pass
    return None


def _sorted(product: Factored) -> tuple[dict[Expr, int], dict[Expr, int]]:
    """Return how often each factor and each divisor stands in a product, in whatever order."""
    return _counted(product.factors), _counted(product.divisors)


def _counted(factors: tuple[Expr, ...]) -> dict[Expr, int]:
    counts: dict[Expr, int] = {}
    for one in factors:
        counts[one] = counts.get(one, 0) + 1
    return counts


def _choice(condition: Expr, yes: Expr, no: Expr) -> Expr:
    if yes == no and number_of(yes) is not None:
        return yes
    for part in _parts(condition):
        yes = _where_holds(yes, part)
    return chosen(condition, yes, no)


def _parts(condition: Expr) -> list[Expr]:
    """Return a condition, and all that hold where it holds."""
    match condition:
        case Apply(operation="and", operands=(left, right)):
            return [condition, *_parts(left), *_parts(right)]
        case _:
            return [condition]


def _where_holds(expr: Expr, condition: Expr) -> Expr:
    """Return an expression where a condition holds: choices by the same condition are made."""
    match expr:
        case Apply(operation="where", operands=(same, yes, _)) if same == condition:
            return _where_holds(yes, condition)
        case Reduce() | Dot():
            return expr  # its labels may mean others
        case Read():
            return expr
        case _:
            return map_children(expr, lambda one: _where_holds(one, condition))


def _power(base: Expr, exponent: Expr) -> Expr:
    match number_of(exponent):
        case 0:
            return ONE
        case 1:
            return base
        case _:
            return applied("pow", base, exponent)


def _total(operand: Expr, labels: tuple[str, ...]) -> Expr:
    """Return a sum over labels, in which nothing stands that has none of them."""
    present = tuple(label for label in labels if label in free_labels(operand))
    repeated = tuple(Size(label) for label in labels if label not in present)
    if number_of(operand) == 0:
        return ZERO
    if not present:
        return written(Factored(1, (operand,)).times(Factored(1, repeated)))
    masks, value = masks_of(operand)
    alike = [one for one in masks if set(present).isdisjoint(free_labels(one))]
    if alike:
        # What a mask leaves out of all of the sum is left out of what it is.
        rest = under([one for one in masks if one not in alike], value)
        return under(alike, _total(rest, labels))
    inside, outside = product_of(value).split(present)
    outside = outside.times(Factored(1, repeated))
    match inside:
        case Factored(factors=(Reduce(operation="rsum", scan=None, when=()) as one,), divisors=()):
            # The sum of a sum, if nothing else stands beside it.
            if set(one.labels).isdisjoint(present):
                total = _total(under(masks, one.operand), (*one.labels, *present))
                return written(product_of(total).times(outside))
        case _:
            pass
    sides = _sides(inside, masks, present)
    summed = under(masks, written(inside))
    total = Dot(*sides, present) if sides else Reduce("rsum", summed, present)
    return written(Factored(1, (total,)).times(outside))


def masks_of(value: Expr) -> tuple[list[Expr], Expr]:
    """Return conditions without which a value is 0, and what it is where all of them hold."""
    match value:
        case Apply(operation="where", operands=(condition, yes, no)) if number_of(no) == 0:
            own, inner = _conjuncts(condition), yes
        case Apply(operation="where", operands=(condition, yes, no)) if number_of(yes) == 0:
            own, inner = [applied("not", condition)], no
        case _:
            return [], value
    masks, value = masks_of(inner)
    return [*own, *(one for one in masks if one not in own)], value


def _conjuncts(condition: Expr) -> list[Expr]:
    match condition:
        case Apply(operation="and", operands=(left, right)):
            return [*_conjuncts(left), *_conjuncts(right)]
        case _:
            return [condition]


def under(masks: list[Expr], value: Expr) -> Expr:
    """Return a value that is 0 where one of some conditions does not hold."""
    if number_of(value) == 0:
        return ZERO
    made, together = value, list[Expr]()
    for mask in (*reversed(masks), None):
        if mask is not None and not _is_negated(mask):
            together.insert(0, mask)
            continue
        if together:
            made = chosen(reduce(partial(applied, "and"), together), made)
            together = []
        if isinstance(mask, Apply):
            made = chosen(mask.operands[0], ZERO, made)
    return made


def _is_negated(condition: Expr) -> bool:
    return isinstance(condition, Apply) and condition.operation == "not"


def _sides(
    inside: Factored, masks: list[Expr], labels: tuple[str, ...]
) -> tuple[Expr, Expr] | None:
    """Return the sides of a product of matrices; None if it is another sum.

    There are two factors, each has all labels that are summed over, and one that the other lacks.
    Masks stand at a side that has all of their labels.
    """
    if len(inside.factors) != 2 or inside.divisors:
        return None
    left, right = inside.factors
    if not all(isinstance(one, Read) for one in (left, right)):
        return None
    one, other = set(free_labels(left)), set(free_labels(right))
    if not set(labels) <= one & other or one <= other or other <= one:
        return None
    asked = {label for mask in masks for label in free_labels(mask)}
    if asked <= one:
        return under(masks, left), right
    return (left, under(masks, right)) if asked <= other else None
