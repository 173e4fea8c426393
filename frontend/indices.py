"""Turns an index of a tensor into an affine expression: whole numbers times labels, and a constant.

For example, `A[2 * x + r - 1]`. A part of it may be divided by a number, as in `A[x // 2]` and
`A[x % 3]`. An index of any other form is reported and becomes None.
"""

from typing import Literal

from dtpoly.algorithm.expressions import Affine, divided

from . import name_messages as messages
from .name_lookup import Names
from .symbols import LABELS, SymbolKind
from .syntax import BinarySyntax, NameSyntax, Node, NumberSyntax, Unary

MAX_COEFFICIENT = 2**31 - 1


def affine(names: Names, node: Node) -> Affine | None:
    """Return an index as an affine expression of labels; None after reporting why it is not one."""
    match node:
        case NumberSyntax():
            return _number(names, node)
        case NameSyntax():
            symbol = names.find(node, SymbolKind.VAR)
            if symbol is None:
                return None
            if symbol.kind not in LABELS:
                names.tell(messages.not_an_index(node, symbol))
                return None
            return Affine(((symbol.name, 1),))
        case Unary(operator=NameSyntax(text=sign), operand=operand) if sign in ("+", "-"):
            below = affine(names, operand)
            return None if below is None else below.scaled(-1 if sign == "-" else 1)
        case BinarySyntax(left=left, operator=NameSyntax(text=sign), right=right) if sign in (
            "+",
            "-",
            "*",
        ):
            return _combined(names, node, sign, affine(names, left), affine(names, right))
        case BinarySyntax(left=left, operator=NameSyntax(text=("//" | "%") as sign), right=right):
            return _divided(names, sign, right, affine(names, left), affine(names, right))
        case _:
            names.tell(messages.not_affine(node))
            return None


def _number(names: Names, node: NumberSyntax) -> Affine | None:
    if not node.text.isdigit():
        names.tell(messages.fraction_in_index(node))
        return None
    if len(node.text) > 10 or int(node.text) > MAX_COEFFICIENT:
        names.tell(messages.integer_too_large(node, 31))
        return None
    return Affine((), int(node.text))


def _divided(
    names: Names, sign: Literal["//", "%"], by: Node, left: Affine | None, right: Affine | None
) -> Affine | None:
    if left is None or right is None:
        return None
    if right.terms or right.constant < 1:
        names.tell(messages.not_a_divisor(by, sign, right))
        return None
    return divided(sign, left, right.constant)


def _combined(
    names: Names, node: BinarySyntax, sign: str, left: Affine | None, right: Affine | None
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
    if is_too_large(total):
        names.tell(messages.index_too_large(node))
        return None
    return total


def is_too_large(index: Affine) -> bool:
    """Return whether a number of an index does not fit 32 bits."""
    numbers = (index.constant, *(coefficient for _, coefficient in index.terms))
    return any(abs(number) > MAX_COEFFICIENT for number in numbers)
