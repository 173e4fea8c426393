"""Moves the places of a kernel as the docstrings of users' primitives say.

This is a separate account of `tests/schedule/user_primitives.py`: it has no tree, but only the
place of each instance. Some of these primitives are wrong on purpose, and then instances get lost.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from dtpoly.algorithm.program import Directive
from tests.oracle.lines import Line
from tests.oracle.statements import LEFT
from tests.oracle.ways import Values, Way

Ways = Mapping[Line, Way]


@dataclass(frozen=True, slots=True)
class Moved:
    """The place of an instance, without its positions; a lost instance has no place."""

    program: tuple[int, ...]
    values: Values
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Rewriting:
    """The effect of one directive: the new ways, and a function that moves an instance."""

    ways: Ways
    move: Callable[[Line, tuple[int, ...], Moved], Moved]


def rewritten(
    directives: Sequence[Directive], host: str, ways: Ways, extents: Mapping[str, int]
) -> list[Rewriting]:
    """Return the effects of the directives on the Func of a kernel, one after another."""
    found: list[Rewriting] = []
    for directive in directives:
        found.append(_rewriting(directive, host, ways, extents))
        ways = found[-1].ways
    return found


def _rewriting(
    directive: Directive, host: str, ways: Ways, extents: Mapping[str, int]
) -> Rewriting:
    words = [str(argument.target) for argument in directive.arguments]
    sizes = {
        str(argument.target): argument.value
        for argument in directive.arguments
        if isinstance(argument.value, int)
    }
    match directive.name:
        case "interchange":
            return _interchange(words[0], ways)
        case "backwards":
            return _on_values(ways, lambda way, at: _backwards(words[0], way, at))
        case "skew":
            return _on_values(ways, lambda way, at: _skew(host, words[0], words[1], way, at))
        case "lean":
            return _on_values(ways, lambda way, at: _lean(host, words[0], words[1], way, at))
        case "distribute":
            return _in_order(ways, {line: _distributed(words[0], w) for line, w in ways.items()})
        case "upside_down":
            return _in_order(ways, {line: _turned(way) for line, way in ways.items()})
        case "forget":
            lost = _last(ways)
            return Rewriting(
                ways, lambda line, _, old: replace(old, is_lost=old.is_lost or line in lost)
            )
        case "flatten":
            return _on_values(ways, lambda way, at: (0,) * len(at))
        case "spread":
            walked = {dim.label for line in ways for dim in line.dims}
            empty = {label for label in walked.intersection(sizes) if not extents[label]}
            return Rewriting(
                ways, lambda line, indices, old: _spread(sizes, empty, line, indices, old)
            )
        case "shorten":
            return Rewriting(
                ways, lambda line, indices, old: _shorten(host, sizes, line, indices, old)
            )
        case _:
            raise ValueError(directive.name)


def ranked(ways: Ways) -> dict[Line, tuple[int, ...]]:
    """Return each position as a number, such that positions in one loop keep their order."""
    every = sorted({position for way in ways.values() for position in way.positions})
    rank = {position: at for at, position in enumerate(every)}
    return {line: tuple(rank[p] for p in way.positions) for line, way in ways.items()}


def _on_values(ways: Ways, change: Callable[[Way, Values], Values]) -> Rewriting:
    return Rewriting(ways, lambda line, _, old: replace(old, values=change(ways[line], old.values)))


def _in_order(before: Ways, after: Ways) -> Rewriting:
    """Change positions, and leave loops as they are."""
    assert all(before[line].loops == after[line].loops for line in before)
    return Rewriting(after, lambda _line, _indices, old: old)


def _interchange(label: str, ways: Ways) -> Rewriting:
    """Exchange loops, inner ones first.

    A loop that contains anything but one loop stays in place.
    """
    swaps: dict[Line, list[int]] = {line: [] for line in ways}
    now = dict(ways)
    for depth in reversed(range(max((len(way.loops) for way in ways.values()), default=0))):
        found: list[Line] = []
        for line, way in now.items():
            if len(way.loops) <= depth + 1 or way.loops[depth].label != label:
                continue
            beside = [w for w in now.values() if len(w.loops) > depth and _shares(w, way, depth)]
            children = {w.positions[depth + 1] for w in beside}
            if len(children) == 1 and all(len(w.loops) > depth + 1 for w in beside):
                found.append(line)
        for line in found:
            loops = list(now[line].loops)
            loops[depth : depth + 2] = loops[depth + 1], loops[depth]
            now[line] = now[line]._replace(loops=tuple(loops))
            swaps[line].append(depth)

    def move(line: Line, _indices: tuple[int, ...], old: Moved) -> Moved:
        values = list(old.values)
        for depth in swaps[line]:
            values[depth : depth + 2] = values[depth + 1], values[depth]
        return replace(old, values=tuple(values))

    return Rewriting(now, move)


def _shares(one: Way, other: Way, depth: int) -> bool:
    """True if both have the same loop at this depth."""
    return one.positions[: depth + 1] == other.positions[: depth + 1]


def _backwards(label: str, way: Way, values: Values) -> Values:
    return tuple(
        -value if loop.label == label else value
        for loop, value in zip(way.loops, values, strict=True)
    )


def _counted(way: Way, values: Values) -> list[tuple[tuple[str, str], int]]:
    """Return the Func and the label of each loop, with its value in indices."""
    return [
        ((loop.func, loop.label), value * loop.step)
        for loop, value in zip(way.loops, values, strict=True)
    ]


def _skew(host: str, outer: str, inner: str, way: Way, values: Values) -> Values:
    """Let an inner loop start at the values of the loops outside of it."""
    counted = _counted(way, values)
    result = list(values)
    for depth, (loop, at) in enumerate(counted):
        if loop == (host, inner) and way.loops[depth].step:
            result[depth] = at + sum(o for other, o in counted[:depth] if other == (host, outer))
    return tuple(result)


def _lean(host: str, outer: str, inner: str, way: Way, values: Values) -> Values:
    """Let an outer loop count back by the values of the loops inside of it."""
    counted = _counted(way, values)
    result = list(values)
    for depth, (loop, at) in enumerate(counted):
        if loop == (host, outer) and way.loops[depth].step:
            result[depth] = at - sum(o for other, o in counted[depth:] if other == (host, inner))
    return tuple(result)


def _distributed(label: str, way: Way) -> Way:
    """Put each child where its loop was, alone in a loop, inner loops first."""
    positions = list(way.positions)
    for depth in reversed(range(len(way.loops))):
        if way.loops[depth].label == label:
            positions[depth] += positions[depth + 1]
            positions[depth + 1] = (0,)
    return way._replace(positions=tuple(positions))


def _turned(way: Way) -> Way:
    return way._replace(positions=tuple(tuple(-at for at in p) for p in way.positions))


def _last(ways: Ways) -> set[Line]:
    """Return the statements in the last child of any sequence."""
    found: set[Line] = set()
    for line, way in ways.items():
        for depth, position in enumerate(way.positions):
            beside = {
                other.positions[depth]
                for other in ways.values()
                if len(other.loops) >= depth and other.positions[:depth] == way.positions[:depth]
            }
            if len(beside) > 1 and position == max(beside):
                found.add(line)
    return found


def _spread(
    sizes: Mapping[str, int],
    empty: Set[str],
    line: Line,
    indices: Sequence[int],
    old: Moved,
) -> Moved:
    """Move an instance to its program by labels.

    A statement without one of the labels on the left is in the first program, if the label has an
    index.
    """
    free = {d.label: i for d, i in zip(line.dims, indices, strict=True) if d.binder == LEFT}
    blocks = (free[label] // size if label in free else 0 for label, size in sizes.items())
    is_lost = any(label not in free for label in empty)
    return replace(old, program=(*old.program, *blocks), is_lost=old.is_lost or is_lost)


def _shorten(
    host: str, sizes: Mapping[str, int], line: Line, indices: Iterable[int], old: Moved
) -> Moved:
    beyond = line.func == host and any(
        index >= sizes.get(dim.label, index + 1)
        for dim, index in zip(line.dims, indices, strict=True)
    )
    return replace(old, is_lost=old.is_lost or beyond)
