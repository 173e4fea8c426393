"""The primitive `block`: one program instance for each block of a label."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import prod
from typing import ClassVar, Self

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Part, scanned_labels
from dtpoly.amounts import many
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Decided, Layout
from dtpoly.poly.axes import Axis
from dtpoly.schedule.argument_kinds import OneOf
from dtpoly.schedule.argument_values import Divided, Sized, word_span
from dtpoly.schedule.block_parts import (
    blocked,
    refused_chains,
    refused_partial_results,
    refused_scan,
)
from dtpoly.schedule.depends import Depends, Number, Piece
from dtpoly.schedule.facts import Fact, MergeBlocked, NewName
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import DividedLabel, SizedLabel
from dtpoly.schedule.partials import with_partial_results
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel, Loop, Node, loops, rewrite


@dataclass(frozen=True, slots=True)
class Block(Primitive):
    """Give each block of a label to a program instance of its own.

        for x in 0..X  -->  program p in 0..ceil(X / n): for x in p*n..min(p*n + n, X)

    The size counts elements of the label, whatever splits do to the loop inside of a block; any
    size will do. A label that the Func reduces over, and does not have on its left side, takes
    two kernels: one computes a partial result for each block, the other one combines them, over
    a label that `k:kb/4096` names; `kb.x:64` is about this second kernel alone. A label along which
    the Func scans takes three: the states at the ends of blocks, a scan of these, and a scan of
    each block. To go through a loop in steps but in one program, use `split`; to compute a block
    with vector operations, `tensorize`.
    """

    name: ClassVar[str] = "block"
    elsewhere: ClassVar[tuple[str, ...]] = ("bind", "grid", "parallel", "parallelize", "tile")
    stage: ClassVar[Stage] = Stage.LOOPS
    turn: ClassVar[Turn | None] = Turn.BLOCKS
    is_joined: ClassVar[bool] = True
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.GRID})
    written: ClassVar[Written] = Written.LOOPS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter("blocks", OneOf((SizedLabel(of_merge=True), DividedLabel("size"))), Count.EACH),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.block(x:16, y:64);",),
                (
                    "one program instance computes a block. Any number is allowed; blocks at the "
                    "edge have masks"
                ),
            ),
            ReferenceRow(
                ("f.block(k:32);",),
                (
                    "on a label that `f` reduces: one kernel computes partial results, and a "
                    "second one their end. `k:kb/32` names the label of the partial results; "
                    "then `kb.x:64` makes blocks of the second kernel alone"
                ),
            ),
            ReferenceRow(
                ("f.block(t:p/4096);",),
                (
                    "**+** on a label along which `f` scans: programs have parts of it, in three "
                    "kernels. [More](#few-long-rows)"
                ),
            ),
        ),
        is_extension=False,
    )

    blocks: tuple[Sized | Divided, ...]

    def facts(self) -> Iterator[Fact]:
        """State the blocks, and the name of the label of partial results."""
        for item in self.blocks:
            if isinstance(item, Sized) and item.producer is not None:
                yield MergeBlocked(self.func, item.producer, item.label, item.size, item.span)
                continue
            yield blocked(self.func, item)
            if isinstance(item, Divided):
                new, span = item.new, item.span
                yield NewName(self.func, new, item.label, self.name, is_loop=True, span=span)

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return the blocks, and the parts of a reduction."""
        blocks: list[Sized | Divided] = [Sized(label, size) for label, size in layout.blocks]
        if layout.partial is not None:
            part = layout.partial
            blocks.append(Divided(part.label, part.name, part.size))
        return cls(layout.func, tuple(blocks)) if blocks else None

    def why(self, decided: Decided) -> str:
        """Say how many programs there are, and what each of them has."""
        layout = decided.layout
        machine = f"for {decided.processors} multiprocessors"
        if layout.partial is not None:
            label = layout.partial.label
            count = decided.parts(label, layout.partial.size)
            return f"{label} in {count:,} parts: {decided.blocks * count:,} programs {machine}"
        of = f"{prod(size for _, size in layout.blocks):,} of its elements"
        return f"{many(decided.blocks, 'program')} {machine}, each with {of}"

    def depends(self) -> Depends:
        """Return that a verdict depends only on how sizes compare with those of tiles."""
        new = [item.new if isinstance(item, Divided) else "" for item in self.blocks]
        of = [(isinstance(item, Sized) and item.producer) or "" for item in self.blocks]
        labels = [item.label for item in self.blocks]
        return Depends(
            tuple((self.func, self.name, *one) for one in zip(labels, new, of, strict=True)),
            tuple(
                Number(item.label, Piece.BLOCK, item.size, producer)
                for item, producer in zip(self.blocks, of, strict=True)
            ),
        )

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that the label is the Func's own, and that only reductions name partial results."""
        known = view.kernels[self.func].labels
        yield from refused_chains(self.func, self.blocks, view)
        for item in self.blocks:
            if not _of_all(item):
                continue  # its kind has looked at it
            if item.label not in view.own_labels(self.func):
                if item.label in known:
                    yield self._not_blockable(item, view)
            elif item.label in view.partial_labels(self.func):
                yield from refused_partial_results(self.func, item, view)
            elif item.label in scanned_labels(view.funcs[self.func]):
                yield from refused_scan(self.func, item, view)
            elif isinstance(item, Divided):
                yield self._no_partial_results(item)

    def _not_blockable(self, item: Sized | Divided, view: View) -> Diagnostic:
        labels = ", ".join(view.own_labels(self.func))
        new = view.names.get(self.func, {}).get(item.label)
        if new is not None:
            why = Note(f"'{item.label}' is introduced here", new.span)
        else:
            owner = view.kernels[self.func].labels[item.label]
            why = Note(f"it belongs to '{owner}', which is computed inside of each block")
        return Diagnostic(
            "DT191",
            Severity.ERROR,
            f"'{item.label}' cannot be blocked",
            word_span(item.span, item.label),
            f"not a label of '{self.func}' itself",
            (why,),
            f"block a label of '{self.func}': {labels}",
        )

    def _no_partial_results(self, item: Divided) -> Diagnostic:
        plain = f"{item.label}:{item.size}"
        return Diagnostic(
            "DT191",
            Severity.ERROR,
            f"blocking '{item.label}' leaves no partial results to name '{item.new}'",
            item.span,
            f"'{item.label}' is on the left side of '{self.func}'",
            (Note("only a label that the Func reduces over takes a second kernel"),),
            f"write {plain}",
            (Edit(item.span, plain),) if item.span else (),
        )

    def apply(self, state: State) -> State:
        """Add a grid axis for each label; reductions over blocked labels are divided first."""
        if not state.kernels_of(self.func):
            return state
        own = state.program.func(self.func).labels
        known = state.model.parts
        parts: dict[str, Part] = {}
        whole = tuple(item for item in self.blocks if _of_all(item))
        for item in whole:
            if item.label not in own:
                part = Part(item.label, item.size)
                name = item.new if isinstance(item, Divided) else f"{item.label}.part"
                # Another Func may have parts of another size.
                is_taken = known.get(name, part) != part
                parts[f"{name}.{self.func}" if is_taken else name] = part
        if parts:
            state = with_partial_results(state, self.func, parts)
        sizes = {item.label: item.size for item in whole if item.label in own}
        return state.with_kernels(self.func, lambda k: _blocked(k, sizes, own, state.sized.fixed))


def _of_all(item: Sized | Divided) -> bool:
    """Return whether a block is one of each kernel of the Func, and not only of one that merges."""
    return isinstance(item, Divided) or item.producer is None


def _blocked(
    kernel: Kernel, sizes: dict[str, int], labels: tuple[str, ...], fixed: Mapping[str, int]
) -> Kernel:
    """Return the kernel with blocks of the labels that it has; the first label runs fastest."""
    has = {one.axis.label for *_, one in loops(kernel.body) if not one.is_reduction}
    blocks = {
        label: Axis(
            f"{kernel.func}.{label}.block",
            label,
            Affine(((label, 1),)),
            size,
            extent=fixed.get(label),
        )
        for label, size in sizes.items()
        if label in has
    }

    def inside(node: Node) -> Node:
        if not isinstance(node, Loop) or node.is_reduction or node.axis.label not in blocks:
            return node
        block = blocks[node.axis.label]
        origin = Affine(((block.name, 1),))
        return replace(node, axis=replace(node.axis, origin=origin, extent=block.step))

    grid = [blocks[label] for label in reversed(labels) if label in blocks]
    return replace(kernel, grid=(*kernel.grid, *grid), body=rewrite(kernel.body, inside))
