"""The primitive `map`: which program instance computes which block."""

from collections.abc import Iterator
from dataclasses import replace
from typing import ClassVar, Self

from dtpoly.algorithm.expressions import Affine
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.frozen import dataclass
from dtpoly.plan.layout import Decided, Layout
from dtpoly.poly.axes import Axis
from dtpoly.schedule.argument_kinds import OneOf
from dtpoly.schedule.argument_values import Divided, Name, label_of, show_value, word_span
from dtpoly.schedule.depends import Depends
from dtpoly.schedule.facts import Fact, NewName, Numbered
from dtpoly.schedule.kernels import View
from dtpoly.schedule.labels import DividedLabel, LabelKind, check_label
from dtpoly.schedule.primitive import Count, Parameter, Primitive, Stage, Turn, Written
from dtpoly.schedule.reference import Reference, ReferenceRow
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Map(Primitive):
    """Number the program instances as a nest of loops over the blocks passes them.

        p = 0; for y, for x: block (x, y) -> p++        (the first label runs fastest)
        -->  map(y:yi/8, x, yi):
        p = 0; for y by 8, for x, for yi in y..min(y + 8, Y): block (x, yi) -> p++

    Loops are listed outermost first, each blocked label once; `y:yi/8` takes groups of 8 blocks
    of y and needs `yi` later on. The last group may be smaller; no number is left out. The order
    of loops inside a program is that of `reorder`.
    """

    name: ClassVar[str] = "map"
    stage: ClassVar[Stage] = Stage.LOOPS
    turn: ClassVar[Turn | None] = Turn.NUMBERING
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.GROUPS})
    written: ClassVar[Written] = Written.LOOPS
    parameters: ClassVar[tuple[Parameter, ...]] = (
        Parameter(
            "loops",
            OneOf((LabelKind(anywhere=True), DividedLabel(anywhere=True))),
            Count.LIST,
        ),
    )
    reference: ClassVar[Reference] = Reference(
        rows=(
            ReferenceRow(
                ("f.map(y:yi/8, x, yi);",),
                (
                    "the order of program instances, outermost first; without it the first label "
                    "runs fastest"
                ),
            ),
        ),
        is_extension=False,
    )

    loops: tuple[Name | Divided, ...]

    def facts(self) -> Iterator[Fact]:
        """State the order of programs, and the names of the loops over the blocks of a group."""
        yield Numbered(self.func, self.loops)
        for item in self.loops:
            if isinstance(item, Divided):
                new, label, span = item.new, item.label, item.span
                yield NewName(self.func, new, label, self.name, is_loop=False, span=span)

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        """Return this directive if a layout has another order of programs than the usual one."""
        group = layout.group
        loops: list[Name | Divided] = []
        for label in layout.order:
            if group is not None and label == group.label:
                loops.append(Divided(label, group.name, group.count))
            else:
                loops.append(Name(label))
        if group is not None:
            loops.append(Name(group.name))
        return cls(layout.func, tuple(loops)) if layout.order else None

    def why(self, decided: Decided) -> str:
        """Say what programs that follow each other share."""
        layout = decided.layout
        if layout.group is not None:
            count, label = layout.group.count, layout.group.label
            return f"{count} blocks of {label} in turn share what they read: it stays in L2"
        return f"programs go along {layout.order[-1]} first, as memory does"

    def depends(self) -> Depends:
        """Return that a verdict does not depend on how many blocks a group has."""
        named = tuple(item.new if isinstance(item, Divided) else None for item in self.loops)
        labels = tuple(map(label_of, self.loops))
        return Depends(((self.func, self.name, labels, named),), is_once=True)

    def check(self, view: View) -> Iterator[Diagnostic]:
        """Check that each blocked label is listed once, and each new name once, after its label."""
        groups = {item.new: item for item in self.loops if isinstance(item, Divided)}
        seen: dict[str, Name | Divided] = {}
        for item in self.loops:
            label = label_of(item)
            if label in seen:
                yield _wrong_order(item, "stands twice", "again", seen[label].span)
            elif label in groups:
                yield from _check_inner(item, groups[label], seen)
            else:
                yield from self._check_blocked(label, item.span, view)
            seen.setdefault(label, item)
        for new, item in groups.items():
            if new not in seen:
                yield self._inner_missing(item)
        blocked = view.blocked.get(self.func, {})
        missing = [label for label in blocked if label not in seen]
        if missing:
            yield self._blocked_missing(missing, view)

    def _check_blocked(self, label: str, span: Span | None, view: View) -> Iterator[Diagnostic]:
        yield from check_label(label, span, self.func, view)
        blocked = view.blocked.get(self.func, {})
        is_known = label in view.kernels[self.func].labels
        if not is_known or label in blocked or (self.func, "block") in view.wrong:
            return
        listed = (
            f"the blocked labels are {', '.join(blocked)}" if blocked else "no label is blocked"
        )
        yield Diagnostic(
            "DT192",
            Severity.ERROR,
            f"'{label}' has no blocks to map",
            word_span(span, label),
            "is not blocked",
            (Note(f"in '{self.func}' {listed}"),),
            f"block it, as in {self.func}.block({label}:16), or leave it out",
        )

    def _inner_missing(self, item: Divided) -> Diagnostic:
        return Diagnostic(
            "DT193",
            Severity.ERROR,
            f"'{item.new}' has no place in the order",
            word_span(item.span, item.new),
            f"divides '{item.label}', but no later argument is {item.new}",
            hint=f"add {item.new} after {show_value(item)}, where the blocks of a group belong",
            edits=self._appended((item.new,)),
        )

    def _blocked_missing(self, missing: list[str], view: View) -> Diagnostic:
        notes = [Note("is blocked here", view.blocked[self.func][m].span) for m in missing]
        names = " and ".join(f"'{label}'" for label in missing)
        return Diagnostic(
            "DT192",
            Severity.ERROR,
            f"this map leaves out {names}",
            self.span,
            f"{names} {'is' if len(missing) == 1 else 'are'} blocked too",
            tuple(notes),
            "name every blocked label, outermost loop first",
            self._appended(tuple(missing)),
        )

    def _appended(self, names: tuple[str, ...]) -> tuple[Edit, ...]:
        last = self.loops[-1].span
        if last is None:
            return ()
        return (Edit(Span(last.source, last.end, last.end), "".join(f", {n}" for n in names)),)

    def apply(self, state: State) -> State:
        """Put the axes of the grid into this order, and skip labels without blocks in a kernel."""
        return state.with_kernels(self.func, lambda k: replace(k, grid=self._grid(k)))

    def _grid(self, kernel: Kernel) -> tuple[Axis, ...]:
        blocks = {axis.label: axis for axis in kernel.grid}
        groups = {item.new: item for item in self.loops if isinstance(item, Divided)}
        grid: list[Axis] = []
        for item in self.loops:
            label = groups[label_of(item)].label if label_of(item) in groups else label_of(item)
            if label not in blocks:
                continue
            block = blocks[label]
            step = block.step or 1
            if isinstance(item, Divided):
                name = f"{kernel.func}.{label}.group"
                grid.append(replace(block, name=name, step=step * item.size))
            elif label_of(item) in groups:
                size = step * groups[label_of(item)].size
                origin = Affine(((f"{kernel.func}.{label}.group", 1),))
                grid.append(replace(block, origin=origin, extent=size))
            else:
                grid.append(block)
        missing = (axis for axis in kernel.grid if axis.label not in {one.label for one in grid})
        return (*missing, *grid)


def _check_inner(
    item: Name | Divided, group: Divided, seen: dict[str, Name | Divided]
) -> Iterator[Diagnostic]:
    if isinstance(item, Divided):
        yield _wrong_order(item, "is divided already", "cannot be divided again", group.span)
    elif group.label not in seen:
        what = f"stands before '{group.label}'"
        yield _wrong_order(item, what, f"only exists inside of '{group.label}'", group.span)


def _wrong_order(item: Name | Divided, what: str, label: str, other: Span | None) -> Diagnostic:
    name = label_of(item)
    return Diagnostic(
        "DT193",
        Severity.ERROR,
        f"'{name}' {what}",
        word_span(item.span, name),
        label,
        (Note("the other argument", other),),
        "list each loop once, outermost first",
    )
