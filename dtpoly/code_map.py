"""Finds, for each line of the generated kernels, what in the .dt file it comes from."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import assert_never

from dtpoly.algorithm.program import in_order
from dtpoly.algorithm.show import show_directive
from dtpoly.codegen.line import About, Head, KernelLine, OfBlocks, OfDirective, OfInput, OfTensor
from dtpoly.codegen.together import Together, together_lines
from dtpoly.codegen.triton_text import kernel_lines
from dtpoly.frozen import dataclass
from dtpoly.generate import Code
from dtpoly.ir.kernel import (
    ForLoop,
    If,
    Lanes,
    Let,
    LoopScalar,
    Mask,
    Step,
    TiledLoop,
    TileKernel,
)
from dtpoly.ir.tile_values import Test
from dtpoly.ir.tiled import flat
from dtpoly.origins import Origin, find_directive, find_edit, find_option, makers, origin_of
from dtpoly.poly.model import by_name
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import AxisKind, Kernel, launch_of

START = "_start"  # ends the names of where loops and blocks are


@dataclass(frozen=True, slots=True)
class MappedLine:
    """A line of the generated file, by its number, and where it comes from."""

    number: int
    text: str
    kernel: str
    origin: Origin


def code_map(state: State, code: Code) -> tuple[MappedLine, ...]:
    """Say of each line of each kernel which parts of the source it comes from."""
    lines = code.text.splitlines()
    found: list[MappedLine] = []
    for kernel, node in zip(code.stages.kernels, state.kernels, strict=True):
        placed = _placed(kernel.body, by_name(state.model))
        texts = kernel_lines(replace(kernel, body=placed))
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
    """Return the kernel of the tree that is launched with the one before it."""
    return state.kernels[[one.name for one in code.stages.kernels].index(pair.parts[1].name)]


def _find(lines: Sequence[str], texts: Sequence[str]) -> int:
    """Return where a kernel begins in the file: at the lines of which the second one names it."""
    for start in range(len(lines) - len(texts) + 1):
        if lines[start + 1] == texts[1] and list(lines[start : start + len(texts)]) == [*texts]:
            return start
    raise AssertionError(f"{texts[1]} is not in the file")


def _origins(
    state: State, node: Kernel, kernel: TileKernel, lines: Sequence[KernelLine]
) -> Iterator[Origin]:
    known: dict[str, Origin] = {}
    for at, line in enumerate(lines):
        name = line.origin
        if line.about is Head.NEXT:
            name = next((after.origin for after in lines[at + 1 :] if after.origin), "")
        if not name:
            yield _of_head(state, node, kernel, line.about)
            continue
        if name not in known:
            known[name] = origin_of(state, node, name)
        yield known[name]


def _placed(
    body: tuple[Step, ...], statements: Collection[str], lanes: Mapping[str, str] | None = None
) -> tuple[Step, ...]:
    """Return the steps with the origins that their lines have on the map.

    A mask that names none comes from the lanes which it is about. A last, shorter step, and where
    it begins, are there for the lanes below.
    """
    seen = dict(lanes or {})
    done: list[Step] = []
    for at, step in enumerate(body):
        one, origin = step.instruction, step.origin
        match one:
            case Lanes(name=axis):
                seen[axis] = origin
            case Mask(test=Test(axes=axes)) | Let(axes=axes) if not origin:
                origin = next((seen[axis] for axis in axes[:1] if axis in seen), "")
            case LoopScalar(name=name) | Let(name=name) if origin and name.endswith(START):
                origin = _lanes_in(body[at + 1 :], statements) or origin
            case ForLoop(body=inner):
                one = replace(one, body=_placed(inner, statements, seen))
            case If(body=inner):
                one = replace(one, body=_placed(inner, statements, seen))
                origin = _lanes_in(inner, statements) or origin
            case TiledLoop(main=main, tail=tail, tail_origin=last):
                last = _lanes_in(tail, statements) or last
                main, tail = (_placed(part, statements, seen) for part in (main, tail))
                one = replace(one, main=main, tail=tail, tail_origin=last)
            case _:
                pass
        done.append(Step(one, origin))
    return tuple(done)


def _lanes_in(body: tuple[Step, ...], statements: Collection[str]) -> str:
    """Return the origin of the first lanes in some steps."""
    named = [origin for origin in _origins_in(body) if origin]
    return next((name for name in named if name not in statements), next(iter(named), ""))


def _origins_in(body: tuple[Step, ...]) -> Iterator[str]:
    for step in flat(body):
        yield step.origin
        match step.instruction:
            case ForLoop(body=inner) | If(body=inner):
                yield from _origins_in(inner)
            case _:
                pass


def _of_head(state: State, node: Kernel, kernel: TileKernel, about: About | None) -> Origin:
    """Return lines of no statement: parameters, the schedule as a comment, where the block is."""
    match about:
        case OfDirective(text=text):
            said = (one for one in state.program.directives if show_directive(one) == text)
            directive = next(said, None)
            return Origin(None, directive, directive.span) if directive else Origin()
        case OfTensor(name=name):
            return _declared(state, name)
        case OfInput(variable=variable):
            names = {own: name for name, own, _ in kernel.scalars}
            return _declared(state, names[variable])
        case OfBlocks(label=label, in_groups=in_groups):
            kind = AxisKind.GROUPS if in_groups else AxisKind.GRID
            return find_directive(state, node, (kind,), label)
        case Head():
            return _of_launch(state, node, about)
        case None:
            return Origin()
        case _:
            assert_never(about)


def _of_launch(state: State, node: Kernel, about: Head) -> Origin:
    """Return lines that are there for how the kernel is launched."""
    match about:
        case Head.GRID:
            return find_option(state, node, *makers(state, AxisKind.GROUPS, AxisKind.GRID))
        case Head.BESIDE:
            return find_edit(state, node, lambda launch: launch.beside)
        case Head.WAITS:
            found = find_edit(state, node, lambda launch: launch.is_early)
            return found if found.directive is not None else _panels(state, node)
        case Head.PANELS:
            return _panels(state, node)
        case Head.LOADS:
            return find_edit(state, node, lambda launch: launch.is_specialized)
        case Head.TURNS:
            return find_edit(state, node, lambda launch: launch.each)
        case Head.NEXT:
            return Origin()
        case _:
            assert_never(about)


def _panels(state: State, node: Kernel) -> Origin:
    """Return the directive by which a Func, and what it needs, is computed in panels."""
    for last in state.kernels:
        if launch_of(last).panel is not None:
            needed = in_order(state.program, [last.func])
            if node.func in {func.name for func in needed}:
                return find_edit(state, last, lambda launch: launch.panel)
    return Origin()


def _declared(state: State, name: str) -> Origin:
    """Return the declaration of an input, the definition of a Func."""
    program = state.program
    known = {one.name: one.span for one in (*program.inputs, *program.funcs)}
    return Origin(known.get(name))
