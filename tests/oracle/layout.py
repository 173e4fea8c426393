"""Puts the statements of a nest into loops, which gives each instance its time and its lanes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.oracle.lines import Line
from tests.oracle.said import Settings
from tests.oracle.statements import Dim

Path = tuple[int, ...]
Times = tuple[int, ...]


class Level(NamedTuple):
    """One loop over a dimension: its place in the time, its step, and its tile of lanes."""

    name: str
    slot: int
    step: int | None
    tile: int | None
    is_back: bool = False  # the loop goes from the end to the beginning


@dataclass(frozen=True, slots=True)
class Place:
    """The place of a statement: positions in sequences, and the loops over each dimension."""

    positions: Path
    levels: tuple[tuple[Level, ...], ...]

    def at(self, indices: Sequence[int], starts: Sequence[int]) -> tuple[Times, Times]:
        """Return the time and the lanes of an instance; loops begin at `starts`."""
        time = [0] * (2 * len(self.positions) - 1)
        time[::2] = self.positions
        lanes: list[int] = []
        for index, start, levels in zip(indices, starts, self.levels, strict=True):
            rest = index - start
            for _, slot, step, tile, is_back in levels:
                at = rest
                if step is not None:
                    at, rest = divmod(rest, step)
                if tile == 0:
                    lanes.append(at)
                    at = 0
                elif tile is not None:
                    at, lane = divmod(at, tile)
                    lanes.append(lane)
                time[slot] = -at if is_back else at
        return tuple(time), tuple(lanes)


@dataclass(slots=True)
class Layout:
    """The loops of a nest: `nodes` gives the label of each loop, by the path to it."""

    places: dict[Line, Place] = field(default_factory=dict[Line, Place])
    nodes: dict[Path, str] = field(default_factory=dict[Path, str])
    back: frozenset[str] = frozenset()  # labels along which scans go in reverse

    def is_back(self, path: Path) -> bool:
        """Return whether the loop at a path goes from the end to the beginning by itself."""
        slot = 2 * len(path) - 1
        place = next(p for p in self.places.values() if p.positions[: len(path)] == path)
        return any(one.is_back for levels in place.levels for one in levels if one.slot == slot)


def lay_out(
    lines: Sequence[Line],
    order: Sequence[str],
    settings: Settings,
    tile_of: Callable[[str], int | None],
    fixed: Sequence[Dim],
) -> Layout:
    """Share loops between neighbours, as the specification says."""
    names = _reordered([n for label in order for n in _chain(label, settings)], settings.order)
    rank = {name: at for at, name in enumerate(names)}
    loops: dict[Line, list[str]] = {}
    for line in lines:
        mine = [n for d in line.dims if d not in fixed for n in _chain(d.label, settings)]
        scan = None if line.reduction is None or line.role != "scan" else line.reduction.scan
        last = [] if scan is None or settings.order else _chain(scan.dim.label, settings)
        loops[line] = sorted(mine, key=lambda name: (name in last, rank[name]))
    made = [line.reduction for line in lines if line.reduction is not None]
    scans = [scan for one in made for scan in (one.scan, one.turns)]
    layout = Layout(back=frozenset(s.dim.label for s in scans if s is not None and s.is_reverse))
    _arrange(lines, loops, (), layout, settings, tile_of, fixed)
    return layout


def _chain(label: str, settings: Settings) -> list[str]:
    """Return the loops that splits make of one loop."""
    chain = [label]
    while chain[-1] in settings.splits:
        chain.append(settings.splits[chain[-1]][0])
    return chain


def _reordered(names: list[str], order: Sequence[str]) -> list[str]:
    wanted = [name for name in order if name in names]
    places = [at for at, name in enumerate(names) if name in wanted]
    for at, name in zip(places, wanted, strict=True):
        names[at] = name
    return names


def _arrange(
    lines: Sequence[Line],
    loops: Mapping[Line, list[str]],
    path: Path,
    layout: Layout,
    settings: Settings,
    tile_of: Callable[[str], int | None],
    fixed: Sequence[Dim],
) -> None:
    depth, position, at = len(path), 0, 0
    while at < len(lines):
        line = lines[at]
        here = (*path, position)
        if len(loops[line]) == depth:
            levels = tuple(
                _levels(dim, loops[line], settings, tile_of, layout.back)
                if dim not in fixed
                else ()
                for dim in line.dims
            )
            layout.places[line] = Place(here, levels)
            at += 1
        else:
            name, end = loops[line][depth], at
            while end < len(lines) and loops[lines[end]][depth : depth + 1] == [name]:
                end += 1
            layout.nodes[here] = name
            _arrange(lines[at:end], loops, here, layout, settings, tile_of, fixed)
            at = end
        position += 1


def _levels(
    dim: Dim,
    loops: list[str],
    settings: Settings,
    tile_of: Callable[[str], int | None],
    back: frozenset[str],
) -> tuple[Level, ...]:
    return tuple(
        Level(
            name,
            2 * loops.index(name) + 1,
            settings.splits[name][1] if name in settings.splits else None,
            tile_of(name),
            dim.label in back,
        )
        for name in _chain(dim.label, settings)
    )
