"""The primitive `tensorize`: vector operations of a fixed size along a label."""

from collections.abc import Iterator
from dataclasses import replace
from math import prod
from typing import ClassVar, Self

from dtpoly.amounts import amount, listed
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Decided, Layout
from dtpoly.schedule.argument_kinds import IntegerKind
from dtpoly.schedule.argument_values import Sized
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import AxisKind, Kernel


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
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.LOOPS, AxisKind.LANES})
    written: ClassVar[Written] = Written.LOOPS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "tiles", SizedLabel(IntegerKind(least=0, power_of_two=True), qualified=True), Count.EACH
        ),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.tensorize(x:4, y:0);",),
                (
                    "the tile of the vector operations: a power of two, not larger than the block; "
                    "0 is the whole block or dimension"
                ),
            ),
        ),
        is_extension=False,
    )

    tiles: tuple[Sized, ...]

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the tiles that have several lanes."""
        tiles = tuple(Sized(label, size) for label, size in layout.tiles if size != 1)
        return cls(layout.func, tiles) if tiles else None

    def why(self, decided: Decided) -> str:
        """Say what is computed at once, and where it is kept."""
        if decided.product:
            deep = prod(map(decided.span, decided.product))
            beside = f"rows of {amount(deep * decided.operand)} in shared memory"
            tiles = f"a product of tiles at a time, {deep} of {listed(decided.product)} deep"
            return f"{tiles}: {beside}"
        for label, tile in decided.layout.tiles:
            size = decided.sizes.get(label, 0)
            if label not in decided.reduced:
                continue
            if tile == 0:
                return f"all {size:,} of {label} at once, in registers: what it loads is read once"
            if tile > 1:
                return f"{tile:,} of {label} at a time: all {size:,} would not fit, or not pay"
        return f"all of a block in one step: {decided.elements:,} elements"

    def depends(self) -> Depends:
        """Return that a verdict depends only on how sizes compare with others along the label."""
        return Depends(
            tuple((self.func, self.name, item.label, item.producer or "") for item in self.tiles),
            tuple(
                Number(item.label, Piece.TILE, item.size, item.producer or "")
                for item in self.tiles
            ),
        )

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
