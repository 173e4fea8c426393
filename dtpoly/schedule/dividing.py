"""Divides loops of a tree into one over groups and one inside of each group."""

from collections.abc import Iterable
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.schedule.argument_values import Divided
from dtpoly.schedule.tree import Loop, Node, rewrite


def split_loops(node: Node, splits: Iterable[Divided]) -> Node:
    """Return the tree with its loops divided; what comes of one may be divided further."""
    chosen = {item.label: item for item in splits}

    def split(one: Node) -> Node:
        return _split(one, chosen) if isinstance(one, Loop) else one

    return rewrite(node, split)


def _split(loop: Loop, chosen: dict[str, Divided]) -> Loop:
    item = chosen.get(loop.axis.label)
    if item is None or loop.axis.step is None:
        return loop
    axis = loop.axis
    assert axis.step is not None
    width = axis.step * item.size
    inner = replace(
        axis,
        name=f"{loop.func}.{item.new}",
        label=item.new,
        origin=Affine(((axis.name, 1),)),
        extent=width,
    )
    if axis.is_backwards:
        inner = replace(inner, time=inner.value.scaled(-1))
    below = _split(replace(loop, axis=inner), chosen)
    return replace(loop, axis=replace(axis, step=width), child=below)
