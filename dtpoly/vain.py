"""A schedule and its kernels in; the directives that the code is the same without, out.

Such a directive is right, and the author is told (DT198): each of them has its own question here.
"""

from collections.abc import Callable, Container, Iterator, Mapping

from dtpoly.algorithm.program import Directive
from dtpoly.codegen.boxes import boxed_axes, is_stored
from dtpoly.codegen.kernel import ForLoop, Load, TileKernel
from dtpoly.codegen.module import Generated
from dtpoly.codegen.parts import inside
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.schedule.align import Align
from dtpoly.schedule.alternate import Alternate
from dtpoly.schedule.descriptor import Descriptor
from dtpoly.schedule.flatten import Flatten
from dtpoly.schedule.persistent import Persistent
from dtpoly.schedule.pitch import Pitch
from dtpoly.schedule.state import State
from dtpoly.schedule.store import Store
from dtpoly.schedule.stream import Stream
from dtpoly.schedule.warp_specialize import WarpSpecialize
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class _Said:
    """A directive, the labels of its Func, and what the Func's kernels are."""

    directive: Directive
    labels: tuple[str, ...]
    kernels: tuple[TileKernel, ...]

    def whole(self, why: str, way: str) -> Diagnostic:
        """All of it changes nothing."""
        return self._vain(self.directive.span, why, way)

    def each(
        self, done: Container[str | int], why: str, way: str, of_result: str = ""
    ) -> Iterator[Diagnostic]:
        """Arguments that nothing was done for change nothing; `{}` stands for their names."""
        for argument in self.directive.arguments:
            if argument.target not in done:
                span = argument.span or self.directive.span
                is_result = of_result and argument.target == self.directive.func
                told = of_result if is_result else why.format(f"'{argument.target}'")
                yield self._vain(span, told, way)

    def _vain(self, span: Span | None, why: str, way: str) -> Diagnostic:
        title = f"'{self.directive.name}' changes nothing here"
        notes = (Note(why),)
        return Diagnostic("DT198", Severity.WARNING, title, span, "has no effect", notes, way)


def vain(state: State, made: Generated) -> Iterator[Diagnostic]:
    """Directives that are right and that the code is the same without."""
    for directive in state.program.directives:
        if directive.name in ASKED:
            both = zip(made.launches, made.kernels, strict=True)
            kernels = tuple(kernel for launch, kernel in both if launch.func == directive.func)
            labels = state.program.func(directive.func).labels
            yield from ASKED[directive.name](_Said(directive, labels, kernels))


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
    why = "no loop over tiles of a line of {} may begin anywhere"
    way = "block all other labels by 1, tensorize that one, or remove it"
    yield from said.each(lined, why, way)


def _alternate(said: _Said) -> Iterator[Diagnostic]:
    turned = {label for kernel in said.kernels for label in kernel.turned}
    why = "no second loop over tiles of {} has rounds in any order"
    yield from said.each(turned, why, "remove it")


def _warp_specialize(said: _Said) -> Iterator[Diagnostic]:
    if not any(kernel.own for kernel in said.kernels):
        why = (
            "no kernel of it is one loop that multiplies two matrices into a block of 128 rows "
            "or more, loads both and stores the result through descriptors, and reads nothing "
            "else row by row, with num_warps(8) and two stages"
        )
        func = said.directive.func
        yield said.whole(
            why, f"name both inputs and {func} in {func}.descriptor(...), or remove it"
        )


def _store(said: _Said) -> Iterator[Diagnostic]:
    cut = {said.labels[axis] for kernel in said.kernels for axis in boxed_axes(kernel.body)}
    if any(is_stored(kernel.body) for kernel in said.kernels):
        why = "no tile that is stored has more elements along {}"
        yield from said.each(cut, why, "take a smaller number, or remove it")
    else:
        why = f"no tile of '{said.directive.func}' is stored through a descriptor"
        yield from said.each(cut, why, "tensorize its labels by numbers, or remove it")


def _pitch(said: _Said) -> Iterator[Diagnostic]:
    if not said.labels:
        yield said.whole(f"'{said.directive.func}' is one number, and has no rows", "remove it")


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
    stored = "no tile that is stored is a box, as it lies in memory"
    way = "tensorize its labels by numbers, or remove it"
    yield from said.each(described, why, way, stored)


ASKED: Mapping[str, Callable[[_Said], Iterator[Diagnostic]]] = {
    Align.name: _align,
    Alternate.name: _alternate,
    Descriptor.name: _descriptor,
    Flatten.name: _flatten,
    Persistent.name: _persistent,
    Pitch.name: _pitch,
    Store.name: _store,
    Stream.name: _stream,
    WarpSpecialize.name: _warp_specialize,
}
