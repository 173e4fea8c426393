"""A judged schedule in, the generated file out, and every stage on the way to it."""

from collections.abc import Iterator
from dataclasses import dataclass

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_directive
from dtpoly.codegen.module import Generated, Launch, generate, module_text
from dtpoly.schedule.compile import Compile
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, Node, loops, paths


@dataclass(frozen=True, slots=True)
class Code:
    """The generated file, and the stages that it came from."""

    stages: Generated
    text: str


def code_of(state: State, header: str = "") -> Code:
    """The Python file of a state that was judged legal."""
    stages = stages_of(state)
    return Code(stages, module_text(state.sized, state.model, stages, header))


def stages_of(state: State) -> Generated:
    """Loops, storage and kernels of a state that was judged legal."""
    return generate(state.program, state.model, launches(state), outputs(state.program))


def outputs(program: Program) -> tuple[str, ...]:
    """The Funcs that get a wrapper: those that are compiled, else the last one."""
    words = (Compile.name, *Compile.aliases)
    named = tuple(dict.fromkeys(d.func for d in program.directives if d.name in words))
    return named or tuple(func.name for func in program.funcs[-1:])


def launches(state: State) -> tuple[Launch, ...]:
    """What each kernel of a tree is launched as."""
    ways = paths(state.kernels)
    return tuple(
        Launch(
            kernel.name,
            tuple(way for way in ways if way.kernel == at),
            dict(_unrolled(kernel.body)),
            kernel.options.precision,
            kernel.options.num_warps,
            kernel.options.num_stages,
            tuple(_comment(state, kernel)),
        )
        for at, kernel in enumerate(state.kernels)
    )


def _unrolled(body: Node) -> Iterator[tuple[str, int]]:
    for around in loops(body):
        if around[-1].unroll > 1:
            yield around[-1].axis.name, around[-1].unroll


def _comment(state: State, kernel: Kernel) -> Iterator[str]:
    """The directives that made a kernel."""
    fused = {fusion.func for fusion in state.fusions if fusion.kernel == kernel.name}
    for directive in state.program.directives:
        if directive.func == kernel.func or directive.func in fused:
            yield show_directive(directive)
