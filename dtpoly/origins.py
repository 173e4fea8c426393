"""Finds which part of the source made a statement or an axis of a kernel."""

from collections.abc import Callable, Iterable, Iterator

from dtpoly.algorithm.program import Argument, Directive, Split
from dtpoly.frozen import dataclass
from dtpoly.plan.launch import Launch
from dtpoly.poly.axes import Axis
from dtpoly.poly.model import Role, by_name
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel, asking_for, leaves, loops
from dtpoly.source import Span

# What may have made a loop what it is: its steps come before its place.
LOOPS = (AxisKind.LOOPS, AxisKind.ORDER)


@dataclass(frozen=True, slots=True)
class Origin:
    """A place in the algorithm, and the directive, with that part of it that counts.

    Either may be missing: a scalar loop needs no directive, a launch option no algorithm.
    """

    source: Span | None = None
    directive: Directive | None = None
    part: Span | None = None


def origin_of(state: State, kernel: Kernel, name: str) -> Origin:
    """Find what made a statement or an axis of a kernel."""
    if name in by_name(state.model):
        return of_statement(state, kernel, name)
    return of_axis(state, kernel, name)


def of_statement(state: State, kernel: Kernel, name: str) -> Origin:
    """Return the reduction or definition that a statement computes, and who put it there."""
    known = by_name(state.model)
    statement = known[name]
    func = state.program.func(statement.func)
    steps = (
        s.body
        for s in state.model.statements
        if s.role is Role.UPDATE and s.writes.array == statement.writes.array
    )
    body = next(steps, None)
    source = (body.span if body is not None else None) or func.span
    here = (f for f in state.fusions if f.func == func.name and f.kernel == kernel.name)
    fusion = next(here, None)
    if fusion is None or fusion.func == kernel.func:
        return Origin(source)
    for directive in state.program.directives:
        if directive.func == func.name and fusion.consumer in _targets(directive):
            return Origin(source, directive, directive.span)
    return Origin(source)


def of_axis(state: State, kernel: Kernel, name: str) -> Origin:
    """Return the directive that made an axis; its source is the definition of its Func."""
    owner = state.program.find_func(name.split(".")[0])
    source = owner.span if owner is not None else None
    for axis, *kinds in _axes(kernel):
        if axis.name == name:
            owned_by = owner.name if owner else ""
            found = find_directive(state, kernel, kinds, axis.label, owned_by)
            return found if found.directive is not None else Origin(source)
    return Origin(source)


def find_directive(
    state: State, kernel: Kernel, kinds: Iterable[AxisKind], label: str, owner: str = ""
) -> Origin:
    """Return the directive that makes axes of one of these kinds and speaks of a label of a kernel.

    One about the owner alone (`mm.x:16`), or about the kernel that merges parts alone (`p.x:16`),
    comes before one about all Funcs of the kernel. A kernel of parts is made by the directives of
    the Func that is computed in parts.
    """
    words = makers(state, *kinds)
    own = state.program.find_func(kernel.func)
    numbers = [one for one in state.program.parts if own is not None and one not in own.labels]
    funcs = {one and state.program.owner(one) for one in (kernel.func, owner)}
    for wish in (f"{owner}.{label}", *(f"{one}.{label}" for one in numbers), label):
        for word in words:
            for directive in state.program.directives:
                if directive.name == word and directive.func in funcs:
                    part = next((a for a in directive.arguments if _names(a, wish)), None)
                    if part is not None:
                        return Origin(None, directive, part.span or directive.span)
    return Origin()


def makers(state: State, *kinds: AxisKind) -> tuple[str, ...]:
    """Return the names of the directives that make axes of these kinds, the best first."""
    return tuple(name for kind in kinds for name in state.makers.get(kind, ()))


def find_option(state: State, kernel: Kernel, *words: str) -> Origin:
    """Return the directive of a kernel's Func by one of these names; the first name counts most."""
    for word in words:
        for directive in state.program.directives:
            if directive.name == word and directive.func == state.program.owner(kernel.func):
                return Origin(None, directive, directive.span)
    return Origin()


def find_edit(state: State, kernel: Kernel, does: Callable[[Launch], object]) -> Origin:
    """Return the directive that makes something true of the launch of a kernel."""
    return find_option(state, kernel, *(one.name for one in asking_for(kernel, does)))


def _names(argument: Argument, label: str) -> bool:
    new = argument.value.name if isinstance(argument.value, Split) else None
    return label in (argument.target, new)


def _targets(directive: Directive) -> Iterator[str | int]:
    return (argument.target for argument in directive.arguments)


def _axes(kernel: Kernel) -> Iterator[tuple[Axis, *tuple[AxisKind, ...]]]:
    """Yield each axis of a kernel, and the kinds of axes that it belongs to."""
    outer = {label for axis in kernel.grid for label in axis.origin.labels}
    for axis in kernel.grid:
        yield axis, AxisKind.GROUPS if axis.name in outer else AxisKind.GRID
    for around in loops(kernel.body):
        yield around[-1].axis, *LOOPS
    for leaf, _ in leaves(kernel.body):
        for lane in leaf.lanes:
            yield lane, AxisKind.LANES
