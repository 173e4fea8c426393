"""Generates the Python file for a judged schedule, stage by stage.

`generate` finds tiles, loops and storage, and makes the kernel IR of everything that is launched.
`module_text` writes the file from that. `Generated` keeps every stage on the way, so that it can be
shown.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from functools import partial
from math import prod

from dtpoly.algorithm.program import NOTHING, Program
from dtpoly.budget import stage
from dtpoly.frozen import dataclass
from dtpoly.ir.kernel import TileKernel
from dtpoly.plan.launch import Launch
from dtpoly.plan.plan import Plan
from dtpoly.plan.plan_data import literal
from dtpoly.plan.runtime_text import runtime_text
from dtpoly.poly.axes import Path
from dtpoly.poly.effort import answered, limited
from dtpoly.poly.generation import loop_ast
from dtpoly.poly.launched import unnumbered
from dtpoly.poly.loops import LoopNode
from dtpoly.poly.model import Model, Statement, by_name, is_ranged
from dtpoly.poly.remembered import remembering_one_file
from dtpoly.poly.spaces import PolyError, computing
from dtpoly.poly.tiles import StatementTiles, tiles_of

from .axis_words import plain_axes
from .building import NotVisible, Unsupported
from .called import helpers
from .elements import PAIRED, ElementKinds, elements_of
from .file_parts import FUNCTION, function_lines, imports_of, shared_by
from .header import comment
from .lower import lower
from .motions import NotOnePassError
from .plan_parts import FunctionParts, LaunchedKernel, indices_read
from .planning import plan_of
from .python_names import FileNames, file_names, fresh
from .reference_terms import SHARED as COMPUTING
from .storage import INDEX, Storage, overwritten, plan
from .test_text import SHARED as COMPARING
from .test_text import test_lines
from .tile_limits import MOST, too_many
from .together import Together, pairs_of, together_lines
from .triton_text import kernel_lines

# isl's own words would help nobody.
BEYOND = "its loops, or which of its lanes compute, cannot be told for all sizes"
TOO_LONG = "it takes too long to find its loops, and which of its lanes compute"
# How many operations isl may take for a file: a quarter of a minute; most need less than a second.
OPERATIONS = 20_000_000


@dataclass(frozen=True, slots=True)
class TilesAndLoops:
    """Tiles and loops, which take longest to find.

    They are the same whatever is said of warps or stages, so that schedules can share them.
    """

    model: Model
    ways: "Ways"
    tiles: Mapping[str, StatementTiles]
    loops: tuple[tuple[LoopNode, ...], ...]

    def fits(self, model: Model, launches: Sequence[Launch]) -> bool:
        """Return whether they are those of these statements, too."""
        return self.model is model and self.ways == _ways(launches)


# For each kernel, the ways to its statements, and the labels of loops that become one loop.
Ways = tuple[tuple[tuple[Path, ...], tuple[tuple[str, ...], ...]], ...]


def _ways(launches: Sequence[Launch]) -> Ways:
    return tuple((launch.paths, launch.flat) for launch in launches)


@dataclass(frozen=True, slots=True)
class Generated:
    """The results of every stage on the way to the text."""

    launches: tuple[Launch, ...]
    returned: Mapping[str, tuple[str, ...]]  # for each function, its results
    layout: TilesAndLoops
    storage: Storage
    elements: ElementKinds
    kernels: tuple[TileKernel, ...]
    pairs: Mapping[str, Together] = field(default_factory=dict[str, Together])  # of the second one

    @property
    def outputs(self) -> tuple[str, ...]:
        """Funcs that functions are named after."""
        return tuple(self.returned)

    @property
    def results(self) -> tuple[str, ...]:
        """Funcs that some function returns; those that functions are named after come first."""
        return results_in(self.returned)

    @property
    def pitched(self) -> frozenset[str]:
        """Funcs whose rows begin where memory is aligned."""
        return frozenset(launch.func for launch in self.launches if launch.is_pitched)

    @property
    def tiles(self) -> Mapping[str, StatementTiles]:
        """Return the tiles of each statement."""
        return self.layout.tiles

    @property
    def loops(self) -> tuple[tuple[LoopNode, ...], ...]:
        """Return the loops of each kernel."""
        return self.layout.loops


def generate(
    program: Program,
    model: Model,
    launches: Sequence[Launch],
    outputs: Sequence[str],
    operations: int = OPERATIONS,
    known: TilesAndLoops | None = None,
    returned: Mapping[str, tuple[str, ...]] = NOTHING,
) -> Generated:
    """Find tiles, loops, storage and kernel IR of all that is launched. Raises Unsupported.

    isl may take so many operations for that. A layout that is known is taken where it fits. Of each
    output there is a function, which returns it, or the results that `returned` has for it.
    """
    every = {func: returned.get(func, (func,)) for func in outputs}
    try:
        with (
            remembering_one_file(),
            limited(operations),
            computing("the code of a schedule"),
        ):
            made = answered(lambda: _generated(program, model, launches, every, known))
    except PolyError as error:
        raise Unsupported(BEYOND) from error
    if made is None:
        raise Unsupported(TOO_LONG)
    return made


def _layout(original: Model, launches: Sequence[Launch]) -> TilesAndLoops:
    model = with_indices(original)
    known = by_name(model)
    for launch in launches:
        axis = unnumbered(launch.paths[0].grid)
        if axis is not None:
            raise Unsupported(
                f"the grid of '{launch.name}' has an axis of '{axis.label}' that is neither "
                f"blocks of a label, from 0 on, nor a group of whole blocks"
            )
    for statement, path in ((known[p.statement], p) for one in launches for p in one.paths):
        if (number := _lanes_stored(statement, path)) > MOST:
            raise Unsupported(too_many(statement.func, number))
    tiles = {
        path.statement: tiles_of(known[path.statement], path)
        for launch in launches
        for path in launch.paths
    }
    mine = [{p.statement: tiles[p.statement] for p in launch.paths} for launch in launches]
    loops = tuple(_loops(model, launch, one) for launch, one in zip(launches, mine, strict=True))
    return TilesAndLoops(original, _ways(launches), tiles, loops)


def _lanes_stored(statement: Statement, path: Path) -> int:
    """Give a lower bound of how many elements the tile has that the statement stores.

    All tiles are looked at where the text is written. This one is known before isl has been asked
    anything, which takes long where a tile has dozens of axes.
    """
    kept = frozenset(statement.labels) - frozenset(statement.bound)
    return prod(lane.extent or 1 for lane in path.lanes if lane.label in kept)


def _loops(
    model: Model,
    launch: Launch,
    tiles: Mapping[str, StatementTiles],
    whole: frozenset[str] = frozenset(),
) -> tuple[LoopNode, ...]:
    """Return the loops of a kernel; those over `whole` labels have a mask in each tile."""
    with stage(f"finding the loops of the kernel '{launch.name}'"):
        return loop_ast(model, tuple(tiles.values()), frozenset(sum(launch.flat, ())) | whole)


def _lowered(
    model: Model,
    launch: Launch,
    tiles: Mapping[str, StatementTiles],
    loops: tuple[LoopNode, ...],
    make: Callable[[tuple[LoopNode, ...]], TileKernel],
) -> TileKernel:
    """Make a kernel of its loops.

    If loops cannot be joined, since a range divides them too often, its tiles all get a mask.
    """
    try:
        return make(loops)
    except NotOnePassError:
        steps = [one.statement for one in tiles.values()]
        labels = {label for one in steps for label in one.labels if is_ranged(one, label)}
        if labels:
            with suppress(NotOnePassError):
                return make(_loops(model, launch, tiles, frozenset(labels)))
        raise


def _generated(
    program: Program,
    model: Model,
    launches: Sequence[Launch],
    returned: Mapping[str, tuple[str, ...]],
    known: TilesAndLoops | None,
) -> Generated:
    outputs = results_in(returned)
    fits = known is not None and known.fits(model, launches)
    layout = known if known is not None and fits else _layout(model, launches)
    model, tiles = with_indices(model), layout.tiles
    mine = [{p.statement: tiles[p.statement] for p in launch.paths} for launch in launches]
    elements, whole = elements_of(program, model), plain_axes(program)
    names = _names(program, outputs, launches).kernels
    spilled: set[str] = set()
    while True:
        storage = plan(model, tiles, outputs, spilled)
        if (label := overwritten(model, tiles, storage)) is not None:
            raise Unsupported(
                f"the loop over '{label}' would overwrite private copies that are read after it"
            )
        try:
            rows = zip(launches, names, mine, layout.loops, strict=True)
            kernels = tuple(
                _lowered(
                    model,
                    launch,
                    own,
                    loops,
                    partial(lower, model, name, launch, own, storage, elements, whole),
                )
                for launch, name, own, loops in rows
            )
        except NotVisible as needed:
            # Each array is spilled at most once: in memory it is visible everywhere.
            spilled.add(needed.array)
            continue
        found = pairs_of(_names(program, outputs, launches).pairs, launches, kernels)
        return Generated(tuple(launches), returned, layout, storage, elements, kernels, found)


def results_in(returned: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The results of some functions, each once; those that they are named after come first."""
    return tuple(dict.fromkeys((*returned, *(one for row in returned.values() for one in row))))


