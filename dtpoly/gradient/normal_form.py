"""Gives parts of definitions Funcs of their own, so that each Func has one simple derivative.

Afterwards the definition of a Func through which a gradient flows is an expression of elements,
or one reduction of them. Functions whose derivative is made of their result are Funcs, too.
"""

from collections.abc import Callable, Collection
from dataclasses import field, replace

from dtpoly.algorithm.expressions import (
    Apply,
    Dot,
    Expr,
    Read,
    Reduce,
    Reshape,
    Size,
    free_labels,
    map_children,
    walk,
)
from dtpoly.algorithm.operations import FROM_LIST
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.algorithm.shapes import shape_of
from dtpoly.frozen import dataclass
from dtpoly.gradient.activity import is_active
from dtpoly.gradient.derived_nodes import read_at
from dtpoly.gradient.element_rules import RULES
from dtpoly.gradient.naming import FreeNames

WORD = {
    "rsum": "sum",
    "rprod": "product",
    "rmax": "largest",
    "rmin": "smallest",
    "raffine": "states",
    "rany": "any",
    "rall": "all",
    "rargmax": "place",
    "rargmin": "place",
}


def in_normal_form(program: Program, active: Collection[str], names: FreeNames) -> Program:
    """Return a program of the same meaning whose active Funcs are simple to differentiate."""
    parting = _Parting(active, names)
    funcs: list[Func] = []
    for func in in_order(program):
        known = len(parting.made)
        body = parting.parted(func) if func.name in active else func.body
        funcs.extend(parting.made[known:])
        funcs.append(replace(func, body=without_layout(body)))
    return replace(program, funcs=tuple(funcs))


def without_layout(expr: Expr) -> Expr:
    """Return an expression without reshapes: values line up by label."""
    made = map_children(expr, without_layout)
    if isinstance(made, Reshape):
        # A label that only the reshape has is one that a reduction may need.
        missing = set(free_labels(made)) - set(free_labels(made.operand))
        return made if missing else made.operand
    return made


@dataclass
class _Parting:
    """The Funcs that were made so far, by what they compute."""

    active: Collection[str]
    names: FreeNames
    made: list[Func] = field(default_factory=list[Func])
    known: dict[tuple[tuple[str, ...], Expr], str] = field(
        default_factory=dict[tuple[tuple[str, ...], Expr], str]
    )

    def parted(self, func: Func) -> Expr:
        """Return the definition of a Func, in which parts are reads of other Funcs.

        What goes to places has no elements that could be read again: its values are those of
        another Func.
        """
        body = _one_by_one(_unshaped(func.body))
        # In `f[x, k] = rsum(A[x, k], k)` there are two labels k: the sum is alike for all of f's.
        is_repeated = not set(_bound(body)).isdisjoint(func.labels)
        whole = self.part(body, func) if is_repeated else self.whole(body, func)
        if func.into is None or func.into.at is None or isinstance(whole, Read):
            return whole
        return self.named(whole, f"{func.name}_values", func)

    def whole(self, body: Expr, func: Func) -> Expr:
        """Return what is all that a Func is, or all that it is where a condition holds."""
        match body:
            case Apply(operation="where", operands=(condition, *chosen)):
                made = (self.branch(_unshaped(one), func) for one in chosen)
                return replace(body, operands=(self.part(condition, func), *made))
            case _:
                return _with_operands(body, lambda one: self.part(one, func))

    def branch(self, expr: Expr, func: Func) -> Expr:
        """Return what a Func is where a condition holds; a reduction is a Func of its own."""
        is_reduction = isinstance(expr, Reduce | Dot) or is_list(expr)
        return self.part(expr, func) if is_reduction else self.whole(expr, func)

    def part(self, expr: Expr, func: Func) -> Expr:
        """Return a part of a definition, or the read of the Func that it becomes."""
        made = _with_operands(_one_by_one(expr), lambda one: self.part(one, func))
        match expr:
            case Reduce(operation=operation):
                return self.named(made, f"{func.name}_{WORD[operation]}", func)
            case Dot():
                return self.named(made, f"{func.name}_dot", func)
            case Apply(operation=operation, operands=operands) if is_list(expr):
                return self.named(made, f"{func.name}_list", func)
            case Apply(operation=operation, operands=operands) if operation in RULES:
                at = RULES[operation].reuses
                if at is not None and is_active(operands[at], self.active) and _reads_tensors(made):
                    inner = made.operands[at] if isinstance(made, Apply) else made
                    of = inner.tensor if isinstance(inner, Read) else ""
                    wanted = f"{operation}_of_{of}" if of else f"{func.name}_{operation}"
                    return self.named(made, wanted, func)
            case _:
                pass
        return made

    def named(self, expr: Expr, wanted: str, func: Func) -> Expr:
        """Return the read of a Func that computes a part; equal parts are one Func."""
        shape = shape_of(expr).shape
        labels = free_labels(expr) if shape is None else shape.labels
        if shape is None or not any(shape.axes):
            first = [label for label in func.labels if label in labels]
            labels = (*first, *(label for label in labels if label not in first))
        key = (labels, without_layout(expr))
        if key not in self.known:
            self.known[key] = self.names.new(wanted)
            self.made.append(Func(self.known[key], labels, key[1]))
            if isinstance(expr, Apply | Reduce | Dot) and is_active(expr, self.active):
                self.active = frozenset((*self.active, self.known[key]))
        return read_at(self.known[key], labels)


def _bound(body: Expr) -> tuple[str, ...]:
    """Return the labels that a definition reduces, if it is a reduction or is taken from a list."""
    match body:
        case Reduce(labels=labels) | Dot(labels=labels):
            return labels
        case Apply(operands=(Reduce(labels=labels), _)) if is_list(body):
            return labels
        case _:
            return ()


def _reads_tensors(expr: Expr) -> bool:
    """Return whether a part is computed of tensors: a Func of numbers alone would have 32 bits."""
    return any(isinstance(node, Read) for node in walk(expr))


def _unshaped(expr: Expr) -> Expr:
    """Return an expression without the reshapes around it."""
    while isinstance(expr, Reshape) and set(free_labels(expr)) == set(free_labels(expr.operand)):
        expr = expr.operand
    return expr


def _one_by_one(expr: Expr) -> Expr:
    """Return a product over several labels as products over one of them each."""
    match expr:
        case Reduce(operation="rprod", operand=operand, labels=(first, second, *more), scan=None):
            inner = replace(expr, operand=operand, labels=(second, *more))
            return replace(expr, operand=inner, labels=(first,))
        case _:
            return expr


def is_list(expr: Expr) -> bool:
    """Return whether an expression is what is at a place of a list, or where it was."""
    match expr:
        case Apply(operation="minimum", operands=(inner, Size())):
            return is_list(inner)
        case Apply(operation=operation):
            return operation in FROM_LIST
        case _:
            return False


def _with_operands(expr: Expr, f: Callable[[Expr], Expr]) -> Expr:
    """Return a node with f applied to its operands, but not to what its indices are made of."""
    match expr:
        case Read():
            return expr
        case Apply(operation="minimum", operands=(inner, Size() as size)) if is_list(inner):
            return replace(expr, operands=(_with_operands(inner, f), size))
        case Apply(operands=(Reduce(operand=operand) as listed, place)) if is_list(expr):
            return replace(expr, operands=(replace(listed, operand=f(operand)), place))
        case _:
            return map_children(expr, f)
