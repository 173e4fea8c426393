"""Translates the loops, tiles and storage of one kernel into the kernel IR.

`module` calls `lower` for each launch. It writes instructions node by node, and then lets a number
of passes rewrite the body, each of which is a module of its own, such as `hoisting`.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.kernel import (
    EARLY,
    FOURS,
    PANEL,
    SPECIALIZED,
    ForLoop,
    GridAxis,
    If,
    LoopScalar,
    Step,
    TileKernel,
)
from dtpoly.ir.kinds import REAL
from dtpoly.plan.launch import Launch
from dtpoly.poly.axes import Axis, Path
from dtpoly.poly.launched import numbered
from dtpoly.poly.loops import (
    Combined,
    Compared,
    Condition,
    For,
    Guard,
    LoopNode,
    Once,
    Tile,
)
from dtpoly.poly.model import Model
from dtpoly.poly.tiles import StatementTiles

from .building import Building
from .draft import KernelDraft, kernel_of
from .elements import ElementKinds
from .passes import drafts
from .python_names import fresh, plain
from .scopes import Scope, Scopes
from .statements import write_tile
from .storage import Storage
from .tile_lanes import tiling_of


def lower(
    model: Model,
    name: str,
    launch: Launch,
    tiles: Mapping[str, StatementTiles],
    storage: Storage,
    elements: ElementKinds,
    whole: Mapping[tuple[str, int], tuple[str, ...]],
    loops: tuple[LoopNode, ...],
) -> TileKernel:
    """Return the tile program of one kernel.

    Raises NotVisible if a block reads a tile that another block has in registers: the tile then has
    to be in memory.
    """
    path = next(iter(tiles.values())).path
    # What a kernel may be given, or compute, besides tensors, numbers and sizes.
    own = {REAL.name, "offset", FOURS, EARLY, PANEL, SPECIALIZED, "pid", "program", "block"}
    scopes = Scopes([Scope(set(), own)])
    building = Building(
        model,
        tiles,
        storage,
        elements,
        scopes,
        launch.precision,
        whole=whole,
        is_swapped=launch.is_swapped,
        running=frozenset(reader for _, reader in launch.running),
    )
    for size in model.params:
        building.variables[size] = building.scopes.name(f"{size.removeprefix('N_')}_size")
    grid = _grid(building, path, launch.descending)
    outermost = building.scopes.open[0]
    outermost.variables |= {*building.variables.values(), "program"}
    outermost.wide |= {axis.name for axis in grid}
    for axis in grid:  # names of numbers from which the index along the axis is computed
        outermost.names |= {f"{axis.label}_blocks", f"{axis.label}_in_group"}
        outermost.names |= {f"{axis.name}_{word}" for word in ("blocks", "in_group", "id")}
    _nodes(building, loops, launch.unrolled)
    draft = KernelDraft(
        name=plain(name),
        building=building,
        launch=launch,
        grid=grid,
        names=frozenset(outermost.names),
        sizes=(*(building.variables[size] for size in model.params), *building.shapes.values()),
        labels=_labels(tiles),
        body=(*outermost.head, *outermost.body),
    )
    *_, last = drafts(draft)
    return kernel_of(last)


def _grid(building: Building, path: Path, descending: tuple[str, ...]) -> tuple[GridAxis, ...]:
    """Return the axes of the launch grid; those of one block only are left out."""
    found: list[GridAxis] = []
    blocks: list[str] = []
    for axis, inner in numbered(path.grid):
        step = axis.step or 1
        label = axis.index.plain
        assert label is not None
        part = building.model.parts.get(label)
        word = "group" if inner is not None else "block" if part else "start"
        name = building.scopes.name(f"{axis.label}_{word}")
        building.variables[axis.name] = name
        if part is not None:
            building.units[name] = part.size
        group = step // (inner.step or 1) if inner is not None else None
        size, unit = (part.of, part.size) if part else (label, 1)
        blocks.append(axis.name if inner is None else inner.name)
        is_turned = inner is None and axis.label in descending
        whole = building.size(size)
        made = GridAxis(name, plain(axis.label), whole, step * unit, unit, group, "", is_turned)
        found.append(made)
    return tuple(
        replace(one, block=building.variables[block])
        for one, block in zip(found, blocks, strict=True)
    )


# Blocks


def _nodes(building: Building, nodes: tuple[LoopNode, ...], unrolled: Mapping[str, int]) -> None:
    scopes = building.scopes
    for node in nodes:
        match node:
            case For(name=name, axis=axis, body=body):
                label = _label(building, axis)
                variable = fresh(f"{label}_start", building.scopes.visible())
                building.variables[name] = variable
                inner = _block(building, body, unrolled, variable)
                start, stop = building.bound(node.start), building.bound(node.stop)
                loop = ForLoop(variable, start, stop, node.step, inner, unrolled.get(axis, 1))
                scopes.emit(loop, axis)
                scopes.counted(variable, (start, stop))
            case Once(name=name, axis=axis, value=value, body=body):
                wish = f"{_label(building, axis)}_start"
                scalar = LoopScalar("", building.bound(value))
                building.variables[name] = scopes.bind_scalar(wish, scalar, axis)
                _nodes(building, body, unrolled)
            case Guard(conditions=conditions, body=body):
                checks = tuple(map(building.condition, conditions))
                unless = next((f for one in conditions if (f := _never(building, one))), None)
                branch = Step(If(checks, _block(building, body, unrolled), unless), "")
                scopes.emit_rest(branch)
            case Tile():
                _tile(building, node)


def _never(building: Building, condition: Condition) -> str | None:
    """Find the flag under which a condition never holds, because a size then leaves no rest."""
    match condition:
        case Compared(
            left=Combined(
                "%", (Affine(terms=((str() as size, 1),), constant=0), Affine(terms=()) as by)
            ),
            right=Affine(terms=(), constant=1),
            is_equal=False,
        ) if size in building.model.params:
            return building.flag(size, by.constant)
        case _:
            return None


def _labels(tiles: Mapping[str, StatementTiles]) -> dict[str, str]:
    """Map the name of each loop to the label that the source gives it."""
    steps = (step for one in tiles.values() for step in one.path.steps)
    return {step.name: step.label for step in steps if isinstance(step, Axis)}


def _label(building: Building, axis: str) -> str:
    """Give the label by which the source calls a loop."""
    for one in building.tiles.values():
        for step in one.path.steps:
            if isinstance(step, Axis) and step.name == axis:
                return step.label
    raise AssertionError(axis)


def _block(
    building: Building,
    nodes: tuple[LoopNode, ...],
    unrolled: Mapping[str, int],
    variable: str | None = None,
) -> tuple[Step, ...]:
    own = {variable} if variable else set[str]()
    scope = Scope(set(own), set(own))
    building.scopes.open.append(scope)
    building.held.append({})
    _nodes(building, nodes, unrolled)
    building.held.pop()
    building.scopes.close(is_branch=variable is None)
    return (*scope.head, *scope.body)


# Tiles of a statement


def _tile(building: Building, node: Tile) -> None:
    tiles = building.tiles[node.statement]
    write_tile(tiling_of(building, tiles, node), tiles)
