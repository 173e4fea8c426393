"""Puts quotients and remainders into the indices of a random Program."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from dtpoly.algorithm.expressions import (
    Affine,
    Apply,
    Expr,
    Index,
    Integer,
    Read,
    Reshape,
    children,
    divided,
    map_children,
    reads,
)
from dtpoly.algorithm.program import Func, Label, Program

DIVISORS = (2, 2, 3, 4)
SHIFTS = (0, 0, 0, 1, 2, -1, -3)
STEPS = (1, 1, 1, 2, 3, -1)
HALVED = "z"  # the label of a Func that is read at a quotient


def with_quotients(random: Random, program: Program) -> tuple[Program, str | None, int]:
    """Return the Program with some indices divided.

    If a Func is also read at `v // d`, its own label is then z; v and d are returned.
    """
    program, label, divisor = _read_at_quotients(random, program)
    funcs = tuple(replace(func, body=_changed(random, func.body)) for func in program.funcs)
    return replace(program, funcs=funcs), label, divisor


def is_divided(program: Program) -> bool:
    """True if some index has a quotient or a remainder."""
    return any(
        index.divisions
        for func in program.funcs
        for read in reads(func.body)
        for index in read.indices
    )


def _read_at_quotients(random: Random, program: Program) -> tuple[Program, str | None, int]:
    """Let the readers of a Func that reads only inputs read it at `v // d`.

    Its own label gets another name, and is shorter by this factor.
    """
    names = {func.name for func in program.funcs}
    others = [func for func in program.funcs if not _read_by(func) & names]
    chosen = [func for func in others if func.labels and random.random() < 0.6]
    if not chosen:
        return program, None, 1
    func = random.choice(chosen)
    label, divisor = random.choice(func.labels), random.choice(DIVISORS)
    axis = func.labels.index(label)
    if any(
        read.tensor == func.name and read.indices[axis].plain != label
        for other in program.funcs
        for read in reads(other.body)
    ):
        return program, None, 1
    new = replace(
        func,
        labels=tuple(HALVED if one == label else one for one in func.labels),
        body=_renamed(func.body, label),
    )

    def at_quotient(read: Read) -> Expr:
        if read.tensor != func.name:
            return read
        index = divided("//", read.indices[axis], divisor)
        return _at(read, axis, index)

    funcs = tuple(
        new if one is func else replace(one, body=_mapped(one.body, at_quotient))
        for one in program.funcs
    )
    labels = (*program.labels, Label(HALVED, reducible=True))
    return replace(program, labels=labels, funcs=funcs), label, divisor


def _read_by(func: Func) -> set[str]:
    return {read.tensor for read in reads(func.body)}


def _renamed(expr: Expr, label: str) -> Expr:
    put = {label: Affine(((HALVED, 1),))}
    match expr:
        case Index(label=own) if own == label:
            return Index(HALVED)
        case Read(indices=indices):
            return replace(expr, indices=tuple(index.substitute(put) for index in indices))
        case Reshape(operand=operand, axes=axes):
            new = tuple(HALVED if axis == label else axis for axis in axes)
            return Reshape(_renamed(operand, label), new)
        case _:
            return map_children(expr, lambda one: _renamed(one, label))


def _changed(random: Random, expr: Expr) -> Expr:
    def change(read: Read) -> Expr:
        if not read.indices or random.random() < 0.6:
            return read
        axis = random.randrange(len(read.indices))
        index = read.indices[axis]
        divisor = random.choice(DIVISORS)
        if index.is_plain and read.padding is None and random.random() < 0.3:
            return _at(read, axis, divided("%", index, divisor))
        labels = sorted({one for other in read.indices for one in other.labels})
        if random.random() < 0.3 and labels:
            index = index + Affine(((random.choice(labels), random.choice(STEPS)),))
        index = index.scaled(random.choice(STEPS)) + Affine((), random.choice(SHIFTS))
        if set(index.labels) != set(read.indices[axis].labels) and not index.labels:
            return read
        whole = divided(random.choice(("//", "//", "%")), index, divisor)
        if random.random() < 0.3:
            whole = whole.scaled(random.choice(STEPS)) + read.indices[axis]
        moved = replace(_at(read, axis, whole), padding=Integer(0))
        if {label for one in moved.indices for label in one.labels} != set(labels):
            return read
        if random.random() < 0.3:
            rest = Apply("mod", (Index(labels[0]), Integer(divisor)))
            return Apply("where", (Apply("eq", (rest, Integer(0))), moved, Integer(0)))
        return moved

    return _mapped(expr, change)


def _at(read: Read, axis: int, index: Affine) -> Read:
    indices = (*read.indices[:axis], index, *read.indices[axis + 1 :])
    return replace(read, indices=indices)


def _mapped(expr: Expr, change: Callable[[Read], Expr]) -> Expr:
    """Return the expression with reads changed; one that is divided lines up by name."""
    match expr:
        case Read():
            return change(expr)
        case Reshape(operand=Read() as read):
            changed = change(read)
            return expr if changed == read else changed
        case _ if children(expr):
            return map_children(expr, lambda one: _mapped(one, change))
        case _:
            return expr
