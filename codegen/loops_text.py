"""Shows the loops of a kernel as text, one node a line with the source's labels, or as data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

from dtpoly.ir.bounds_text import LoopNames, bound_text, conditions_text, show_bound, show_condition
from dtpoly.poly.loops import For, Guard, LoopNode, Once, Tile


def show_loops(nodes: Iterable[LoopNode]) -> Iterator[str]:
    """Loops, conditions and tile statements: each with the indices where its tile starts."""
    for node in nodes:
        yield from _node(node, LoopNames({}), "")


def _node(node: LoopNode, names: LoopNames, pad: str) -> Iterator[str]:
    match node:
        case For(name=name, axis=axis, start=start, stop=stop, step=step, body=body):
            inner = names.with_loop(name, axis)
            ends = f"from {bound_text(start, names)} to below {bound_text(stop, names)}"
            by = f" by {step}" if step != 1 else ""
            yield f"{pad}for {inner.word(name)} {ends}{by}  # {axis}"
            yield from _nodes(body, inner, pad)
        case Once(name=name, axis=axis, value=value, body=body):
            inner = names.with_loop(name, axis)
            yield f"{pad}let {inner.word(name)} = {bound_text(value, names)}  # {axis}"
            for child in body:
                yield from _node(child, inner, pad)
        case Guard(conditions=conditions, body=body):
            yield f"{pad}if {conditions_text(conditions, names)}"
            yield from _nodes(body, names, pad)
        case Tile(statement=statement, start=start):
            # Axes that a private copy belongs to are where they are.
            places = ((dim, bound_text(value, names)) for dim, value in start.items())
            at = ", ".join(f"{dim} = {place}" for dim, place in places if dim != place)
            yield f"{pad}{statement}{f' at {at}' if at else ''}"
        case _:
            assert_never(node)


def _nodes(body: Sequence[LoopNode], names: LoopNames, pad: str) -> Iterator[str]:
    for child in body:
        yield from _node(child, names, f"{pad}  ")


def loops_data(nodes: Iterable[LoopNode]) -> list[dict[str, object]]:
    """Return the same for JSON; bounds and conditions are texts, over isl's names of iterators."""
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
