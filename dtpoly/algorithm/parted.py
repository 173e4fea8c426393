"""Divides a chain of reductions over one label in two: parts with frames of their own, and merges.

    top[m] = rmax(A[m, l], l);             top_parts[p, m] = rmax(A[m, l], l);  # l is in part p
    sum[m] = rsum(exp(A - top), l);  -->   sum_parts[p, m] = rsum(exp(A - top_parts), l);
                                           top[m] = rmax(top_parts[p, m], p);
                                           sum[m] = rsum(sum_parts * exp(top_parts - top), p);

A sum whose operands have an earlier result as their frame is brought from the frame of its part to
that of the whole by the factor that `dtpoly.algorithm.motion` derives. So each part looks at its
own indices alone, and another program can have each of them.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isfinite

from dtpoly.algorithm.expression_motion import TangledExpressionError, motion_of
from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Dot,
    Expr,
    Float,
    Integer,
    Read,
    Reduce,
    Reshape,
    children,
    free_labels,
    map_children,
    reads,
)
from dtpoly.algorithm.motion import Motion
from dtpoly.algorithm.operations import PLACES, WITHOUT_PARTS
from dtpoly.algorithm.program import Func, Label, Part, Program, in_order, producers
from dtpoly.algorithm.show import show_expr
from dtpoly.algorithm.substitute import inlined
from dtpoly.frozen import dataclass
from dtpoly.source import Span

FRAMES = ("rmax", "rmin")
NO_EXTREME = "is no maximum and no minimum, and none times a written number"


class NotInPartsError(Exception):
    """A chain of reductions cannot be computed in parts: of which Func, and why, in words."""

    def __init__(self, func: str, reason: str) -> None:
        super().__init__(reason)
        self.func = func


@dataclass(frozen=True, slots=True)
class AskedChain:
    """A chain that directives ask for in parts: its last Func, the others, the label, the parts.

    `within` are results that programs of the parts store, each those elements that are in its part;
    `whole` are those that the kernel stores which merges the parts.
    """

    last: str
    others: tuple[str, ...]
    label: str
    name: str  # of the label that numbers the parts
    size: int
    span: Span | None
    within: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PartedChain:
    """A Program in which a chain of reductions is divided.

    `parts` has for each Func of the chain, and for each one between, the Func that computes it for
    a part; `merged` are the Funcs of the chain, the last one first, `within` the results that
    programs of the parts store, and `whole` those that the kernel stores which merges them.
    """

    program: Program
    of: str  # the label
    label: str  # numbers its parts
    parts: Mapping[str, str]
    merged: tuple[str, ...]
    within: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()

    @property
    def made(self) -> tuple[str, ...]:
        """Return the Funcs that were made."""
        return tuple(self.parts.values())


@dataclass(frozen=True, slots=True)
class _Chain:
    """The Funcs that reduce over the label, those between, and how all of them are renamed."""

    program: Program
    label: str
    part: str
    members: tuple[str, ...]
    between: tuple[str, ...]
    names: Mapping[str, str]

    def reduction(self, func: str) -> Reduce | Dot:
        """Return the reduction over the label in a Func of the chain."""
        return next(_reductions(self.program.func(func).body, self.label))


def in_parts(program: Program, asked: AskedChain) -> PartedChain:
    """Divide the reductions of a chain.

    Raises NotInPartsError if a sum of a part cannot be brought to the frame of the whole.
    """
    members, label, name = (asked.last, *asked.others), asked.label, asked.name
    between = tuple(_between(program, members, label))
    taken = {one.name for one in (*program.labels, *program.inputs, *program.funcs)}
    names = dict[str, str]()
    for one in (*members, *between):
        names[one] = fresh(f"{one}_parts", taken)
        taken.add(names[one])
    chain = _Chain(program, label, name, members, between, names)
    made = dict[str, tuple[Func, ...]]()
    for func in program.funcs:
        if func.name in members:
            made[func.name] = _divided(chain, func)
        elif func.name in between:
            if any(_reductions(func.body, label)):
                raise NotInPartsError(func.name, "it reduces over the label, and has it, too")
            made[func.name] = (_of_part(chain, func, func.body), func)
    funcs = tuple(one for func in program.funcs for one in made.get(func.name, (func,)))
    numbers = Label(name, reducible=True, part=Part(label, asked.size))
    labels = (*program.labels, numbers)
    made_program = replace(program, labels=labels, funcs=funcs)
    return PartedChain(made_program, label, name, names, members, asked.within, asked.whole)


def fresh(name: str, taken: set[str]) -> str:
    """Return a name that is not taken: the given one, or with a number behind it."""
    count = 2
    made = name
    while made in taken:
        made, count = f"{name}_{count}", count + 1
    return made


def _between(program: Program, members: tuple[str, ...], label: str) -> Iterator[str]:
    """Yield the Funcs along the label that depend on results of members and that members read."""
    below = producers(program)
    depending = set(members)
    for func in in_order(program):
        if func.name not in members and depending & set(below[func.name]):
            depending.add(func.name)
    needed, pending = set[str](), list(members)
    while pending:
        for one in below[pending.pop()]:
            if one not in needed:
                needed.add(one)
                pending.append(one)
    for func in program.funcs:
        if func.name in depending & needed and func.name not in members and label in func.labels:
            yield func.name


def _divided(chain: _Chain, func: Func) -> tuple[Func, ...]:
    """Return the Func of a part, and the Func that merges the parts."""
    nodes = list(_reductions(func.body, chain.label))
    if len(nodes) != 1 or func.into is not None:
        raise NotInPartsError(func.name, "it is more than one reduction over the label")
    (node,) = nodes
    operation = node.operation if isinstance(node, Reduce) else "rsum"
    if operation in (*WITHOUT_PARTS, *PLACES) or (
        isinstance(node, Reduce) and node.scan is not None
    ):
        raise NotInPartsError(func.name, f"'{operation}' has no partial results that are numbers")
    inside = [one for one in free_labels(node) if one not in func.labels]
    if inside:
        why = f"it is inside of a reduction over '{inside[0]}', and reads at its index"
        raise NotInPartsError(func.name, why)
    if any(list(_reductions(one, chain.label)) for one in children(node)):
        raise NotInPartsError(func.name, "a reduction inside of it goes over the label, too")
    part = _of_part(chain, func, node)
    element = _plain(part.name, (chain.part, *func.labels))
    body = _brought(chain, element, _frames(chain, func))
    merge = Reduce(operation, body, (chain.part,), node.span)
    return part, replace(func, body=_replaced(func.body, node, merge))


def _of_part(chain: _Chain, func: Func, body: Expr) -> Func:
    """Return the Func that computes an expression for one part."""
    labels = (chain.part, *func.labels)
    body = _renamed(body, chain)
    return Func(
        chain.names[func.name], labels, body, span=func.span, when=func.when, whole=func.name
    )


def _renamed(expr: Expr, chain: _Chain) -> Expr:
    """Return the expression that reads results of the part in the place of those of the whole."""
    expr = map_children(expr, lambda one: _renamed(one, chain))
    if isinstance(expr, Reshape):
        return expr.operand  # the labels line up by name, and there is one more now
    if isinstance(expr, Read) and expr.tensor in chain.names:
        indices = (Affine(((chain.part, 1),)), *expr.indices)
        element = replace(expr, tensor=chain.names[expr.tensor], indices=indices)
        body = chain.program.func(expr.tensor).body
        # A part of `2 * rmax(...)` is the maximum alone, and whoever reads it doubles it.
        if expr.tensor in chain.members and factor_of_extreme(body) is not None:
            return _replaced(body, chain.reduction(expr.tensor), element)
        return element
    return expr


def factor_of_extreme(body: Expr) -> float | None:
    """Return by what a maximum or a minimum is multiplied; None if a value is nothing of that kind.

    A written number may be added, too.
    """
    match body:
        case Reduce(operation=operation):
            return 1.0 if operation in FRAMES else None
        case Apply(operation="neg", operands=(inner,)):
            found = factor_of_extreme(inner)
            return None if found is None else -found
        case Apply(operation="add" | "sub" | "mul" | "div" as operation, operands=(left, right)):
            return _factor_beside(operation, left, right)
        case _:
            return None


def _factor_beside(operation: str, left: Expr, right: Expr) -> float | None:
    """Return by what an extreme is multiplied that stands beside a written number."""
    number = _number(right)
    found = factor_of_extreme(left)
    if number is None and operation != "div":
        number, found = _number(left), factor_of_extreme(right)
        if operation == "sub" and found is not None:
            found = -found
    if number is None or found is None:
        return None
    if operation in ("mul", "div"):
        by = number if operation == "mul" or not number else 1 / number
        return found * by or None
    return found


def _number(expr: Expr) -> float | None:
    """Return a finite number as written."""
    match expr:
        case Apply(operation="neg", operands=(inner,)):
            found = _number(inner)
            return None if found is None else -found
        case Integer(value=value) | Float(value=value):
            return float(value) if isfinite(value) else None
        case _:
            return None


def _reductions(expr: Expr, label: str) -> Iterator[Reduce | Dot]:
    """Yield the reductions over a label that are not inside of other ones."""
    if isinstance(expr, Reduce | Dot) and label in expr.labels:
        yield expr
        return
    for one in children(expr):
        yield from _reductions(one, label)


def _replaced(expr: Expr, node: Expr, by: Expr) -> Expr:
    if expr is node:
        return by
    return map_children(expr, lambda one: _replaced(one, node, by))


def _frames(chain: _Chain, func: Func) -> tuple[tuple[Read, float], ...]:
    """Return the frames of a reduction: reads of earlier results, and their rates.

    What is between is put into the operand first.
    """
    program = chain.program
    for between in chain.between:
        program = inlined(program, between)
    (node,) = _reductions(program.func(func.name).body, chain.label)
    known = {name: Motion({name: 1.0}) for name in chain.members if name != func.name}
    try:
        found = motion_of(node, known)
    except TangledExpressionError as error:
        raise NotInPartsError(
            func.name,
            f"no factor and no sum brings this to another frame: {show_expr(error.expr)}",
        ) from error
    if found.rates and not found.is_factor:
        why = "it moves by a sum, which is no number where a part has nothing to reduce"
        raise NotInPartsError(func.name, why)
    made = list[tuple[Read, float]]()
    for name, rate in found.rates.items():
        read_at = {one for one in reads(node) if one.tensor == name}
        if len(read_at) != 1:
            raise NotInPartsError(func.name, f"it reads '{name}' at several indices")
        (one,) = read_at
        if not {label for index in one.indices for label in index.labels} <= set(func.labels):
            raise NotInPartsError(func.name, f"it reads '{name}' at indices that it reduces over")
        _check_frame(chain, func, name, rate)
        made.append((one, rate))
    return tuple(made)


def _check_frame(chain: _Chain, func: Func, name: str, rate: float) -> None:
    """Refuse a frame that is no maximum and no minimum, or that lets exponentials be infinite."""
    factor = factor_of_extreme(chain.program.func(name).body)
    if factor is None:
        raise NotInPartsError(func.name, f"'{name}' {NO_EXTREME}")
    node = chain.reduction(name)
    assert isinstance(node, Reduce)
    if (rate * factor > 0) == (node.operation == "rmax"):
        why = "exponentials may be infinite: exponents subtract a maximum, and add a minimum"
        raise NotInPartsError(func.name, why)


def _brought(chain: _Chain, element: Read, frames: tuple[tuple[Read, float], ...]) -> Expr:
    """Return the result of a part, brought to the frames of the whole."""
    moved: Expr | None = None
    for whole, rate in frames:
        one = _times(Apply("sub", (whole, _renamed(whole, chain))), rate)
        moved = one if moved is None else Apply("add", (moved, one))
    return element if moved is None else Apply("mul", (element, Apply("exp", (moved,))))


def _times(difference: Apply, rate: float) -> Expr:
    """Return a difference times a rate; the sign of the rate is that of the difference."""
    left, right = difference.operands
    if rate < 0:
        difference = replace(difference, operands=(right, left))
    return difference if abs(rate) == 1 else Apply("mul", (difference, Float(abs(rate))))


def _plain(tensor: str, labels: tuple[str, ...]) -> Read:
    return Read(tensor, tuple(Affine(((label, 1),)) for label in labels))
