"""Translates the loops, tiles and storage of one kernel into the kernel IR.

`module` calls `lower` for each launch. It writes instructions node by node, and then lets a number
of passes rewrite the body, each of which is a module of its own, such as `hoisting`.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine
from dtpoly.ir.dependences import exposed
from dtpoly.ir.kernel import (
    EARLY,
    FOURS,
    PANEL,
    SPECIALIZED,
    Flag,
    ForLoop,
    GridAxis,
    If,
    Load,
    OwnDescriptor,
    Scalar,
    Step,
    Store,
    TileKernel,
)
from dtpoly.ir.kinds import REAL
from dtpoly.ir.parts import accessed, assigned, nested
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
from dtpoly.poly.tiles import Tiles

from .barriers import with_barriers
from .building import Building
from .counters import with_own_counters
from .descriptors import Wish, described
from .early_loads import with_early_loads
from .elements import Elements
from .flattening import flattened
from .hoisting import hoisted
from .launch import Launch
from .loading import converted_at_loads
from .names import fresh, plain
from .nested_reductions import with_reductions_apart
from .overhanging import overhanging
from .rewrites import without_detours, without_empty_starts
from .scopes import Scope, Scopes
from .siblings import joined_loops
from .specializing import specialized
from .statements import write_tile
from .storage import Storage
from .tiling import tiling_of
from .walks import walked

PAIRED = ("rargmax", "rargmin")


def lower(
    model: Model,
    name: str,
    launch: Launch,
    tiles: Mapping[str, Tiles],
    loops: tuple[LoopNode, ...],
    storage: Storage,
    elements: Elements,
    whole: Mapping[tuple[str, int], tuple[str, ...]],
) -> TileKernel:
    """Write the tile program of one kernel. Raises NotVisible where a register tile will not do."""
    path = next(iter(tiles.values())).path
    own = {REAL.name, "offset", FOURS, "pid", "program", "block"}
    is_early = launch.is_early or launch.is_first_of_panel or launch.panel is not None
    own |= {EARLY} if is_early else set()
    own |= {PANEL} if launch.is_first_of_panel else set()
    own |= {SPECIALIZED} if launch.may_specialize else set()
    scopes = Scopes([Scope(set(), own)])
    building = Building(
        model,
        tiles,
        storage,
        elements,
        scopes,
        launch.precision,
        whole=whole,
        streamed=launch.streamed,
        is_swapped=launch.is_swapped,
    )
    for size in model.params:
        building.variables[size] = building.scopes.name(f"{size.removeprefix('N_')}_size")
    grid = _grid(building, path)
    outermost = building.scopes.open[0]
    outermost.variables |= {*building.variables.values(), "program"}
    outermost.wide |= {axis.name for axis in grid}
    for axis in grid:  # what is computed on the way from the program's number
        outermost.names |= {f"{axis.label}_blocks", f"{axis.label}_in_group"}
        outermost.names |= {f"{axis.name}_{word}" for word in ("blocks", "in_group", "id")}
    _nodes(building, loops, launch.unrolled)
    body = without_empty_starts((*outermost.head, *outermost.body))
    sizes = [*(building.variables[size] for size in model.params), *building.shapes.values()]
    body = flattened(without_detours(body, sizes), launch.flat, _labels(tiles), outermost.names)
    body = joined_loops(body, frozenset(outermost.names))
    body = converted_at_loads(with_early_loads(body, _inputs(building), _largest(grid)))
    shared = _shared(building, body)
    body = hoisted(with_barriers(body, shared), frozenset(outermost.names))
    taken = {*outermost.names, *assigned(body)}
    # Walks move the lanes of what they store.
    stored = frozenset[str]() if launch.aligned or launch.turned else _only_stored(body)
    wishes = _wishes(building, launch.descriptors, taken, stored, launch.boxes)
    body, blocks = described(body, wishes, taken)
    body = overhanging(body)
    # If values pass through memory, nothing keeps the blocks that one program takes in turn apart.
    each = launch.each if grid and not shared else 0
    made: tuple[OwnDescriptor, ...] = ()
    apart = launch.aligned or launch.turned or launch.boxes or launch.is_swapped
    if launch.may_specialize and not (shared or apart):
        body, made = specialized(body, blocks, wishes, is_persistent=bool(each))
    # Programs that take blocks in turn have one line after the other.
    lines = frozenset[str]() if each else _variables(building, launch.aligned)
    flags = tuple(building.flags.values())
    done = walked(body, lines, launch.turned, frozenset(outermost.names))
    names = frozenset({*outermost.names, *assigned(done.body)})
    body = with_reductions_apart(with_own_counters(done.body, sizes, names))
    return TileKernel(
        plain(name),
        tuple(building.pointers.values()),
        tuple((n, variable, e) for n, (variable, e) in building.scalars.items()),
        _sizes(building, grid, body),
        tuple((tensor, axis, n) for (tensor, axis), n in building.shapes.items()),
        tuple(building.counts.items()),
        _told(flags, done.body) if done.lined or done.turned else flags,
        tuple(building.passed.items()),
        grid,
        body,
        launch.comment,
        blocks,
        each,
        tuple(name for name, one in building.pointers.items() if one.variable in done.lined),
        done.turned,
        is_early,
        made,
        is_first_of_panel=launch.is_first_of_panel,
        is_last_of_panel=launch.panel is not None,
    )


def _told(flags: tuple[Flag, ...], body: tuple[Step, ...]) -> tuple[Flag, ...]:
    """The flags that something asks for."""
    asked = {getattr(one, "unless", None) for one in nested(body)}
    return tuple(flag for flag in flags if flag.name in asked)


def _variables(building: Building, tensors: tuple[str, ...]) -> frozenset[str]:
    """Give the kernel's variables for those of some tensors that it uses, scratch left out."""
    found = (building.pointers.get(tensor) for tensor in tensors)
    return frozenset(one.variable for one in found if one is not None and not one.is_scratch)


