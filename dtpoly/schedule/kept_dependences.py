"""Describes the dependences of a scheduled state in words, and how the schedule keeps each."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import product

from dtpoly.algorithm.expressions import Affine, Dot, Reduce
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path, finest
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.model import Model, Role, Statement, by_name, show_element
from dtpoly.poly.order import ViolationKind, meeting
from dtpoly.poly.separation import Distance, Separation, separations
from dtpoly.schedule.aspects import listed
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import paths
from dtpoly.schedule.verdict import Violation

# Violations that break no dependence: something is computed too often, or not where it is read.
IN_ORDER = (ViolationKind.RECOMPUTES, ViolationKind.UNWRITTEN, ViolationKind.AHEAD)


@dataclass(frozen=True, slots=True)
class Kept:
    """An order that must stay, and what keeps it: of a Func and what it reads, or in a reduction.

    `distances` are along the loops around both ends; in a reduction they are distances between its
    steps. `carriers` are the labels of the loops that put the ends in order.
    """

    what: str
    source: str  # the Func that is written
    target: str
    kernel: str  # of the target
    is_reduction: bool
    is_one_kernel: bool
    is_one_program: bool
    distances: tuple[Distance, ...]
    carriers: tuple[str, ...]
    broken: ViolationKind | None
    statements: tuple[tuple[str, str], ...]  # the ends, pair by pair
    is_scan: bool = False  # a reduction whose steps come one after another

    @property
    def how(self) -> str:
        """Return how the schedule keeps the order, in words."""
        if self.broken is not None:
            return f"not kept: {self.broken}"
        along = ", ".join(f"{one.label} {one}" for one in self.distances)
        apart = f" (distance: {along})" if along else ""
        if self.is_reduction:
            start = "start, steps, end in this order"
            if not self.is_one_kernel:
                start = "start in an earlier kernel"
            if self.is_scan:
                return f"start first; then the steps, one after another{apart}"
            programs = "" if self.is_one_program else ", also in different programs"
            return f"{start}; steps in any order{programs}{apart}"
        if not self.is_one_kernel:
            return "by an earlier kernel"
        if self.carriers:
            return f"carried by the loop over {listed(self.carriers)}{apart}"
        return f"earlier in the same {'iteration' if along else 'program'}{apart}"

    def __str__(self) -> str:
        return f"{self.what}: {self.how}"


def separated(state: State) -> tuple[Separation, ...]:
    """Find how far apart the ends of each dependence are."""
    ways = {path.statement: path for path in paths(state.kernels)}
    return tuple(separations(state.model, ways, dependences(state.model)))


def kept(
    state: State, found: Iterable[Separation], violations: Iterable[Violation] = ()
) -> tuple[Kept, ...]:
    """Say how each dependence is kept, in the order of the readers.

    The violations say which are not kept.
    """
    wrong = {(one.source, one.target): one.kind for one in violations if one.kind not in IN_ORDER}
    ways = {path.statement: path for path in paths(state.kernels)}
    groups: dict[tuple[str, str, str], list[Separation]] = {}
    for one in found:
        kernel = state.kernels[ways[one.dependence.target].kernel].name
        target = by_name(state.model)[one.dependence.target].func
        group = _reduction(one.dependence, state.model) or target
        array = base(one.dependence.array)
        if one.dependence.kind is DependenceKind.SCAN:
            array = group  # its steps stand with what they carry on
        groups.setdefault((array, group, kernel), []).append(one)
    return tuple(_kept(group, key[2], state.model, wrong) for key, group in groups.items())


def base(name: str) -> str:
    """Strip a name of the suffix of a private copy: `f@g` is a copy of `f`."""
    return name.partition("@")[0]


def _reduction(one: Dependence, model: Model) -> str:
    """Name the accumulator that both ends of a dependence belong to; "" if they do not."""
    array, known = model.array(one.array), by_name(model)
    scan = known[one.target].scan
    if one.kind is DependenceKind.SCAN and scan is not None:
        return base(scan.carry)
    is_inside = array.reduction is not None and known[one.target].func == array.func
    return base(one.array) if is_inside else ""


def _kept(
    group: list[Separation],
    kernel: str,
    model: Model,
    wrong: Mapping[tuple[str, str], ViolationKind],
) -> Kept:
    first = group[0].dependence
    known = by_name(model)
    source, target = known[first.source].func, known[first.target].func
    accumulator = _reduction(first, model)
    steps = [one for one in group if one.dependence.kind is DependenceKind.REDUCTION]
    is_one_program = all(one.is_one_program for one in group)
    carriers = dict.fromkeys(
        distance.label
        for one in group
        for distance in one.distances
        if distance.axis in one.carriers
    )
    return Kept(
        what=_reduced(accumulator, model) if accumulator else _read(group, target, known),
        source=source,
        target=target,
        kernel=kernel,
        is_reduction=bool(accumulator),
        is_one_kernel=all(one.is_one_kernel for one in group),
        is_one_program=is_one_program,
        distances=_hull(steps or group) if is_one_program else (),
        carriers=tuple(carriers),
        broken=wrong.get((source, target)),
        statements=tuple((one.dependence.source, one.dependence.target) for one in group),
        is_scan=any(known[one.dependence.target].scan is not None for one in group),
    )


def _hull(group: list[Separation]) -> tuple[Distance, ...]:
    """Give the distances that contain those of a whole group, along the loops that all share."""
    shared = min((one.distances for one in group), key=len)
    return tuple(_widest([one.distances[at] for one in group]) for at in range(len(shared)))


def _widest(some: list[Distance]) -> Distance:
    least = [one.least for one in some if one.least is not None]
    most = [one.most for one in some if one.most is not None]
    return Distance(
        some[0].axis,
        some[0].label,
        min(least) if len(least) == len(some) else None,
        max(most) if len(most) == len(some) else None,
    )


def _reduced(accumulator: str, model: Model) -> str:
    """`the rdot over k of 'mm'`."""
    for one in model.statements:
        if one.scan is not None and base(one.scan.carry) == accumulator:
            return f"the scan along {one.scan.label} of '{one.func}'"
    steps = (s for s in model.statements if base(s.writes.array) == accumulator)
    step = next(s for s in steps if s.role is Role.UPDATE)
    assert isinstance(step.body, Reduce | Dot)
    word = "rdot" if isinstance(step.body, Dot) else step.body.operation
    sizes = {param: f"len({label})" for label, param in reversed([*model.size_of.items()])}
    shown = [_with_sizes(one, sizes) for one in step.taken]
    where = f" where {' and '.join(f'{one} >= 0' for one in shown)}" if shown else ""
    return f"the {word} over {listed(step.body.labels)} of '{step.func}'{where}"


def _with_sizes(value: Affine, sizes: Mapping[str, str]) -> str:
    return show_affine(Affine(tuple((sizes.get(n, n), c) for n, c in value.linear), value.constant))


def _read(group: list[Separation], target: str, known: Mapping[str, Statement]) -> str:
    """`'f' reads g[x] and g[x + 2]`, or `'f' stores g[x]` if it does nothing else with it."""
    replaced = {
        one.dependence.array for one in group if one.dependence.kind is DependenceKind.IN_PLACE
    }
    if replaced:
        return f"'{target}' replaces what is read of {listed(sorted(replaced))}"
    elements = dict.fromkeys(
        base(read.array) + show_element(read)[len(read.array) :]
        for one in group
        for read in known[one.dependence.target].reads
        if read.array == one.dependence.array
    )
    roles = {known[one.dependence.target].role for one in group}
    does = "stores" if roles == {Role.STORE} else "reads"
    return f"'{target}' {does} {listed(elements)}"


Signature = tuple[object, ...]
Ways = Mapping[str, tuple[tuple[Path, Signature], ...]]


def ways(state: State) -> Ways:
    """Give the ways to each statement, and the axes that the statement is inside of on each."""
    found: dict[str, tuple[tuple[Path, Signature], ...]] = {}
    for path in paths(state.kernels):
        found[path.statement] = (*found.get(path.statement, ()), (path, _axes(path)))
    return found


def concerned(before: Ways, after: Ways, found: Iterable[Kept]) -> Iterator[Kept]:
    """Yield those whose ends stand in another way to each other now, or go through other loops."""
    old: dict[str, tuple[tuple[Path, Signature], ...]] = {}
    for name, some in before.items():
        old[base(name)] = (*old.get(base(name), ()), *some)
    for one in found:
        for source, target in one.statements:
            ((first,), (second,)) = after[source], after[target]
            now = _signature(first, second)
            alike = (old.get(base(name), ()) for name in (source, target))
            if not any(_signature(*then) == now for then in product(*alike)):
                yield one
                break


def _signature(source: tuple[Path, Signature], target: tuple[Path, Signature]) -> Signature:
    """Collect all that the order of two statements' instances comes from."""
    (first, axes), (second, other_axes) = source, target
    if first.kernel != second.kernel:
        return (axes, other_axes)
    met = meeting(first, second)
    return (axes, other_axes, len(met.time), met.after)


def _axes(path: Path) -> Signature:
    """Collect the axes that a statement is inside of.

    How programs are numbered puts nothing in order, and is left out.
    """
    grid = frozenset((axis.name, axis.index, axis.step) for axis in finest(path.grid))
    return (grid, path.loops, path.lanes)
