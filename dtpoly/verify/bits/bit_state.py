"""The state of reading how a kernel rounds: notes, names, and how tiles are brought together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import field

from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.kernel_values import lanes_of
from dtpoly.verify.algebra.whole import Whole, name
from dtpoly.verify.bits.bit_terms import (
    BitLoop,
    BitMoved,
    BitOperation,
    BitStore,
    BitTerm,
    BitUnknown,
    BitValue,
)
from dtpoly.verify.bits.watched_run import ExpressionNote, WatchedRun
from dtpoly.verify.triton.kernel_state import KernelState

Held = BitValue | tuple["Held", ...]


@dataclass
class BitState:
    """The notes of a kernel's run, and what its names hold now."""

    notes: WatchedRun
    state: KernelState
    read: Callable[[BitState, ast.expr], Held]
    names: dict[str, Held] = field(default_factory=dict[str, Held])
    loops: dict[str, BitLoop] = field(default_factory=dict[str, BitLoop])
    stores: list[BitStore] = field(default_factory=list[BitStore])
    extents: dict[str, Whole] = field(default_factory=dict[str, Whole])

    def note(self, node: ast.expr) -> ExpressionNote | None:
        """Return what the verifier's run noted of an expression."""
        return self.notes.expressions.get(id(node))

    def held(self, node: ast.expr) -> Held:
        """Return the value of an expression, which may be a tuple."""
        return self.read(self, node)

    def value(self, node: ast.expr) -> BitValue:
        """Return the value of an expression that is one tile."""
        found = self.held(node)
        if isinstance(found, BitValue):
            return found
        return unknown(node.lineno, f"'{ast.unparse(node)}', which is a tuple")

    def known(self, axes: tuple[str | None, ...], term: BitTerm) -> BitValue:
        """Return a value over lanes of the verifier's run."""
        for axis in axes:
            for lane in lanes_of((axis,)):
                self.extents[lane] = self.state.extents[lane]
        return BitValue(axes, term)

    def operation(self, word: str, operands: Sequence[Held], line: int) -> BitValue:
        """Return an operation that is done at each lane by itself."""
        tiles = [one for one in operands if isinstance(one, BitValue)]
        if len(tiles) != len(operands):
            return unknown(line, f"'{word}' of a tuple")
        axes, parts = self.aligned(tiles, line)
        return BitValue(axes, BitOperation(word, tuple(parts), line))

    def aligned(
        self, tiles: Sequence[BitValue], line: int
    ) -> tuple[tuple[str | None, ...], list[BitTerm]]:
        """Return the axes that some tiles have together, and the term of each over these lanes."""
        rank = max((len(tile.axes) for tile in tiles), default=0)
        axes: list[str | None] = []
        raised = [(*(None,) * (rank - len(tile.axes)), *tile.axes) for tile in tiles]
        for at in range(rank):
            here = [one[at] for one in raised if one[at] is not None]
            axis = next((one for one in here if one not in axes), None)
            axes.append(self.anew(here[0]) if here and axis is None else axis)
        found = tuple(axes)
        return found, [
            moved(tile.term, old, found, line) for tile, old in zip(tiles, raised, strict=True)
        ]

    def anew(self, axis: str | None) -> str:
        """Return another axis with as many lanes."""
        lanes: list[str] = []
        for lane in lanes_of((axis,)):
            lanes.append(self.state.run.fresh("lane"))
            self.extents[lanes[-1]] = self.extents[lane]
        return " ".join(lanes)


def unknown(line: int, why: str) -> BitValue:
    """Return a value of which nothing is known."""
    return BitValue((), BitUnknown(line, why))


def literal(text: str, kind: str, node: ast.expr) -> BitTerm:
    """Return a written number."""
    return BitOperation(f"number {text} {kind}", (), node.lineno)


def moved(
    term: BitTerm, old: Sequence[str | None], new: Sequence[str | None], line: int
) -> BitTerm:
    """Return a term with the lanes of other axes of the same shape."""
    put: dict[str, Whole] = {}
    for before, after in zip(old, new, strict=True):
        if before is None or before == after:
            continue
        first, second = lanes_of((before,)), lanes_of((after,))
        if len(first) != len(second):
            return BitUnknown(line, "tiles whose lanes are numbered in two ways")
        put.update(zip(first, map(name, second), strict=True))
    return BitMoved(term, tuple(put.items())) if put else term


def subscripted(value: BitValue, index: ast.expr, line: int) -> BitValue:
    """Return `value[:, None]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    axes: list[str | None] = []
    rest = list(value.axes)
    for part in parts:
        match part:
            case ast.Constant(value=None):
                axes.append(None)
            case ast.Slice(lower=None, upper=None, step=None) if rest:
                axes.append(rest.pop(0))
            case _:
                return unknown(line, "a subscript of a tile")
    return BitValue((*axes, *rest), value.term)