def _wishes(
    building: Building,
    tensors: tuple[str, ...],
    taken: set[str],
    stored: frozenset[str],
    boxes: Mapping[str, int],
) -> dict[str, Wish]:
    """Collect what is to be loaded or stored through descriptors, by the variables of the tensors.

    The names that the descriptors get are added to `taken`.
    """
    found: dict[str, Wish] = {}
    for tensor in tensors:
        pointer = building.pointers.get(tensor)
        if pointer is None or pointer.is_scratch:
            continue
        if pointer.is_written and pointer.variable not in stored:
            continue
        name = fresh(f"{pointer.variable}_blocks", taken)
        taken.add(name)
        extents = tuple(_extents(building, tensor, axis) for axis in range(pointer.rank))
        dims = building.model.arrays[tensor].dims if pointer.is_written else ()
        most = {at: boxes[dim] for at, dim in enumerate(dims) if dim in boxes}
        found[pointer.variable] = Wish(tensor, pointer.variable, name, extents, most)
    return found


def _only_stored(body: tuple[Step, ...]) -> frozenset[str]:
    """The tensors that a kernel writes and does not read, by their variables."""
    return accessed(body, Store) - accessed(body, Load)


def _sizes(
    building: Building, grid: tuple[GridAxis, ...], body: tuple[Step, ...]
) -> tuple[tuple[str, str], ...]:
    """Collect the parameters for sizes.

    A size that the file fixes has one only if something needs its variable; else it is a number.
    """
    used = {
        *exposed(body),
        *(axis.size for axis in grid),
        *building.counts.values(),
        *(flag.size for flag in building.flags.values()),
    }
    return tuple(
        (size, variable)
        for size in building.model.params
        if (variable := building.variables[size]) in used or size not in building.model.fixed
    )


def _inputs(building: Building) -> dict[str, tuple[frozenset[str], ...]]:
    """The extents of the tensors that the kernel does not write, by their variables."""
    return {
        one.variable: tuple(_extents(building, name, axis) for axis in range(one.rank))
        for name, one in building.pointers.items()
        if not one.is_written and not one.is_scratch
    }


def _largest(grid: tuple[GridAxis, ...]) -> dict[str, Affine]:
    """Give upper bounds for the starts of blocks: no block starts behind the last index."""
    return {
        axis.name: Affine(((axis.size, 1),), -1)
        for axis in grid
        if axis.unit == 1 and axis.group is None
    }


def _extents(building: Building, tensor: str, axis: int) -> frozenset[str]:
    """The variables that hold the extent of an axis."""
    array = building.model.arrays.get(tensor)
    if array is not None:
        dim = array.dims[axis]  # that of parts is the size of no label
        return frozenset({building.size(dim)} if dim in building.model.size_of else ())
    known = building.model.size_of
    labels = (label for label in building.whole.get((tensor, axis), ()) if label in known)
    shown = building.shapes.get((tensor, axis))
    return frozenset([*map(building.size, labels), *([shown] if shown is not None else [])])


def _shared(building: Building, body: tuple[Step, ...]) -> frozenset[str]:
    """Memory through which values pass inside of the kernel."""
    read = accessed(body, Load)
    return frozenset(
        p.variable
        for p in building.pointers.values()
        if p.is_written and (p.is_scratch or p.variable in read)
    )


def _grid(building: Building, path: Path) -> tuple[GridAxis, ...]:
    """The axes of the launch grid; those of one block only are left out."""
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
        made = GridAxis(name, plain(axis.label), building.size(size), step * unit, unit, group, "")
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
                scalar = Scalar("", building.bound(value))
                building.variables[name] = scopes.bind_scalar(wish, scalar, axis)
                _nodes(building, body, unrolled)
            case Guard(conditions=conditions, body=body):
                checks = tuple(map(building.condition, conditions))
                unless = next((f for one in conditions if (f := _never(building, one))), None)
                scopes.emit(If(checks, _block(building, body, unrolled), unless), "")
            case Tile():
                _tile(building, node)


def _never(building: Building, condition: Condition) -> str | None:
    """Find the flag under which a condition never holds, because a size then leaves no rest."""
    match condition:
        case Compared(
            left=Combined("%", (Affine(terms=((size, 1),), constant=0), Affine(terms=()) as by)),
            right=Affine(terms=(), constant=1),
            is_equal=False,
        ) if size in building.model.params:
            return building.flag(size, by.constant)
        case _:
            return None


def _labels(tiles: Mapping[str, Tiles]) -> dict[str, str]:
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
