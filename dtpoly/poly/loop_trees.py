"""Asks isl for the tree of the loops of a schedule, once for all that differ in names alone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path
from dtpoly.poly.bands import schedule_of
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import is_ranged
from dtpoly.poly.numbered_names import NumberedText, numbered, remembered_apart_from_names
from dtpoly.poly.settled_dims import Places, places_of, schedule_question, without_settled
from dtpoly.poly.tiles import StatementTiles


@dataclass(frozen=True, slots=True)
class NamedTree:
    """A tree of isl, and what statements and axes are known as whose names it has otherwise.

    `places` says where the dims of a statement are, by its name in the tree. Without an entry,
    they are the arguments of its call.
    """

    node: isl.AstNode
    known_as: Mapping[str, str]
    places: Mapping[str, Places]

    def renamed(self, known_as: Mapping[str, str]) -> NamedTree:
        """Return the tree with other names for those that it is known by."""
        own = {name: known_as.get(known, known) for name, known in self.known_as.items()}
        return replace(self, known_as={**known_as, **own})


def tree_of(
    tiles: Sequence[StatementTiles], context: isl.Set, flat: frozenset[str], with_full: bool
) -> NamedTree:
    """Return the tree of loops that isl makes; it may be that of tiles with other names."""
    return remembered_apart_from_names(
        "loops",
        lambda: _tree_question(tiles, context, flat, with_full),
        lambda: _made(tiles, context, schedule_of(tiles, flat, with_full=with_full)),
        NamedTree.renamed,
    )


def _made(tiles: Sequence[StatementTiles], context: isl.Set, schedule: isl.Schedule) -> NamedTree:
    """Return the tree of a schedule; isl gets it without the dims that are settled."""
    if len(tiles) == 1:  # then isl has no more to do than it takes to find these dims
        return _asked(context, schedule)
    places = places_of(tiles, context)
    left = without_settled(schedule, tiles, places)
    tree = remembered_apart_from_names(
        "loops of dims that are left",
        lambda: schedule_question(left, context, tiles),
        lambda: _asked(context, left),
        NamedTree.renamed,
    )
    name_of = {known: name for name, known in tree.known_as.items()}
    return replace(tree, places={name_of.get(one, one): some for one, some in places.items()})


def _asked(context: isl.Set, schedule: isl.Schedule) -> NamedTree:
    return NamedTree(isl.AstBuild.from_context(context).node_from_schedule(schedule), {}, {})


def _tree_question(
    tiles: Sequence[StatementTiles], context: isl.Set, flat: frozenset[str], with_full: bool
) -> NumberedText:
    """Return all that decides about a tree; names of labels stay, others are numbered.

    These are the names of statements, and of the loops and lanes around them.
    """
    labels = {label for one in tiles for label in one.statement.labels}
    names = {name for one in tiles for name in (one.name, *one.dims, *_axes(one.path))} - labels
    known = with_full, sorted(flat), [_known(one, tiles) for one in tiles]
    return numbered(f"{context}\n{known}", names)


def _axes(path: Path) -> Iterator[str]:
    return (axis.name for axis in (*path.loops, *path.lanes))


def _known(one: StatementTiles, tiles: Sequence[StatementTiles]) -> Hashable:
    """Return all data that decides which loops are made around the tiles of a statement."""
    sets = str(one.domain), str(one.instances)
    statement, path = one.statement, one.path
    ranged = tuple(label for label in statement.labels if is_ranged(statement, label))
    taken = statement.taken if ranged else ()
    places = statement.copies, statement.bound, tuple(sorted(statement.relative))
    named = one.name, one.dims, statement.labels, statement.is_boxed, ranged, taken, *places
    # Of a position in a sequence only the order counts.
    steps = tuple(
        step if isinstance(step, Axis) else _rank(step, depth, tiles)
        for depth, step in enumerate(path.steps)
    )
    return *named, one.lanes, path.grid, steps, path.lanes, *sets


def _rank(position: int, depth: int, tiles: Sequence[StatementTiles]) -> int:
    """Return how many positions of the tiles in their sequences come before this one."""
    others = {one.path.steps[depth] for one in tiles if depth < len(one.path.steps)}
    return sum(1 for other in others if not isinstance(other, Axis) and other < position)
