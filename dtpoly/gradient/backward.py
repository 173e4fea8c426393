"""Goes through the definition of a Func, and says what it gives to each element that it reads."""

from collections.abc import Iterator

from dtpoly.algorithm.expressions import (
    Apply,
    Cast,
    Dot,
    Expr,
    Index,
    Read,
    Reduce,
    Reshape,
    ScalarRead,
    Size,
    free_labels,
    walk,
)
from dtpoly.algorithm.operations import FROM_LIST
from dtpoly.algorithm.program import Func
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.gradient.activity import is_active
from dtpoly.gradient.derivation import Derivation, Gift
from dtpoly.gradient.derived_nodes import applied, chosen, over, read_at, summed, times
from dtpoly.gradient.element_rules import RULES
from dtpoly.gradient.messages import no_rule
from dtpoly.gradient.scanned import given_by_product, given_by_scan

LARGEST = ("rmax", "rmin")
REPEATING = ("maximum", "minimum", "clamp", "abs")  # what they give has the gift several times
LIGHT = 6  # a gift of so many nodes may be written several times


def given_by(func: Func, d: Expr, derivation: Derivation) -> Iterator[Gift]:
    """Yield what a Func gives to what it reads, if `d` is what it was given itself."""
    walk = GiftWalk(func, derivation)
    match func.body:
        case Reduce(scan=scan) if scan is not None:
            pairs = given_by_scan(func, d, derivation)
        case Reduce(operation="rprod"):
            pairs = iter([given_by_product(func, d, derivation)])
        case Reduce(operation=operation) if operation in LARGEST:
            pairs = iter([_given_by_largest(func, d, derivation)])
        case Apply(operation="rtopk"):
            pairs = iter([_given_by_list(func, d, derivation)])
        case body:
            yield from walk.given(body, d, func.labels)
            return
    for operand, value, labels in pairs:
        yield from walk.given(operand, value, labels)


class GiftWalk:
    """The walk through the definition of one Func."""

    def __init__(self, func: Func, derivation: Derivation) -> None:
        self.func, self.derivation = func, derivation

    def given(self, expr: Expr, d: Expr, labels: tuple[str, ...]) -> Iterator[Gift]:
        """Yield what an expression gives to what it reads; `labels` are those around it."""
        active, derivation = self.derivation.active, self.derivation
        if isinstance(expr, Read) and expr.padding is not None and is_active(expr.padding, active):
            raise DtpolyError([_of_padding(expr)])
        if not is_active(expr, active):
            return
        match expr:
            case Read(tensor=tensor, indices=indices, padding=padding, span=span):
                is_padded = padding is not None
                yield Gift(tensor, indices, labels, d, self.func.name, is_padded, span)
            case ScalarRead(name=name, span=span):
                yield Gift(name, (), labels, d, self.func.name, span=span)
            case Cast(operand=operand) | Reshape(operand=operand):
                yield from self.given(operand, d, labels)
            case Apply(operation=operation, operands=operands) if operation in RULES:
                derivation.rule(RULES[operation].said)
                d = self._light(operation, d, labels)
                gifts = RULES[operation].gives(d, self._result(expr), *operands)
                for operand, gift in zip(operands, gifts, strict=True):
                    if gift is not None:
                        yield from self.given(operand, gift, labels)
            case Reduce(operation="rsum", operand=operand, labels=own, scan=None):
                derivation.rule("rsum(a, k) gives d to a at each k")
                yield from self.given(operand, d, (*labels, *own))
            case Dot(left=left, right=right, labels=own):
                derivation.rule(
                    "rdot(a, b, k) gives the product of d and b to a, and that of d and a to b"
                )
                yield from self.given(left, times(d, right), (*labels, *own))
                yield from self.given(right, times(d, left), (*labels, *own))
            case _:
                raise DtpolyError([_of_node(expr)])

    def _light(self, operation: str, d: Expr, labels: tuple[str, ...]) -> Expr:
        """Return what an operation is given, as a Func if the operation gives it on repeatedly.

        Otherwise a maximum of many operands would have a gradient that doubles with each of them.
        """
        if (
            operation not in REPEATING
            or len(list(walk(d))) <= LIGHT
            or len({*labels}) < len(labels)
        ):
            return d
        own = tuple(one for one in labels if one in free_labels(d))
        said = f"what {operation} is given in {self.func.name}"
        return read_at(self.derivation.func(f"d_{self.func.name}_{operation}", own, d, said), own)

    def _result(self, expr: Expr) -> Expr:
        """Return the value of an expression: what was stored, if it is all that the Func is."""
        is_stored = any(expr is one for one in _stored(self.func.body))
        return read_at(self.func.name, self.func.labels) if is_stored else expr


def _stored(body: Expr) -> Iterator[Expr]:
    """Yield what a Func is: its definition, and what is chosen there by conditions."""
    yield body
    match body:
        case Apply(operation="where", operands=(_, yes, no)):
            yield from _stored(yes)
            yield from _stored(no)
        case _:
            pass


# An operand, what it is given, and the labels around it.
Given = tuple[Expr, Expr, tuple[str, ...]]


def _given_by_largest(func: Func, d: Expr, derivation: Derivation) -> Given:
    """Share what a maximum was given among all elements that are equal to it."""
    body = func.body
    assert isinstance(body, Reduce)
    derivation.rule(
        f"{body.operation}(a, k) gives d to where a is it, in equal parts if there are many"
    )
    largest = read_at(func.name, func.labels)
    is_it = applied("eq", body.operand, largest)
    share = derivation.func(
        f"d_{func.name}_share",
        func.labels,
        over(d, summed(is_it, body.labels)),
        f"what each of the elements is given that are equal to {func.name}",
    )
    value = chosen(is_it, read_at(share, func.labels))
    return body.operand, value, (*func.labels, *body.labels)


def _given_by_list(func: Func, d: Expr, derivation: Derivation) -> Given:
    """Give what the places of a list were given to the elements that are there."""
    body = func.body
    assert isinstance(body, Apply)
    listed, place = body.operands
    if body.operation not in FROM_LIST or not isinstance(listed, Reduce):
        raise DtpolyError([_of_node(body)])
    if not isinstance(place, Index):
        raise DtpolyError([_of_node(body)])
    derivation.rule("rtopk(a, k, j) gives d at j to the element that stands there")
    (label,) = listed.labels
    where = derivation.func(
        f"{func.name}_places",
        func.labels,
        Apply("minimum", (Apply("rargtopk", (listed, place)), Size(label))),
        f"where the elements of {func.name} stand",
    )
    is_it = applied("eq", read_at(where, func.labels), Index(label))
    return listed.operand, chosen(is_it, d), (*func.labels, label)


def _of_padding(expr: Read) -> Diagnostic:
    return no_rule(
        "the value of a pad",
        expr.padding.span if expr.padding is not None else expr.span,
        "depends on what the gradient is asked for by",
        "pad with a number, and choose the value by where(...)",
    )


def _of_node(expr: Expr) -> Diagnostic:
    name = expr.operation if isinstance(expr, Apply | Reduce) else type(expr).__name__.lower()
    return no_rule(
        f"'{name}'",
        expr.span,
        "the gradient would flow through this",
        "leave the inputs out of --by that reach the result only through it, or write it otherwise",
    )
