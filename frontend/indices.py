"""Turns an index of a tensor into an affine expression: whole numbers times labels, and a constant.

For example, `A[2 * x + r - 1]`. An index of any other form is reported and becomes None.
"""

from dtpoly.algorithm.expressions import Affine

from . import messages
from .names import Names
from .symbols import LABELS, Kind
from .syntax import Binary, Name, Node, Number, Unary

MAX_COEFFICIENT = 2**31 - 1


def affine(names: Names, node: Node) -> Affine | None:
    """Return an index as an affine expression of labels; None after reporting why it is not one."""
    match node:
        case Number():
            return _number(names, node)
        case Name():
            symbol = names.find(node, Kind.VAR)
            if symbol is None:
                return None
            if symbol.kind not in LABELS:
                names.tell(messages.not_an_index(node, symbol))
                return None
            return Affine(((symbol.name, 1),))
        case Unary(operator=Name(text=sign), operand=operand) if sign in ("+", "-"):
            below = affine(names, operand)
            return None if below is None else below.scaled(-1 if sign == "-" else 1)
        case Binary(left=left, operator=Name(text=sign), right=right) if sign in ("+", "-", "*"):
            return _combined(names, node, sign, affine(names, left), affine(names, right))
        case _:
            names.tell(messages.not_affine(node))
            return None


def _number(names: Names, node: Number) -> Affine | None:
    if not node.text.isdigit():
        names.tell(messages.fraction_in_index(node))
        return None
    if len(node.text) > 10 or int(node.text) > MAX_COEFFICIENT:
        names.tell(messages.integer_too_large(node, 31))
        return None
    return Affine((), int(node.text))


def _combined(
    names: Names, node: Binary, sign: str, left: Affine | None, right: Affine | None
) -> Affine | None:
    if left is None or right is None:
        return None
    if sign != "*":
        total = left + right.scaled(-1 if sign == "-" else 1)
    elif not left.terms:
        total = right.scaled(left.constant)
    elif not right.terms:
        total = left.scaled(right.constant)
    else:
        names.tell(messages.not_affine(node))
        return None
    numbers = (total.constant, *(coefficient for _, coefficient in total.terms))
    if any(abs(number) > MAX_COEFFICIENT for number in numbers):
        names.tell(messages.index_too_large(node))
        return None
    return total
