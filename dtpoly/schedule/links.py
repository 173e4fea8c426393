"""Collects the dependences of a Program for each pair of statements: how far, and in words.

The schedule does not matter here: the dependences are those of the algorithm.
"""

from collections.abc import Iterable, Iterator

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.frozen import dataclass
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.distances import Bounds, distances
from dtpoly.poly.lift import lift
from dtpoly.poly.model import Access, Model, Role, Statement, by_name, show_element
from dtpoly.schedule.statement_lines import Lines, statement_lines


@dataclass(frozen=True, slots=True)
class Link:
    """The dependences of one array between two statements, which may be the same one.

    A reduction has a chain of statements: init, updates, combine, and what reads the result. Only
    dependences of each on the one before it count as direct, since the others follow from these.
    """

    array: str
    source: Statement
    target: Statement
    dependences: tuple[Dependence, ...]
    distance: dict[str, Bounds]
    is_direct: bool

    @property
    def kinds(self) -> tuple[DependenceKind, ...]:
        """Return the kinds of its dependences, flow first."""
        return tuple(one.kind for one in self.dependences)


@dataclass(frozen=True, slots=True)
class Graph:
    """The statements of a Program as it is defined, whatever its schedule, and their links.

    Statements are in defining order; links in that of the target, then of the source.
    """

    program: Program
    model: Model
    lines: Lines
    links: tuple[Link, ...]


def graph(program: Program) -> Graph:
    """Collect all statements and all dependences."""
    model = lift(program)
    return Graph(program, model, statement_lines(program, model), _links(model))


def _links(model: Model) -> tuple[Link, ...]:
    known = by_name(model)
    order = {name: at for at, name in enumerate(known)}
    groups: dict[tuple[str, str, str], list[Dependence]] = {}
    for one in dependences(model):
        groups.setdefault((one.array, one.source, one.target), []).append(one)
    found = [_link(model, known[s], known[t], array, g) for (array, s, t), g in groups.items()]
    return tuple(sorted(found, key=lambda k: (order[k.target.name], order[k.source.name])))


def _link(
    model: Model, source: Statement, target: Statement, array: str, group: list[Dependence]
) -> Link:
    relation = group[0].relation
    for other in group[1:]:
        relation = relation | other.relation
    is_direct = model.array(array).reduction is None or _is_direct(source, target, array)
    distance = distances(relation, source, target)
    order = tuple(DependenceKind)
    return Link(
        array,
        source,
        target,
        tuple(sorted(group, key=lambda one: order.index(one.kind))),
        distance,
        is_direct,
    )


def _is_direct(source: Statement, target: Statement, array: str) -> bool:
    role = target.role if target.writes.array == array else None
    match source.role:
        case Role.INIT:
            return role is Role.UPDATE or target.scan is not None
        case Role.UPDATE:
            return role in (Role.UPDATE, Role.COMBINE)
        case Role.COMBINE | Role.VALUE | Role.STORE | Role.SCAN:
            return True


def sentences(link: Link, lines: Lines) -> Iterator[str]:
    """Say what the target does, which instances need which element, and how far apart they are."""
    kinds = ", ".join(link.kinds)
    source, target = named(link.source, lines), named(link.target, lines)
    if DependenceKind.REDUCTION in link.kinds:
        element = show_element(link.target.writes)
        yield f"{kinds}: the steps of {target} into {element} may come in any order"
        return
    if DependenceKind.SCAN in link.kinds:
        at = "" if link.target.scan is None else f" along '{link.target.scan.label}'"
        yield f"{kinds}: the steps of {target} come one after another{at}"
        return
    if DependenceKind.IN_PLACE in link.kinds:
        old = [a for a in link.source.old if a.array == link.array]
        elements = _listed(dict.fromkeys(map(show_element, old)))
        yield f"{kinds}: {target} replaces {elements}, which {source} reads before"
        return
    read = [a for a in link.target.reads if a.array == link.array]
    elements = _listed(dict.fromkeys(map(show_element, read)))
    does = "reads and overwrites" if len(link.kinds) > 1 else "reads"
    does = "stores" if link.target.role is Role.STORE else does
    yield f"{kinds}: {target} {does} {elements}, which {source} writes"
    needs = dict.fromkeys(needed_by(link.source, link.target, access) for access in read)
    element = show_element(link.source.writes)
    apart = ", ".join(f"{label} {_bounds(b)}" for label, b in link.distance.items())
    distance = f" (distance {apart})" if apart else ""
    yield f"  each {element} is needed by {_listed(needs)}{distance}"


def named(statement: Statement, lines: Lines) -> str:
    """`'f.k.update' (line 7)`."""
    line = lines.get(statement.name)
    return f"'{statement.name}'" + (f" (line {line})" if line is not None else "")


def _bounds(bounds: Bounds) -> str:
    low, high = bounds
    return str(low) if low == high else f"{low} to {high}"


def _listed(items: Iterable[str]) -> str:
    *first, last = items
    return f"{', '.join(first)} and {last}" if first else last


def needed_by(source: Statement, target: Statement, read: Access) -> str:
    """`f[x', y] for all x'`: the instances of the target that need one element of the source."""
    dims = source.writes.indices
    put: dict[str, Affine] = {}
    rest: list[tuple[Affine, Affine]] = []
    for dim, index in zip(dims, read.indices, strict=True):
        label = index.shifted
        if label is not None and label not in put:
            put[label] = dim - Affine((), index.constant)
        elif index.data is None:  # at data it may be any element
            rest.append((dim, index))
    taken = {label for dim in dims for label in dim.labels}
    free = [label for label in target.labels if label not in put]
    fresh = {label: f"{label}'" if label in taken else label for label in free}
    put |= {label: Affine(((name, 1),)) for label, name in fresh.items()}
    indices = ", ".join(show_affine(put[label]) for label in target.labels)
    where = [f"{show_affine(d)} = {show_affine(i.substitute(put))}" for d, i in rest]
    every = f" for all {', '.join(fresh.values())}" if free else ""
    only = f" {'with' if free else 'if'} {' and '.join(where)}" if where else ""
    return f"{target.name}[{indices}]{every}{only}"