def _names(program: Program, outputs: Sequence[str], launches: Sequence[Launch]) -> FileNames:
    pairs = [f"{one.beside}_{one.name}" for one in launches if one.beside]
    return file_names(program, outputs, [launch.name for launch in launches], pairs)


def with_indices(model: Model) -> Model:
    """Return the Model with a second array for each array that also keeps indices."""
    more = tuple(
        replace(array, name=array.name + INDEX)
        for array in model.arrays.values()
        if array.reduction in PAIRED or array.is_paired
    )
    return model.with_statements(model.statements, *more)


def module_text(
    program: Program,
    model: Model,
    made: Generated,
    header: str,
    test: Mapping[str, int] | None = None,
    *,
    carries_runtime: bool = True,
) -> str:
    """Return the whole generated file: kernels, the plan of each function, and the runtime.

    With sizes for a `test` also a function that tries them on random inputs. A file that does not
    carry the runtime imports it from dtpoly. Raises Unsupported.
    """
    functions = _functions(program, with_indices(model), made)
    kernels = [_text(line.text for line in kernel_lines(kernel)) for kernel in made.kernels]
    kernels += [_text(together_lines(one)) for one in made.pairs.values()]
    plans = [plan_of(one) for one in functions]
    body = [*helpers(made.kernels), *kernels]
    body += [_text(literal(one.plan, plan)) for one, plan in zip(functions, plans, strict=True)]
    body += [runtime_text()] if carries_runtime else []
    body += [
        _text(function_lines(plan, one.plan)) for one, plan in zip(functions, plans, strict=True)
    ]
    called = {FUNCTION}
    if test is not None:
        tests = test_lines(functions, test, [launch.precision for launch in made.launches])
        called = called.union(*(one.called for one in tests))
        body += [*shared_by(called, COMPUTING | COMPARING), *(one.text for one in tests)]
    imports = imports_of(called, carries_runtime=carries_runtime, has_test=test is not None)
    return f"{comment(header)}{imports}\n\n" + "\n\n".join(body)


