"""Builds trees from statements and their loops: neighbours share loops, and loops trade places."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import groupby
from types import MappingProxyType

from dtpoly.algorithm.expressions import Affine
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import Statement
from dtpoly.schedule.tree import Leaf, Loop, Node, in_sequence, leaves

NO_SIZES: Mapping[str, int] = MappingProxyType({})
Nested = tuple[Leaf, tuple[Loop, ...]]


def nest(
    statements: Iterable[Statement],
    labels: Sequence[str],
    without: Sequence[str] = (),
    sizes: Mapping[str, int] = NO_SIZES,
) -> Node:
    """Nest each statement in loops over all its labels but some, in one order for all statements.

        for x: init; for x: for k: update; for x: value
          -->  for x: (init; for k: update; value)

    `labels` are those on the Func's left side, which come first. The others follow as they stand in
    the statements. If the file says the size of a label, a loop over it has that extent.
    """
    statements = tuple(statements)
    back = _backwards(statements)
    order = dict.fromkeys((*labels, *(label for one in statements for label in one.labels)))
    rank = {label: at for at, label in enumerate(order)}
    return nested(
        [
            (
                Leaf(statement.name),
                tuple(
                    _loop(statement, label, sizes.get(label), is_back=label in back[statement.name])
                    for label in sorted(statement.labels, key=partial(_place, statement, rank))
                    if label not in without or label in statement.bound
                ),
            )
            for statement in statements
        ]
    )


def _place(statement: Statement, rank: Mapping[str, int], label: str) -> tuple[bool, int]:
    """Return the place of a loop in the order of loops: that along a scan is inside of the others.

    If several scans of a Func go along several labels, their loops are so in several orders.
    """
    return statement.scan is not None and statement.scan.label == label, rank[label]


def _backwards(statements: Sequence[Statement]) -> dict[str, frozenset[str]]:
    """Return the labels along which the loops of each statement go from the end to the beginning.

    A scan in reverse needs that. Other statements do so where no scan goes forwards.
    """
    scans = [one.scan for one in statements if one.scan is not None]
    forwards = {scan.label for scan in scans if not scan.is_reverse}
    backwards = frozenset(scan.label for scan in scans if scan.is_reverse)
    found = dict[str, frozenset[str]]()
    for one in statements:
        if one.scan is None or one.scan.label not in backwards:
            found[one.name] = backwards - forwards
        else:
            own = {one.scan.label} if one.scan.is_reverse else set[str]()
            found[one.name] = (backwards - forwards - {one.scan.label}) | own
    return found


def _loop(statement: Statement, label: str, extent: int | None, *, is_back: bool) -> Loop:
    # Parts that are named like those of another Func go by their own name within this one.
    name = label.removesuffix(f".{statement.func}")
    axis = Axis(f"{statement.func}.{name}", name, Affine(((label, 1),)), extent=extent)
    if is_back:
        axis = replace(axis, time=axis.value.scaled(-1))
    return Loop(statement.func, axis, Leaf(""), label in statement.bound)


def nested(items: Sequence[Nested], depth: int = 0) -> Node:
    """Make a tree of leaves inside of their loops; neighbours share loops while they agree."""
    parts: list[Node] = []
    for key, group in groupby(items, lambda item: _key(item[1], depth)):
        below = tuple(group)
        if key is None:
            parts.extend(leaf for leaf, _ in below)
        else:
            loop = below[0][1][depth]
            child = nested(below, depth + 1)
            parts.append(Loop(loop.func, loop.axis, child, loop.is_reduction, loop.unroll))
    return in_sequence(parts)


def _key(around: tuple[Loop, ...], depth: int) -> tuple[Axis, bool] | None:
    if depth >= len(around):
        return None
    return around[depth].axis, around[depth].is_reduction


def reordered(node: Node, order: Sequence[str], labels: Sequence[str]) -> Node:
    """Return the tree with the named loops in the places that these loops had.

    `labels` are those of the Func's left side, whose loops stand first.
    """
    items = list(leaves(node))
    found: dict[tuple[str, bool], None] = {}
    own = [loop for _, around in items for loop in around if not loop.is_reduction]
    own.sort(key=lambda loop: _rank(loop, labels))
    for loop in (*own, *(loop for _, around in items for loop in around)):
        found.setdefault((loop.axis.label, loop.is_reduction))
    keys = list(found)
    wanted = [key for label in order for key in keys if key[0] == label]
    places = [at for at, key in enumerate(keys) if key in wanted]
    for at, key in zip(places, wanted, strict=True):
        keys[at] = key
    rank = {key: at for at, key in enumerate(keys)}
    return nested(
        [
            (leaf, tuple(sorted(around, key=lambda o: rank[o.axis.label, o.is_reduction])))
            for leaf, around in items
        ]
    )


def _rank(loop: Loop, labels: Sequence[str]) -> int:
    index = loop.axis.index.plain
    return labels.index(index) if index in labels else len(labels)
