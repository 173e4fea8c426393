"""Moves the places of a kernel as users' primitives say in their docstrings.

An account of its own of `tests/schedule/user_primitives.py`: no tree is looked at, only where
each instance is. Some of them are wrong on purpose, and then instances get lost.
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
    """Where an instance is, besides its positions; a lost one is nowhere."""

    program: tuple[int, ...]
    values: Values
    is_lost: bool = False


@dataclass(frozen=True, slots=True)
class Rewriting:
    """What one directive does: the new ways, and where an instance of a statement goes."""

    ways: Ways
    move: Callable[[Line, tuple[int, ...], Moved], Moved]


def rewritten(
    directives: Sequence[Directive], host: str, ways: Ways, extents: Mapping[str, int]
) -> list[Rewriting]:
    """What directives on the Func of a kernel do to it, one after another."""
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
    """Each position as a number: what is compared in one loop keeps its order."""
    every = sorted({position for way in ways.values() for position in way.positions})
    rank = {position: at for at, position in enumerate(every)}
    return {line: tuple(rank[p] for p in way.positions) for line, way in ways.items()}


def _on_values(ways: Ways, change: Callable[[Way, Values], Values]) -> Rewriting:
    return Rewriting(ways, lambda line, _, old: replace(old, values=change(ways[line], old.values)))


def _in_order(before: Ways, after: Ways) -> Rewriting:
    """Positions change, loops stay."""
    assert all(before[line].loops == after[line].loops for line in before)
    return Rewriting(after, lambda _line, _indices, old: old)


def _interchange(label: str, ways: Ways) -> Rewriting:
    """Inner loops first; a loop with anything but one loop in it stays where it is."""
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
    """Whether the loop at a depth is the same one."""
    return one.positions[: depth + 1] == other.positions[: depth + 1]


def _backwards(label: str, way: Way, values: Values) -> Values:
    return tuple(
        -value if loop.label == label else value
        for loop, value in zip(way.loops, values, strict=True)
    )


def _counted(way: Way, values: Values) -> list[tuple[tuple[str, str], int]]:
    """Func and label of each loop, and where that is, in indices."""
    return [
        ((loop.func, loop.label), value * loop.step)
        for loop, value in zip(way.loops, values, strict=True)
    ]


def _skew(host: str, outer: str, inner: str, way: Way, values: Values) -> Values:
    """An inner loop counts from where the loops outside of it are."""
    counted = _counted(way, values)
    result = list(values)
    for depth, (loop, at) in enumerate(counted):
        if loop == (host, inner) and way.loops[depth].step:
            result[depth] = at + sum(o for other, o in counted[:depth] if other == (host, outer))
    return tuple(result)


def _lean(host: str, outer: str, inner: str, way: Way, values: Values) -> Values:
    """An outer loop counts back by where the loops inside of it are."""
    counted = _counted(way, values)
    result = list(values)
    for depth, (loop, at) in enumerate(counted):
        if loop == (host, outer) and way.loops[depth].step:
            result[depth] = at - sum(o for other, o in counted[depth:] if other == (host, inner))
    return tuple(result)


def _distributed(label: str, way: Way) -> Way:
    """A child stands where its loop stood, and alone in it; inner loops first."""
    positions = list(way.positions)
    for depth in reversed(range(len(way.loops))):
        if way.loops[depth].label == label:
            positions[depth] += positions[depth + 1]
            positions[depth + 1] = (0,)
    return way._replace(positions=tuple(positions))


def _turned(way: Way) -> Way:
    return way._replace(positions=tuple(tuple(-at for at in p) for p in way.positions))


def _last(ways: Ways) -> set[Line]:
    """The statements in the last child of any sequence."""
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
    """What lacks a label on the left is in the first program, if the label has any."""
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
