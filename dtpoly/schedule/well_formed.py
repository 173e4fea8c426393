"""Finds the first reason why the result of a user's primitive is no State.

Only its form is looked at: whether a tree in good form computes the right thing is for `legality`
to say.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import cast

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.axes import Axis
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Leaf, Loop, Sequence, leaves, loops, statements
from dtpoly.schedule.typed_fields import wrong_field

DEEPEST = 1_000  # nodes, one in the other
MOST = 2**62  # sets have no larger numbers in them
NODES = ("body", "child", "children", "asked")  # fields that are looked at one after another


def flaw(before: State, after: object) -> str | None:
    """Say why the answer of an `apply` cannot be used; None if it can.

    A primitive may change loops, lanes, grids and their order. Statements, what they depend on, and
    in which kernel they are must stay: the result is checked against these.
    """
    if not isinstance(after, State):
        return f"it returns {_called(after)}, not a State"
    for field in fields(before):
        if field.name != "kernels" and getattr(after, field.name) != getattr(before, field.name):
            return f"it changes the '{field.name}' of the State; only the kernels may change"
    return next(_in_kernels(before, after.kernels), None)


def _in_kernels(before: State, kernels: object) -> Iterator[str]:
    if not isinstance(kernels, tuple):
        yield f"the kernels are {_called(kernels)}, not a tuple"
        return
    home = {name: kernel.name for kernel in before.kernels for name in statements(kernel.body)}
    funcs = {kernel.name: kernel.func for kernel in before.kernels}
    labels = {label for statement in before.model.statements for label in statement.labels}
    placed: set[str] = set()
    for kernel in cast("tuple[object, ...]", kernels):
        if not isinstance(kernel, Kernel):
            yield f"among the kernels is {_called(kernel)}"
            return
        wrong = wrong_field(kernel, NODES)
        if wrong is not None:
            yield wrong
            return
        if funcs.pop(kernel.name, None) != kernel.func:
            yield f"the kernel '{kernel.name}' of '{kernel.func}' is new or there twice"
        wrong = next(_in_form(kernel), None)
        if wrong is not None:
            yield wrong
            return
        for name in statements(kernel.body):
            if name not in home:
                yield f"the tree has a statement '{name}', which is not in the program"
            elif home[name] != kernel.name:
                yield f"the statement '{name}' is moved to another kernel, '{kernel.name}'"
            elif name in placed:
                yield f"the statement '{name}' stands in the tree twice"
            placed.add(name)
        yield from _in_axes(kernel, labels)
        yield from _in_loops(kernel, before)
    if funcs:
        yield f"the kernel '{next(iter(funcs))}' is left out"


def _in_form(kernel: Kernel) -> Iterator[str]:
    """Report what in a kernel is not of its declared type; `leaves` and others rely on types."""
    where = f"in the tree of '{kernel.name}'"
    if not _are_axes(kernel.grid):
        yield f"the grid of '{kernel.name}' is not a tuple of axes"
    asked = cast(object, kernel.options.asked)
    if not isinstance(asked, tuple) or not all(map(_edits, cast("tuple[object, ...]", asked))):
        yield f"what is asked of the launch of '{kernel.name}' is no tuple of primitives"
        return
    pending: list[tuple[object, int]] = [(kernel.body, 1)]
    while pending:
        node, depth = pending.pop()
        if depth > DEEPEST:
            yield f"{where} nodes nest more than {DEEPEST} deep"
            return
        wrong = wrong_field(node, NODES) if isinstance(node, Leaf | Loop) else None
        if wrong is not None:
            yield f"{where} {wrong}"
            return
        match node:
            case Leaf():
                if not _are_axes(node.lanes):
                    yield f"the lanes of '{node.statement}' are not a tuple of axes"
            case Sequence(children=children):
                if not isinstance(cast(object, children), tuple) or not children:
                    yield f"{where} is a Sequence whose children are no tuple of nodes"
                    return
                pending.extend((child, depth + 1) for child in children)
            case Loop(axis=axis, child=child, unroll=unroll):
                if not _are_axes((axis,)) or not _is_count(unroll):
                    yield f"{where} is a Loop without an axis or a number to unroll"
                pending.append((child, depth + 1))
            case _:
                yield f"{where} is {_called(node)} instead of a Loop, Sequence or Leaf"


def _edits(one: object) -> bool:
    """Return whether something may edit a launch, as each primitive may."""
    return all(callable(getattr(one, word, None)) for word in ("edit", "rewrite", "words"))


def _in_axes(kernel: Kernel, labels: set[str]) -> Iterator[str]:
    ways = [
        (*kernel.grid, *(loop.axis for loop in around), *leaf.lanes)
        for leaf, around in leaves(kernel.body)
    ]
    named = {axis.name: axis for way in ways for axis in way}
    for way in ways:
        twice = _first_twice([axis.name for axis in way])
        if twice is not None:
            yield f"two axes around one statement are called '{twice}'"
    for axis in named.values():
        for label in axis.index.labels:
            if label not in labels:
                yield f"the axis '{axis.name}' walks '{label}', which is no label of a statement"
        for word, value in (("starts at", axis.origin), ("counts", axis.time or Affine())):
            for name in value.labels:
                if name not in named:
                    yield f"the axis '{axis.name}' {word} '{name}', which is no axis of the kernel"
        if _leads_to_itself(axis, named):
            yield f"the axis '{axis.name}' starts at itself"


def _in_loops(kernel: Kernel, before: State) -> Iterator[str]:
    """Report loops that belong to no Func."""
    funcs = {statement.func for statement in before.model.statements}
    for *_, loop in loops(kernel.body):
        if loop.func not in funcs:
            yield f"a loop over '{loop.axis.label}' is one of '{loop.func}', which is not there"


def _leads_to_itself(axis: Axis, named: Mapping[str, Axis]) -> bool:
    pending, seen = list(axis.origin.labels), set[str]()
    while pending:
        name = pending.pop()
        if name == axis.name:
            return True
        if name not in seen and name in named:
            seen.add(name)
            pending.extend(named[name].origin.labels)
    return False


def _first_twice(names: list[str]) -> str | None:
    return next((name for at, name in enumerate(names) if name in names[:at]), None)


def _are_axes(axes: object) -> bool:
    if not isinstance(axes, tuple):
        return False
    return all(isinstance(axis, Axis) and _is_axis(axis) for axis in cast("tuple[object]", axes))


def _is_axis(axis: Axis) -> bool:
    numbers = (axis.step, axis.extent)
    return (
        _is_word(axis.label, r"[\w.]+")
        and _is_word(axis.name, r"[\w.@]+")
        and all(number is None or _is_count(number) for number in numbers)
        and all(map(_is_affine, (axis.index, axis.origin, axis.time or Affine())))
    )


def _is_word(text: object, pattern: str) -> bool:
    return isinstance(text, str) and re.fullmatch(pattern, text) is not None


def _is_affine(index: object) -> bool:
    if not isinstance(index, Affine) or wrong_field(index) is not None:
        return False
    return all(abs(number) < MOST for number in (index.constant, *(of for _, of in index.terms)))


def _is_count(number: object) -> bool:
    return isinstance(number, int) and 1 <= number < MOST


def _called(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
