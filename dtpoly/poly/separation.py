"""Computes how far apart the two ends of a dependence are in the loops of a schedule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Axis, Path, is_absolute
from dtpoly.poly.dependences import Dependence
from dtpoly.poly.lazy_islpy import isl
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import coordinate_map, meeting
from dtpoly.poly.spaces import computing


@dataclass(frozen=True, slots=True)
class Distance:
    """By how many steps of a loop a target comes after its source; None means without bound."""

    axis: str
    label: str
    least: int | None
    most: int | None

    @property
    def is_zero(self) -> bool:
        """True if both ends are always in one iteration."""
        return (self.least, self.most) == (0, 0)

    def __str__(self) -> str:
        """Return the text, such as `0`, `1 to 3`, `1 or more` or `any`."""
        match self.least, self.most:
            case None, None:
                return "any"
            case None, most:
                return f"{most} or less"
            case least, None:
                return f"{least} or more"
            case least, most:
                return str(least) if least == most else f"{least} to {most}"


@dataclass(frozen=True, slots=True)
class Separation:
    """The relative position of the two ends of a dependence in a schedule.

    `distances` are along the loops with several steps that both ends are in, outermost first.
    `carriers` are those of these loops that order some pairs whose outer loops are equal.
    """

    dependence: Dependence
    is_one_kernel: bool
    is_one_program: bool = True
    distances: tuple[Distance, ...] = ()
    carriers: tuple[str, ...] = ()  # axes


def separations(
    model: Model, ways: Mapping[str, Path], found: Iterable[Dependence]
) -> Iterator[Separation]:
    """Yield the separation of each dependence that exists at some sizes; `ways` are the paths."""
    statements = by_name(model)
    for one in found:
        with computing("distances"):
            source, target = ways[one.source], ways[one.target]
            pairs = one.relation.intersect_params(model.context)
            if pairs.is_empty():
                continue
            if source.kernel != target.kernel:
                yield Separation(one, is_one_kernel=False)
            else:
                yield _in_kernel(one, pairs, statements, source, target)


def _in_kernel(
    one: Dependence,
    pairs: isl.Map,
    statements: Mapping[str, Statement],
    source: Path,
    target: Path,
) -> Separation:
    met = meeting(source, target)
    names = met.grid + met.time
    before = coordinate_map(source, statements[one.source], names)
    after = coordinate_map(target, statements[one.target], names)
    apart = pairs.apply_domain(before).apply_range(after).deltas()
    program = _zero(apart, range(len(met.grid)))
    axes = source.named
    distances: list[Distance] = []
    carriers: list[str] = []
    together = program  # the pairs that are in one iteration of the loops so far
    for position, name in enumerate(met.time, len(met.grid)):
        origin = axes[name].origin.plain
        is_inner = origin in met.time and is_absolute(axes[name], source)
        start = names.index(origin) if origin and is_inner else None
        distance = _distance(program, position, start, axes[name])
        inside = _zero(together, (position,))
        if not distance.is_zero and not together.is_subset(inside):
            carriers.append(name)
        distances.append(distance)
        together = inside
    is_one_program = apart.is_subset(program)
    return Separation(one, True, is_one_program, tuple(distances), tuple(carriers))


def _zero(apart: isl.Set, positions: Iterable[int]) -> isl.Set:
    for position in positions:
        apart = apart.fix_val(isl.dim_type.set, position, isl.Val(0))
    return apart


def _distance(apart: isl.Set, position: int, start: int | None, axis: Axis) -> Distance:
    """Return the distance in steps; a loop that divides another one counts from there."""
    step = 1 if axis.time is not None else axis.step or 1
    space = isl.LocalSpace.from_space(apart.get_space())
    way = isl.Aff.var_on_domain(space, isl.dim_type.set, position)
    if start is not None:
        way = way - isl.Aff.var_on_domain(space, isl.dim_type.set, start)
    least, most = apart.min_val(way), apart.max_val(way)
    return Distance(
        axis.name,
        axis.label,
        least.to_python() // step if least.is_int() else None,
        most.to_python() // step if most.is_int() else None,
    )
