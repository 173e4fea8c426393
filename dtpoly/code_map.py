"""Finds, for each line of the generated kernels, what in the .dt file it comes from."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from dtpoly.algorithm.program import in_order
from dtpoly.algorithm.show import show_directive
from dtpoly.codegen.together import Together, together_lines
from dtpoly.codegen.triton_text import Line, kernel_lines, making_lines, pointer
from dtpoly.codegen.waiting_text import LETTING, WAITING, WAITING_FIRST
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.ir.kernel import (
    BEFORE,
    EARLY,
    PANEL,
    SPECIALIZED,
    ForLoop,
    If,
    Lanes,
    Mask,
    Step,
    TileKernel,
    WhereDescribed,
)
from dtpoly.ir.tiled import flat
from dtpoly.origins import Origin, find_directive, find_edit, find_option, makers, origin_of
from dtpoly.poly.model import by_name
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel, launch_of

START = "_start"  # ends the names of where loops and blocks are
BARRIER = "tl.debug_barrier()"
WAITS = {text.strip() for text in (*WAITING, LETTING, *WAITING_FIRST)}


@dataclass(frozen=True, slots=True)
class MappedLine:
    """A line of the generated file, by its number, and where it comes from."""

    number: int
    text: str
    kernel: str
    origin: Origin


def code_map(state: State, code: Code) -> tuple[MappedLine, ...]:
    """Each line of each kernel."""
    lines = code.text.splitlines()
    found: list[MappedLine] = []
    for kernel, node in zip(code.stages.kernels, state.kernels, strict=True):
        texts = kernel_lines(kernel)
        start = _find(lines, [line.text for line in texts])
        origins = list(_origins(state, node, kernel, texts))
        for at, (line, origin) in enumerate(zip(texts, origins, strict=True)):
            found.append(MappedLine(start + at + 1, line.text, kernel.name, origin))
    for pair in code.stages.pairs.values():
        written = together_lines(pair)
        start = _find(lines, written)
        said = find_edit(state, _node(state, code, pair), lambda launch: launch.beside)
        for at, text in enumerate(written):
            found.append(MappedLine(start + at + 1, text, pair.kernel.name, said))
    return tuple(found)


def _node(state: State, code: Code, pair: Together) -> Kernel:
    """The kernel of the tree that is launched with the one before it."""
    return state.kernels[[one.name for one in code.stages.kernels].index(pair.parts[1].name)]


def _find(lines: Sequence[str], texts: Sequence[str]) -> int:
    """Where a kernel begins in the file: at the lines of which the second one names it."""
    for start in range(len(lines) - len(texts) + 1):
        if lines[start + 1] == texts[1] and list(lines[start : start + len(texts)]) == [*texts]:
            return start
    raise AssertionError(f"{texts[1]} is not in the file")


def _origins(
    state: State, node: Kernel, kernel: TileKernel, lines: Sequence[Line]
) -> Iterator[Origin]:
    names = [line.origin for line in lines]
    masks = dict(_masks(kernel.body))
    known: dict[str, Origin] = {}
    statements = by_name(state.model)
    begun: Origin | None = None  # what a call over several lines comes from, at the head
    for at, line in enumerate(lines):
        name = names[at] or masks.get(_assigned(line.text), "")
        if line.text.strip() == BARRIER:
            # It is there for what follows.
            name = next((after for after in names[at + 1 :] if after), "")
        elif line.text.lstrip().startswith("if ") or (
            name and _assigned(line.text).endswith(START)
        ):
            # A last, shorter step, and where it begins, are there for the lanes.
            name = _lanes_below(lines, at, statements) or name
        if name:
            if name not in known:
                known[name] = origin_of(state, node, name)
            yield known[name]
        elif begun is not None:
            yield begun
            begun = None if line.text.lstrip().startswith(")") else begun
        else:
            found = _of_head(state, node, kernel, line.text)
            begun = found if line.text.endswith("tl.range(") else None
            yield found


def _assigned(text: str) -> str:
    """The variable that a line sets."""
    return text.strip().partition(" = ")[0]


def _masks(
    body: tuple[Step, ...], lanes: Mapping[str, str] | None = None
) -> Iterator[tuple[str, str]]:
    """Where masks that name no origin come from: from that of the lanes which they are about."""
    seen = dict(lanes or {})
    for step in flat(body):
        match step.instruction:
            case Mask(name=name, test=test) if not step.origin:
                yield from ((name, seen[one]) for one in test.axes[:1] if one in seen)
            case ForLoop(body=inner) | If(body=inner):
                yield from _masks(inner, seen)
            case WhereDescribed(otherwise=inner):  # that has the masks
                yield from _masks(inner, seen)
            case Lanes(name=axis):
                seen[axis] = step.origin
            case _:
                pass


def _lanes_below(lines: Sequence[Line], at: int, statements: Collection[str]) -> str:
    """The origin of the first lanes in the block that a line begins, or stands in."""
    text = lines[at].text
    depth = _depth(text) + text.lstrip().startswith("if ")
    below: list[str] = []
    for line in lines[at + 1 :]:
        if _depth(line.text) < depth:
            break
        below.append(line.origin)
    named = [name for name in below if name]
    return next((name for name in named if name not in statements), next(iter(named), ""))


def _depth(text: str) -> int:
    return len(text) - len(text.lstrip())


def _of_head(state: State, node: Kernel, kernel: TileKernel, text: str) -> Origin:
    """Lines before the body: parameters, the schedule as a comment, where the block is."""
    word = text.strip()
    for directive in state.program.directives:
        if word == f"# {show_directive(directive)}":
            return Origin(None, directive, directive.span)
    for tensor in kernel.tensors:
        if re.match(rf"{re.escape(pointer(tensor))}\b", word):
            return _declared(state, tensor.name)
    for name, variable, _ in kernel.scalars:
        if word.startswith((f"{variable}:", f"{variable} = ")):
            return _declared(state, name)
    variable = _assigned(word)
    for axis in kernel.grid:
        if variable in (axis.name, f"{axis.name}_id", f"{axis.label}_blocks"):
            is_group = axis.group and variable != f"{axis.label}_blocks"
            kind = AxisKind.GROUPS if is_group else AxisKind.GRID
            return find_directive(state, node, (kind,), axis.label)
        if variable == f"{axis.label}_in_group":
            return find_directive(state, node, (AxisKind.GROUPS,), axis.label)
    if kernel.is_beside and word == f"{BEFORE},":
        return find_edit(state, node, lambda launch: launch.beside)
    if kernel.is_early and (word.startswith(f"{EARLY}:") or word in WAITS):
        found = find_edit(state, node, lambda launch: launch.is_early)
        return found if found.directive is not None else _panels(state, node)
    if kernel.is_first_of_panel and word == f"{PANEL},":
        return _panels(state, node)
    making = {f"{SPECIALIZED}: tl.constexpr,", *map(str.strip, making_lines(kernel))}
    if kernel.own and word in making:
        return find_edit(state, node, lambda launch: launch.is_specialized)
    if word.startswith("for block in "):
        return find_edit(state, node, lambda launch: launch.each)
    if variable == "pid" or word.startswith("# Grid"):
        return find_option(state, node, *makers(state, AxisKind.GROUPS, AxisKind.GRID))
    return Origin()


def _panels(state: State, node: Kernel) -> Origin:
    """The directive that says of a Func that it is computed in panels, with what it needs."""
    for last in state.kernels:
        if launch_of(last).panel is not None:
            needed = in_order(state.program, [last.func])
            if node.func in {func.name for func in needed}:
                return find_edit(state, last, lambda launch: launch.panel)
    return Origin()


def _declared(state: State, name: str) -> Origin:
    """The declaration of an input, the definition of a Func."""
    program = state.program
    known = {one.name: one.span for one in (*program.inputs, *program.funcs)}
    return Origin(known.get(name))
