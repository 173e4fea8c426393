"""Finds directives that change nothing: without them the code is the same.

Such a directive is right, and the author is told (DT198): each of them has its own question here.
"""

from collections.abc import Callable, Container, Iterator, Mapping

from dtpoly.algorithm.program import Directive, Func, reduced_labels
from dtpoly.codegen.boxes import boxed_axes, is_stored
from dtpoly.codegen.module import Generated
from dtpoly.codegen.specializing import ROWS
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.directives.align import Align
from dtpoly.directives.alternate import Alternate
from dtpoly.directives.descriptor import Descriptor
from dtpoly.directives.flatten import Flatten
from dtpoly.directives.persistent import Persistent
from dtpoly.directives.pitch import Pitch
from dtpoly.directives.store import Store
from dtpoly.directives.stream import Stream
from dtpoly.directives.swap import Swap
from dtpoly.directives.warp_specialize import WarpSpecialize
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import ForLoop, Load, Product, TileKernel
from dtpoly.ir.parts import inside
from dtpoly.plan.launch import COMPUTING_WARPS, Launch
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, launch_of, leaves
from dtpoly.source import Span

NO_PRODUCT = ("no kernel of it multiplies two matrices", "remove it")


@dataclass(frozen=True, slots=True)
class _Said:
    """A directive, the Func, and what its kernels are: in the tree, and as tile programs."""

    directive: Directive
    func: Func
    nodes: tuple[Kernel, ...]
    kernels: tuple[TileKernel, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Those of the result."""
        return self.func.labels

    @property
    def launch(self) -> Launch:
        """Return the launch of the Func's own kernel, which comes last."""
        return launch_of(self.nodes[-1]) if self.nodes else Launch("")

    @property
    def lanes(self) -> Iterator[tuple[tuple[str, int | None], ...]]:
        """Those of each statement: along which label, and over how many indices."""
        for node in self.nodes:
            for leaf, _ in leaves(node.body):
                yield tuple((lane.label, lane.extent) for lane in leaf.lanes)

    @property
    def is_tensorized(self) -> bool:
        """Whether all its labels have tiles of so many lanes as a number says."""
        known = {label for lanes in self.lanes for label, extent in lanes if extent is not None}
        return known >= {*self.labels, *reduced_labels(self.func)}

    @property
    def has_one_row(self) -> bool:
        """Whether there are lanes, along no more than one label at a time."""
        wide = [[label for label, extent in lanes if extent != 1] for lanes in self.lanes]
        return any(wide) and all(len(lanes) < 2 for lanes in wide)

    def whole(self, why: str, way: str) -> Diagnostic:
        """All of it changes nothing."""
        return self._vain(self.directive.span, why, way)

    def each(
        self,
        done: Container[str | int],
        why: str,
        way: str,
        of_result: tuple[str, str] | None = None,
    ) -> Iterator[Diagnostic]:
        """Arguments that nothing was done for change nothing; `{}` stands for their names.

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


def vain(state: State, made: Generated) -> Iterator[Diagnostic]:
    """Report the directives of a right schedule without which the code would be the same."""
    for directive in state.program.directives:
        if directive.name in ASKED:
            both = zip(state.kernels, made.kernels, strict=True)
            own = [(node, kernel) for node, kernel in both if node.func == directive.func]
            nodes, kernels = tuple(node for node, _ in own), tuple(kernel for _, kernel in own)
            func = state.program.func(directive.func)
            yield from ASKED[directive.name](_Said(directive, func, nodes, kernels))


def _persistent(said: _Said) -> Iterator[Diagnostic]:
    if any(kernel.each for kernel in said.kernels):
        return
    if any(kernel.grid for kernel in said.kernels):
        why = "values pass through memory in each program, so that blocks take no turns"
        yield said.whole(why, "tensorize so that they stay in registers, or remove it")
    else:
        why = "there is one program, so that no other could take blocks in turn"
        yield said.whole(why, "block a label, or remove it")


def _flatten(said: _Said) -> Iterator[Diagnostic]:
    names = tuple(str(argument.target) for argument in said.directive.arguments)
    steps = (step for kernel in said.kernels for step in inside(kernel.body))
    if not any(isinstance(step, ForLoop) and step.over == names for step in steps):
        why = "the loops are not directly inside of each other, or not as long as a size"
        yield said.whole(why, "reorder them, or remove it")


def _align(said: _Said) -> Iterator[Diagnostic]:
    lined = {tensor for kernel in said.kernels for tensor in kernel.lined}
    why, way = "no loop over tiles of a line of {} may begin anywhere", _one_row(said)
    if any(kernel.each for kernel in said.kernels):
        why = "programs that take blocks in turn have one line of {} after the other"
        way = "remove it, or persistent"
    yield from said.each(lined, why, way)


def _one_row(said: _Said) -> str:
    """Advise what to do where loops are to go along lines, a row at a time."""
    if said.has_one_row:
        return "remove it"
    return "block all other labels by 1, tensorize that one, or remove it"


def _alternate(said: _Said) -> Iterator[Diagnostic]:
    turned = {label for kernel in said.kernels for label in kernel.turned}
    why = "no second loop over tiles of {} has one row at a time, and rounds in any order"
    yield from said.each(turned, why, _one_row(said))


def _warp_specialize(said: _Said) -> Iterator[Diagnostic]:
    if not any(kernel.own for kernel in said.kernels):
        yield said.whole(*_why_alike(said))


def _why_alike(said: _Said) -> tuple[str, str]:
    """Why no warps load for others, and what to do; what is nearest to where it is said first."""
    func, launch = said.directive.func, said.launch
    if not _multiplies(said):
        return NO_PRODUCT
    if launch.num_warps != COMPUTING_WARPS:
        way = "add" if launch.num_warps is None else f"instead of {launch.num_warps} warps take"
        return (
            f"its kernel has no num_warps({COMPUTING_WARPS})",
            f"{way} num_warps({COMPUTING_WARPS}), or remove it",
        )
    if launch.num_stages == 1:
        return "of one stage nothing is loaded before it is needed", "take two stages, or remove it"
    if launch.aligned or launch.turned:
        return "not where loops are aligned or alternate", "remove one of them"
    read = {one.name for kernel in said.kernels for one in kernel.tensors if not one.is_written}
    named = set(launch.descriptors)
    if func not in named or len(named & read) < min(2, len(read)):
        why = "both sides of a product are loaded and its result is stored through descriptors"
        return why, f"name both inputs and {func} in {func}.descriptor(...), or remove it"
    rows = _rows(said)
    if rows is not None and rows < ROWS:
        why = f"a block of it has {rows} row{'s' * (rows > 1)}, and each of two groups takes 64"
        return why, f"take blocks of {ROWS} rows, or remove it"
    why = (
        "no kernel of it is one loop that multiplies two matrices, loads both and stores the "
        "result through descriptors, and reads nothing else row by row"
    )
    return why, "remove it"


def _rows(said: _Said) -> int | None:
    """How many rows of its matrix a program stores, through a descriptor."""
    described = (one for kernel in said.kernels for one in kernel.described)
    blocks = [one.block for one in described if one.tensor == said.directive.func]
    return blocks[0][0] if blocks and len(blocks[0]) == 2 else None


def _store(said: _Said) -> Iterator[Diagnostic]:
    cut = {said.labels[axis] for kernel in said.kernels for axis in boxed_axes(kernel.body)}
    if any(is_stored(kernel.body) for kernel in said.kernels):
        why = "no tile that is stored has more elements along {}"
        yield from said.each(cut, why, "take a smaller number, or remove it")
    else:
        why = f"no tile of '{said.directive.func}' is stored through a descriptor"
        yield from said.each(cut, *_why_not_stored(said, why))


def _why_not_stored(said: _Said, why: str) -> tuple[str, str]:
    """Why no tile is stored through a descriptor, and what to do; `why` if no more is known."""
    if any(node.options.atomic for node in said.nodes[-1:]):
        return "what is added in memory is stored by no descriptor", "remove it, or atomic"
    if said.launch.aligned or said.launch.turned:
        return "not where loops are aligned or alternate", "remove one of them"
    return why, _boxes(said)


def _boxes(said: _Said) -> str:
    """Advise what to do where tiles are to be boxes."""
    if said.is_tensorized:
        return "remove it"
    return "tensorize its labels by numbers, or remove it"


def _pitch(said: _Said) -> Iterator[Diagnostic]:
    if not said.labels:
        yield said.whole(f"'{said.directive.func}' is one number, and has no rows", "remove it")


def _swap(said: _Said) -> Iterator[Diagnostic]:
    if not _multiplies(said):
        yield said.whole(*NO_PRODUCT)


def _multiplies(said: _Said) -> bool:
    steps = (step for kernel in said.kernels for step in inside(kernel.body))
    return any(isinstance(step, Product) for step in steps)


def _stream(said: _Said) -> Iterator[Diagnostic]:
    streamed: set[str] = set()
    for kernel in said.kernels:
        loads = (step for step in inside(kernel.body) if isinstance(step, Load))
        variables = {load.tensor for load in loads if load.is_streamed}
        streamed |= {one.name for one in kernel.tensors if one.variable in variables}
    why = "all that is read of {} is outside of it, and padded"
    yield from said.each(streamed, why, "remove it")


def _descriptor(said: _Said) -> Iterator[Diagnostic]:
    described = {one.tensor for kernel in said.kernels for one in kernel.described}
    why = "no tile of {} is a box, of which what is outside is 0"
    stored = _why_not_stored(said, "no tile that is stored is a box, as it lies in memory")
    yield from said.each(described, why, _boxes(said), stored)


ASKED: Mapping[str, Callable[[_Said], Iterator[Diagnostic]]] = {
    Align.name: _align,
    Alternate.name: _alternate,
    Descriptor.name: _descriptor,
    Flatten.name: _flatten,
    Persistent.name: _persistent,
    Pitch.name: _pitch,
    Store.name: _store,
    Stream.name: _stream,
    Swap.name: _swap,
    WarpSpecialize.name: _warp_specialize,
}
