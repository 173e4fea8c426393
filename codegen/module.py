"""A judged schedule in, the generated Python file out, stage by stage."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dtpoly.algorithm.program import Program
from dtpoly.poly.axes import Path
from dtpoly.poly.loops import LoopNode, loop_ast
from dtpoly.poly.model import Model, by_name
from dtpoly.poly.tiles import Tiles, tiles_of

from .building import NotVisible
from .elements import Elements, elements_of
from .kernel import TileKernel
from .lower import lower
from .names import fresh
from .prelude import IMPORTS, TEXT
from .storage import Storage, plan
from .triton_text import helpers, kernel_lines
from .wrapper import Launched, Wrapping, wrapper_lines


@dataclass(frozen=True, slots=True)
class Launch:
    """What one kernel of the tree is: its name, the ways to its statements, its options."""

    name: str
    paths: tuple[Path, ...]
    unrolled: Mapping[str, int]
    precision: str | None = None
    num_warps: int | None = None
    num_stages: int | None = None
    comment: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Generated:
    """Every stage on the way to the text."""

    launches: tuple[Launch, ...]
    outputs: tuple[str, ...]  # Funcs that get a wrapper
    tiles: Mapping[str, Tiles]
    loops: tuple[tuple[LoopNode, ...], ...]
    storage: Storage
    elements: Elements
    kernels: tuple[TileKernel, ...]


def generate(
    program: Program, model: Model, launches: Sequence[Launch], outputs: Sequence[str]
) -> Generated:
    """Tiles, loops, storage and kernel IR of everything that is launched."""
    known = by_name(model)
    tiles = {
        path.statement: tiles_of(model, known[path.statement], path)
        for launch in launches
        for path in launch.paths
    }
    mine = [{p.statement: tiles[p.statement] for p in launch.paths} for launch in launches]
    loops = tuple(loop_ast(model, tuple(one.values())) for one in mine)
    elements = elements_of(program, model)
    spilled: set[str] = set()
    while True:
        storage = plan(model, tiles, outputs, spilled)
        try:
            kernels = tuple(
                lower(
                    model,
                    launch.name,
                    own,
                    nodes,
                    storage,
                    elements,
                    launch.precision,
                    launch.unrolled,
                    launch.comment,
                )
                for launch, own, nodes in zip(launches, mine, loops, strict=True)
            )
        except NotVisible as needed:
            # Each array is spilled at most once: in memory it is visible everywhere.
            spilled.add(needed.array)
            continue
        return Generated(tuple(launches), tuple(outputs), tiles, loops, storage, elements, kernels)


def module_text(program: Program, model: Model, made: Generated, header: str) -> str:
    """The whole generated file: one wrapper for each Func that is compiled."""
    comment = "".join(f"# {line}\n" for line in header.splitlines())
    parts = [comment, f"{IMPORTS}\n", f"{TEXT}\n"]
    parts += [f"{text}\n" for text in helpers(made.kernels)]
    for kernel in made.kernels:
        parts.append("\n".join(line.text for line in kernel_lines(kernel)) + "\n\n")
    launched = [
        Launched(kernel, launch.num_warps, launch.num_stages)
        for kernel, launch in zip(made.kernels, made.launches, strict=True)
    ]
    taken: set[str] = {f"{kernel.name}_kernel" for kernel in made.kernels}
    for func in made.outputs:
        name = fresh(func, taken)
        taken.add(name)
        sizes = _size_names(program)
        needed = _needed(launched, func)
        wrapping = Wrapping(program, model, made.elements, made.storage, needed, func, name, sizes)
        parts.append("\n".join(wrapper_lines(wrapping)) + "\n\n")
    return "\n".join(parts).rstrip("\n") + "\n"


def _size_names(program: Program) -> dict[str, str]:
    taken = {i.name for i in program.inputs}
    names: dict[str, str] = {}
    for label in [one.name for one in program.labels]:
        names[label] = fresh(f"{label}_size", taken)
        taken.add(names[label])
    return names


def _needed(launched: Sequence[Launched], func: str) -> tuple[Launched, ...]:
    """The kernels that a Func needs, in order."""
    arrays, found = {func}, list[Launched]()
    for one in reversed(launched):
        tensors = one.kernel.tensors
        if any(p.is_written and p.name in arrays for p in tensors):
            found.append(one)
            arrays |= {p.name for p in tensors}
    return tuple(reversed(found))
