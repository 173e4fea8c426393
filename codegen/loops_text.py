"""The loops of a kernel in, text or data out: one node a line, with the source's labels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.poly.loops import (
    Bound,
    Chosen,
    Combined,
    Condition,
    Either,
    For,
    Guard,
    LoopNode,
    Once,
    Tile,
)

from .widths import LARGE, WIDE

# How tightly the operations bind.
SUM, PRODUCT, ATOM = 1, 2, 3
LEVEL = {"+": SUM, "-": SUM, "*": PRODUCT, "//": PRODUCT, "%": PRODUCT}


def show_loops(nodes: Iterable[LoopNode]) -> Iterator[str]:
    """Loops, conditions and tile statements: each with the indices where its tile starts."""
    for node in nodes:
        yield from _node(node, _Names({}), "")


@dataclass(frozen=True, slots=True)
class _Names:
    """What iterators are called: by the label of their axis, with a number where that is taken."""

    known: Mapping[str, str]

    def with_loop(self, name: str, axis: str) -> _Names:
        """The same with one more loop."""
        label = axis.rpartition(".")[2]
        used = set(self.known.values())
        numbers = (f"{label}{number}" for number in range(len(used) + 1))
        return _Names({**self.known, name: next(one for one in numbers if one not in used)})

    def shown(self, value: Affine) -> str:
        """An expression over iterators, axes and sizes."""
        return show_affine(
            value.substitute({n: Affine(((self.word(n), 1),)) for n in value.labels})
        )

    def word(self, name: str) -> str:
        """A name as it is shown: sizes as the language writes them."""
        return self.known.get(name) or re.sub(r"^N_(\w+)$", r"len(\1)", name)


def _node(node: LoopNode, names: _Names, pad: str) -> Iterator[str]:
    match node:
        case For(name=name, axis=axis, start=start, stop=stop, step=step, body=body):
            inner = names.with_loop(name, axis)
            ends = f"from {_bound(start, names)} to below {_bound(stop, names)}"
            by = f" by {step}" if step != 1 else ""
            yield f"{pad}for {inner.word(name)} {ends}{by}  # {axis}"
            yield from _nodes(body, inner, pad)
        case Once(name=name, axis=axis, value=value, body=body):
            inner = names.with_loop(name, axis)
            yield f"{pad}let {inner.word(name)} = {_bound(value, names)}  # {axis}"
            for child in body:
                yield from _node(child, inner, pad)
        case Guard(conditions=conditions, body=body):
            yield f"{pad}if {_all(conditions, names)}"
            yield from _nodes(body, names, pad)
        case Tile(statement=statement, start=start):
            # Axes that a private copy belongs to are where they are.
            places = ((dim, _bound(value, names)) for dim, value in start.items())
            at = ", ".join(f"{dim} = {place}" for dim, place in places if dim != place)
            yield f"{pad}{statement}{f' at {at}' if at else ''}"
        case _:
            assert_never(node)


def _nodes(body: Sequence[LoopNode], names: _Names, pad: str) -> Iterator[str]:
    for child in body:
        yield from _node(child, names, f"{pad}  ")


def show_bound(value: Bound) -> str:
    """A bound on its own: names as they are."""
    return _bound(value, _Names({}))


def show_condition(one: Condition) -> str:
    """A condition on its own."""
    return _condition(one, _Names({}))


def _bound(value: Bound, names: _Names, least: int = 0) -> str:
    match value:
        case Affine():
            text, level = names.shown(value), SUM if _is_sum(value) else ATOM
        case Combined(operation="min" | "max" as name, operands=operands):
            inner = ", ".join(_bound(one, names) for one in operands)
            text, level = f"{name}({inner})", ATOM
        case Combined(operation=operation, operands=(inner,)) if operation in (LARGE, WIDE):
            return _bound(inner, names, least)  # how wide it is, is not the loops' business
        case Combined("+", (Combined("-", (Affine(terms=(), constant=0), small)), large)):
            return _bound(Combined("-", (large, small)), names, least)
        case Combined(operation=operation, operands=(left, right)):
            level = LEVEL[operation]
            text = f"{_bound(left, names, level)} {operation} {_bound(right, names, level + 1)}"
        case Combined(operation=operation, operands=operands):
            parts = [_bound(one, names, SUM) for one in operands]
            text, level = f" {operation} ".join(parts), LEVEL[operation]
        case Chosen(conditions=conditions, left=left, right=right):
            test = _all(conditions, names)
            text, level = f"{_bound(left, names)} if {test} else {_bound(right, names)}", 0
        case _:
            assert_never(value)
    return f"({text})" if level < least else text


def _is_sum(value: Affine) -> bool:
    return len(value.terms) + bool(value.constant) > 1 or any(c != 1 for _, c in value.terms)


def _all(conditions: Iterable[Condition], names: _Names) -> str:
    return " and ".join(_condition(one, names) for one in conditions)


def _condition(one: Condition, names: _Names) -> str:
    if isinstance(one, Either):
        return f"({' or '.join(_all(way, names) for way in one.ways)})"
    relation = "=" if one.is_equal else ">="
    return f"{_bound(one.left, names)} {relation} {_bound(one.right, names)}"


def loops_data(nodes: Iterable[LoopNode]) -> list[dict[str, object]]:
    """The same for JSON; bounds and conditions are texts, over isl's names of iterators."""
    return [_data(node) for node in nodes]


def _data(node: LoopNode) -> dict[str, object]:
    match node:
        case For():
            return {
                "kind": "for",
                "name": node.name,
                "axis": node.axis,
                "start": show_bound(node.start),
                "stop": show_bound(node.stop),
                "step": node.step,
                "body": loops_data(node.body),
            }
        case Once():
            value = show_bound(node.value)
            kept = {"kind": "once", "name": node.name, "axis": node.axis, "value": value}
            return {**kept, "body": loops_data(node.body)}
        case Guard():
            conditions = [show_condition(one) for one in node.conditions]
            return {"kind": "if", "conditions": conditions, "body": loops_data(node.body)}
        case Tile():
            start = {dim: show_bound(value) for dim, value in node.start.items()}
            return {"kind": "tile", "statement": node.statement, "start": start}
        case _:
            assert_never(node)
