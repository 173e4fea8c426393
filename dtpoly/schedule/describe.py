"""Turns a broken dependence into a violation, with a witness, in words.

The witness is a concrete pair of instances at concrete sizes.
"""

from collections.abc import Mapping

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.show import show_affine
from dtpoly.poly.axes import Axis, Path, finest, several
from dtpoly.poly.coordinates import at, int_coordinates
from dtpoly.poly.dependences import DependenceKind
from dtpoly.poly.model import Role, Statement, by_name
from dtpoly.poly.order import Broken, ViolationKind
from dtpoly.poly.witness import first_pair
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Kernel, loops
from dtpoly.schedule.verdict import Instance, InstancePlace, Violation, Witness


def violation(state: State, one: Broken, ways: Mapping[str, Path]) -> Violation:
    """Make the violation for pairs that are broken; the first of these pairs is the witness."""
    known = by_name(state.lifted) | by_name(state.model)
    source, target = known[one.dependence.source], known[one.dependence.target]
    pair = first_pair(state.model, one.pairs)
    witness = Witness(
        {label: pair.sizes[param] for label, param in state.model.size_of.items()},
        _instance(state, source, pair.source, ways),
        _instance(state, target, pair.target, ways),
    )
    return Violation(
        one.kind,
        one.dependence,
        source.func,
        source.role,
        target.func,
        target.role,
        witness,
        _words(one, witness),
    )


def _instance(
    state: State, statement: Statement, values: tuple[int, ...], ways: Mapping[str, Path]
) -> Instance:
    dims = dict(zip(statement.dims, values, strict=True))
    indices = {label: dims[label] for label in statement.labels}
    path = ways.get(statement.name)
    place = None if path is None else place_of(state, statement, dims, path)
    # A store is one of the result, in whosever kernel it is.
    func = state.model.arrays[statement.writes.array].func
    func = func if statement.role is Role.STORE else statement.func
    return Instance(statement.name, func, statement.role, indices, place)


def place_of(
    state: State, statement: Statement, dims: Mapping[str, int], path: Path
) -> InstancePlace:
    """Find where one instance, given by its dims, is computed."""
    coordinates = int_coordinates(path, statement, dims)
    grid = several(finest(path.grid))
    kernel = state.kernels[path.kernel]
    return InstancePlace(
        kernel.name,
        {axis.label: coordinates[axis.name] // (axis.step or 1) for axis in grid},
        _loops(several(path.loops), kernel, coordinates),
        {axis.label: coordinates[axis.name] for axis in several(path.lanes)},
    )


def _loops(
    around: tuple[Axis, ...], kernel: Kernel, coordinates: Mapping[str, int]
) -> dict[str, int]:
    """Give the index of each loop, outermost first.

    Of two loops over one label, the inner one is called `g.x`.
    """
    found: dict[str, int] = {}
    for axis in around:
        name, value = _counted(axis, kernel, coordinates)
        found[axis.name if name in found else name] = value
    return found


def _counted(axis: Axis, kernel: Kernel, coordinates: Mapping[str, int]) -> tuple[str, int]:
    """Say what a loop counts, over labels, and where it is in that order: `x + k` and 3."""
    if axis.time is None:
        return axis.label, coordinates[axis.name]
    named = {around[-1].axis.name: around[-1].axis.label for around in loops(kernel.body)}
    labels = {name: Affine(((label, 1),)) for name, label in named.items()}
    known: dict[str | int, int] = {name: coordinates.get(name, 0) for name in axis.time.labels}
    return show_affine(axis.time.substitute(labels)), at(axis.time, 0, known)


def _words(one: Broken, witness: Witness) -> str:
    sizes = ", ".join(f"{label} = {size}" for label, size in witness.sizes.items())
    source, target = witness.source, witness.target
    at = f"at {sizes}, " if sizes else ""
    here = f" in {target.place}" if target.place else ""
    there = f" in {source.place}" if source.place else ", in no place that it can see"
    match one.kind:
        case ViolationKind.RECOMPUTES:
            return f"{one.kind}: {at}{source} is computed{there} and again{here}"
        case ViolationKind.LOST:
            return f"{one.kind}: {at}{source}"
        case ViolationKind.UNWRITTEN:
            return f"{one.kind}: {at}{source}{here}"
        case _:
            verb = {
                DependenceKind.FLOW: "reads what",
                DependenceKind.ANTI: "overwrites what",
                DependenceKind.IN_PLACE: f"overwrites what of {one.dependence.array}",
                DependenceKind.OUTPUT: "overwrites what",
                DependenceKind.REDUCTION: "adds to what",
                DependenceKind.SCAN: "goes on from what",
            }[one.dependence.kind]
            is_read = one.dependence.kind in (DependenceKind.ANTI, DependenceKind.IN_PLACE)
            done = "reads" if is_read else "writes"
            return f"{one.kind}: {at}{target}{here} {verb} {source} {done}{there}"
