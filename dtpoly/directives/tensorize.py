"""The primitive `tensorize`: vector operations of a fixed size along a label."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self, assert_never

from dtpoly.algorithm.expressions import Affine
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Leaf, Loop, Node, Sequence, rewrite
from dtpoly.schedule.values import Sized


@dataclass(frozen=True, slots=True)
class Tensorize(Primitive):
    """Go along a label in tiles, each computed by vector operations.

        for x in 0..X  -->  for t in 0..X by n: lanes x in t..min(t + n, X)

    Size 0 is the loop's whole extent, its block or else the dimension, rounded up to a power of
    two, and leaves no loop. It counts for the label in the whole kernel, fused Funcs included;
    `mm.x:16` is about the Func mm alone. To hand parts of a label to several program instances
    use `block`; for a shorter loop without lanes, `unroll`.
    """

    name: ClassVar[str] = "tensorize"
    elsewhere: ClassVar[tuple[str, ...]] = ("vectorize",)
    stage: ClassVar[Stage] = Stage.LOOPS
    turn: ClassVar[Turn | None] = Turn.LANES
    is_joined: ClassVar[bool] = True
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "tiles", SizedLabel(Integer(least=0, power_of_two=True), qualified=True), Count.EACH
        ),
    )

    tiles: tuple[Sized, ...]

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that a tile fits its loop, rounded up to a power of two."""
        for tile in self.tiles:
            # A fused producer may need more than a block's worth, so nothing bounds its tile.
            extent = None if tile.producer else view.extent(self.func, tile.label)
            if extent is not None and tile.size > 1 << (extent - 1).bit_length():
                yield self._too_large(tile, extent, view)

    def _too_large(self, tile: Sized, extent: int, view: View) -> Diagnostic:
        blocked = view.blocked.get(self.func, {}).get(tile.label)
        cause = blocked or view.names[self.func][tile.label]
        whole = f"{tile.label}:0"
        return Diagnostic(
            "DT190",
            Severity.ERROR,
            f"the tile of '{tile.label}' is larger than its loop",
            tile.span,
            f"the loop has {extent} iteration{'s' if extent > 1 else ''}",
            (Note("its extent comes from here", cause.span),),
            f"write {whole} for the whole loop",
            (Edit(tile.span, whole),) if tile.span else (),
        )

    def on(self, host: str) -> Self:
        """Say it of the tiles of this Func alone, in the kernel of another one."""
        tiles = tuple(replace(t, producer=t.producer or self.func) for t in self.tiles)
        return replace(self, func=host, tiles=tiles)

    def apply(self, state: State) -> State:
        """Give lanes to each loop of that name; the kernel remembers it for Funcs fused later."""

        def change(kernel: Kernel) -> Kernel:
            tiles = (*kernel.tiles, *self.tiles)
            body = tile_loops(kernel.body, tile_sizes(self.tiles, self.func))
            return replace(kernel, body=body, tiles=tiles)

        return state.with_kernels(self.func, change)


def tile_sizes(tiles: tuple[Sized, ...], func: str) -> dict[str, int]:
    """The tile of each label for the loops of a Func: what is said of it alone comes first."""
    general = {tile.label: tile.size for tile in tiles if tile.producer is None}
    return general | {tile.label: tile.size for tile in tiles if tile.producer == func}


def tile_loops(node: Node, sizes: dict[str, int]) -> Node:
    """The tree with loops cut into tiles; axes that divided a tile now divide one lane of it.

    Such an axis may stand outside of the loop that it divides.
    """
    node, lanes = _tiled(node, sizes)

    def inside(axis: Axis) -> Axis:
        lane = lanes.get(axis.origin.plain or "")
        if lane is None or axis.name == lane.name or axis.index != lane.index:
            return axis
        return replace(axis, origin=Affine(((lane.name, 1),)))

    def divided(one: Node) -> Node:
        match one:
            case Loop(axis=axis):
                return replace(one, axis=inside(axis))
            case Leaf(lanes=own):
                return replace(one, lanes=tuple(map(inside, own)))
            case _:
                return one

    return rewrite(node, divided) if lanes else node


def _tiled(node: Node, sizes: dict[str, int]) -> tuple[Node, dict[str, Axis]]:
    """The tree with loops cut, and the lanes of each loop by its name."""
    match node:
        case Leaf():
            return node, {}
        case Sequence(children=children):
            done = [_tiled(child, sizes) for child in children]
            lanes = {name: lane for _, found in done for name, lane in found.items()}
            return Sequence(tuple(child for child, _ in done)), lanes
        case Loop(axis=axis, child=child):
            child, lanes = _tiled(child, sizes)
            if axis.label not in sizes or axis.step is None:
                return replace(node, child=child), lanes
            step = _width(sizes[axis.label], axis)
            name, origin = f"{axis.name}.lane", Affine(((axis.name, 1),))
            lane = replace(axis, name=name, origin=origin, extent=step)
            child = _with_lane(child, lane)
            return replace(node, axis=replace(axis, step=step), child=child), lanes | {
                axis.name: lane
            }
        case _:
            assert_never(node)


def _width(size: int, axis: Axis) -> int | None:
    """How many indices a tile spans: no more than the loop, its steps rounded up.

    A loop over all indices of a label whose size the file says has a tile as wide as is asked for:
    products want 16 lanes, however few of them compute.
    """
    unit, extent = axis.step or 1, axis.extent
    if extent is None:
        return size * unit or None
    rounded = 1 << (-(-extent // unit) - 1).bit_length()
    is_whole_label = not axis.origin.terms
    return (size if size and is_whole_label else min(size or rounded, rounded)) * unit


def _with_lane(node: Node, lane: Axis) -> Node:
    """The tree with lanes on every leaf."""

    def wider(one: Node) -> Node:
        return replace(one, lanes=(lane, *one.lanes)) if isinstance(one, Leaf) else one

    return rewrite(node, wider)
