"""Describes the code of a Func's kernels, so that a directive can see that it changes nothing.

It is made from the tree and from the kernels of the IR, so it is loaded only where there is code.
"""

from collections.abc import Container, Iterator

from dtpoly.algorithm.program import Directive, Func, reduced_labels
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import ForLoop, Instruction, Load, Product, Store, TileKernel
from dtpoly.ir.parts import inside
from dtpoly.plan.launch import Launch
from dtpoly.schedule.tree import Kernel, launch_of, leaves
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Made:
    """A directive, the Func, and what its kernels are: in the tree, and as tile programs."""

    directive: Directive
    func: Func
    nodes: tuple[Kernel, ...]
    kernels: tuple[TileKernel, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Return the labels of the result."""
        return self.func.labels

    @property
    def launch(self) -> Launch:
        """Return the launch of the Func's own kernel, which comes last."""
        return launch_of(self.nodes[-1]) if self.nodes else Launch("")

    @property
    def instructions(self) -> Iterator[Instruction]:
        """Yield the instructions of all kernels, in their order."""
        return (one for kernel in self.kernels for one in inside(kernel.body))

    @property
    def multiplies(self) -> bool:
        """Return whether a kernel multiplies two matrices."""
        return any(isinstance(one, Product) for one in self.instructions)

    @property
    def has_turns(self) -> bool:
        """Return whether programs take blocks in turn."""
        return any(kernel.each for kernel in self.kernels)

    @property
    def has_grid(self) -> bool:
        """Return whether a kernel has several programs."""
        return any(kernel.grid for kernel in self.kernels)

    @property
    def has_loaders(self) -> bool:
        """Return whether some warps of a kernel load for the others."""
        return any(kernel.own for kernel in self.kernels)

    @property
    def joined(self) -> frozenset[tuple[str, ...]]:
        """Return the labels of each loop; of several if it is made of several."""
        return frozenset(one.over for one in self.instructions if isinstance(one, ForLoop))

    @property
    def lined(self) -> frozenset[str]:
        """Return the tensors along whose lines loops begin anywhere."""
        return frozenset(tensor for kernel in self.kernels for tensor in kernel.lined)

    @property
    def turned(self) -> frozenset[str]:
        """Return the labels that have loops which go backwards."""
        return frozenset(label for kernel in self.kernels for label in kernel.turned)

    @property
    def descending(self) -> frozenset[str]:
        """Return the labels of which programs take the blocks from the last one to the first."""
        axes = (axis for kernel in self.kernels for axis in kernel.grid)
        return frozenset(axis.label for axis in axes if axis.is_descending)

    @property
    def streamed(self) -> frozenset[str]:
        """Return the tensors of which loads leave the cache first."""
        found = set[str]()
        for kernel in self.kernels:
            loads = (one for one in inside(kernel.body) if isinstance(one, Load))
            variables = {load.tensor for load in loads if load.is_streamed}
            found |= {one.name for one in kernel.tensors if one.variable in variables}
        return frozenset(found)

    @property
    def described(self) -> frozenset[str]:
        """Return the tensors that are loaded or stored through descriptors."""
        return frozenset(one.tensor for kernel in self.kernels for one in kernel.described)

    @property
    def read(self) -> frozenset[str]:
        """Return the tensors that no kernel writes."""
        tensors = (one for kernel in self.kernels for one in kernel.tensors)
        return frozenset(one.name for one in tensors if not one.is_written)

    @property
    def is_stored_by_descriptor(self) -> bool:
        """Return whether a kernel stores something through a descriptor."""
        return any(isinstance(one, Store) and one.block is not None for one in self.instructions)

    @property
    def cut(self) -> frozenset[str]:
        """Return the labels of the result along which the tile that is stored is cut into boxes."""
        found = set[str]()
        for one in self.instructions:
            if isinstance(one, Store) and one.block is not None:
                axes = {one.axes[half.axis] for half in one.block.halved}
                for label, index in zip(self.labels, one.indices, strict=False):
                    if not axes.isdisjoint(index.labels):
                        found.add(label)
        return frozenset(found)

    @property
    def rows(self) -> int | None:
        """Return how many rows of its matrix a program stores, through a descriptor."""
        described = (one for kernel in self.kernels for one in kernel.described)
        blocks = [one.block for one in described if one.tensor == self.func.name]
        return blocks[0][0] if blocks and len(blocks[0]) == 2 else None

    @property
    def lanes(self) -> Iterator[tuple[tuple[str, int | None], ...]]:
        """Yield the lanes of each statement: along which label, and over how many indices."""
        for node in self.nodes:
            for leaf, _ in leaves(node.body):
                yield tuple((lane.label, lane.extent) for lane in leaf.lanes)

    @property
    def is_tensorized(self) -> bool:
        """Return whether all its labels have tiles of so many lanes as a number says."""
        known = {label for lanes in self.lanes for label, extent in lanes if extent is not None}
        return known >= {*self.labels, *reduced_labels(self.func)}

    @property
    def way_to_boxes(self) -> str:
        """Advise what to do where tiles are to be boxes."""
        if self.is_tensorized:
            return "remove it"
        return "tensorize its labels by numbers, or remove it"

    @property
    def way_to_rows(self) -> str:
        """Advise what to do where loops are to go along lines, a row at a time."""
        wide = [[label for label, extent in lanes if extent != 1] for lanes in self.lanes]
        if any(wide) and all(len(lanes) < 2 for lanes in wide):
            return "remove it"
        return "block all other labels by 1, tensorize that one, or remove it"

    def why_not_stored(self, why: str) -> tuple[str, str]:
        """Say why no tile is stored through a descriptor, and what to do; by default `why`."""
        if any(node.options.atomic for node in self.nodes[-1:]):
            return "what is added in memory is stored by no descriptor", "remove it, or atomic"
        if self.func.into is not None and self.func.into.is_added:
            return "what is added in memory is stored by no descriptor", "remove it"
        if self.launch.aligned or self.launch.turned:
            return "not where loops are aligned or alternate", "remove one of them"
        return why, self.way_to_boxes

    def whole(self, why: str, way: str) -> Diagnostic:
        """Report that all of the directive changes nothing."""
        return self._vain(self.directive.span, why, way)

    def each(
        self,
        done: Container[str | int],
        why: str,
        way: str,
        of_result: tuple[str, str] | None = None,
    ) -> Iterator[Diagnostic]:
        """Report the arguments that nothing was done for; `{}` stands for their names.

        Of the Func itself something else may be told.
        """
        for argument in self.directive.arguments:
            if argument.target not in done:
                span = argument.span or self.directive.span
                told = (why.format(f"'{argument.target}'"), way)
                if of_result is not None and argument.target == self.directive.func:
                    told = of_result
                yield self._vain(span, *told)

    def _vain(self, span: Span | None, why: str, way: str) -> Diagnostic:
        title = f"'{self.directive.name}' changes nothing here"
        notes = (Note(why),)
        return Diagnostic("DT198", Severity.WARNING, title, span, "has no effect", notes, way)