def plans_of(program: Program, model: Model, made: Generated) -> tuple[Plan, ...]:
    """Return the plan of each function of the file. Raises Unsupported."""
    return tuple(plan_of(one) for one in _functions(program, with_indices(model), made))


def _text(lines: Iterable[str]) -> str:
    return "\n".join(lines) + "\n"


def _functions(program: Program, model: Model, made: Generated) -> list[FunctionParts]:
    launched = [
        LaunchedKernel(
            kernel,
            launch.func,
            launch.num_warps,
            launch.num_stages,
            launch.is_pitched,
            made.pairs.get(kernel.name),
            launch.panel,
        )
        for kernel, launch in zip(made.kernels, made.launches, strict=True)
    ]
    names, whole = _names(program, made.results, made.launches), plain_axes(program)
    taken, indices = set(names.taken), indices_read(model)
    functions: list[FunctionParts] = []
    for func, results in made.returned.items():
        plan = fresh(f"{names.funcs[func]}_plan", taken)
        taken.add(plan)
        needed = _needed(launched, (*results, *_starts(program, results)))
        for pair in made.pairs.values():
            there = [any(one.kernel is part for one in needed) for part in pair.parts]
            if there[0] != there[1]:
                one, other = (part.name for part in pair.parts)
                raise Unsupported(
                    f"'{func}' is computed without one of '{one}' and '{other}', which share a "
                    "launch: let each have its own"
                )
        functions.append(
            FunctionParts(
                program=program,
                model=model,
                elements=made.elements,
                storage=made.storage,
                launched=needed,
                results=results,
                names=names,
                whole=whole,
                plan=plan,
                indices=indices,
            )
        )
    return functions


def _starts(program: Program, results: Sequence[str]) -> Iterator[str]:
    """Yield the Funcs that results are added to, which have the memory of these results."""
    return (start for start, added in program.starts.items() if added in results)


def _needed(
    launched: Sequence[LaunchedKernel], results: Sequence[str]
) -> tuple[LaunchedKernel, ...]:
    """Return the kernels that some Funcs need, in order."""
    arrays, found = {*results}, list[LaunchedKernel]()
    for one in reversed(launched):
        tensors = one.kernel.tensors
        if any(p.is_written and p.name in arrays for p in tensors):
            found.append(one)
            arrays |= {p.name for p in tensors}
    return tuple(reversed(found))
