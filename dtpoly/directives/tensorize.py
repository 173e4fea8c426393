"""The primitive `tensorize`: vector operations of a fixed size along a label."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.arguments import Integer
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import SizedLabel
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn
from dtpoly.schedule.state import State
from dtpoly.schedule.tiling import tile_loops, tile_sizes
from dtpoly.schedule.tree import Kernel
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

    def depends(self) -> Depends:
        """Of sizes, a verdict depends on how they compare with others along the label."""
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
