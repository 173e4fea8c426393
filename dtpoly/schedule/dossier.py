"""Writes out, for each fusion, the theorem that was proved or is false: in words and for isl.

Nothing is proved here: these are the sets that the checker asked about.
"""

from collections.abc import Iterable, Iterator, Mapping

from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.poly.axes import Path
from dtpoly.poly.dependences import Dependence, DependenceKind, dependences
from dtpoly.poly.isl_text import plain_text
from dtpoly.poly.model import Model, Statement, by_name
from dtpoly.poly.order import Broken, ViolationKind, meeting
from dtpoly.poly.relate import read_pairs
from dtpoly.poly.theorem import (
    FusionClaim,
    SetConstruction,
    ahead,
    claims,
    domain_text,
    needed_text,
    relation_text,
    schedule_text,
)
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.describe import violation
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.recomputed import recomputed
from dtpoly.schedule.state import Fusion, State
from dtpoly.schedule.tree import Kernel, launch_of, paths
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Span


@dataclass(frozen=True, slots=True)
class Relation:
    """A set or a relation: what it is, and its text for isl."""

    words: str
    isl: str


@dataclass(frozen=True, slots=True)
class FusionObligation:
    """A set that must be empty, with the parts that it is made of; if it is not, one pair in it.

    A set that `is_allowed` need not be empty.
    """

    words: str
    kind: ViolationKind
    made: SetConstruction
    parts: tuple[str, ...]
    example: str = ""
    is_allowed: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether isl found nothing in it."""
        return not self.example


@dataclass(frozen=True, slots=True)
class Dossier:
    """The proof about one fusion in one kernel: the theorem, and what it follows from."""

    directive: str
    span: Span | None
    func: str
    consumer: str
    kernel: str
    place: tuple[str, ...]  # the axes of one iteration, outermost first
    theorem: tuple[str, ...]
    facts: str  # what holds of all sizes
    domains: tuple[Relation, ...]
    needed: tuple[Relation, ...]
    before: tuple[Relation, ...]  # the dependences of the algorithm
    after: tuple[Relation, ...]  # those of the copies
    schedule_before: tuple[Relation, ...]
    schedule_after: tuple[Relation, ...]
    in_order: tuple[str, ...]  # what needs no question: it stands in this order
    obligations: tuple[FusionObligation, ...]

    @property
    def is_proved(self) -> bool:
        """Return whether every set that must be empty is."""
        return all(one.is_empty or one.is_allowed for one in self.obligations)


def dossiers(verdict: Verdict, primitives: Primitives) -> tuple[Dossier, ...]:
    """Make one for each directive that fuses, and each kernel that it concerns, in order."""
    state = verdict.scheduled
    chosen = bind(state.sized.directives, primitives).primitives
    found: list[Dossier] = []
    pairs = dependences(state.model)
    for one in chosen:
        mine = [fusion for fusion in state.fusions if fusion.is_stated_by(one.facts())]
        if mine:
            before = _without(state, chosen, one)
            found += [_dossier(state, one, fusion, pairs, before) for fusion in mine]
    return tuple(found)


def _without(state: State, chosen: tuple[Primitive, ...], one: Primitive) -> State | None:
    """Resolve the same schedule without a fusion; None where a user's primitive needs it."""
    try:
        return resolve(state.sized, tuple(other for other in chosen if other is not one))
    except DtpolyError:
        return None


def _dossier(
    state: State,
    one: Primitive,
    fusion: Fusion,
    pairs: tuple[Dependence, ...],
    before: State | None,
) -> Dossier:
    ways = {path.statement: path for path in paths(state.kernels)}
    known = by_name(state.model)
    kernel = next(kernel for kernel in state.kernels if kernel.name == fusion.kernel)
    copies = tuple(known[name] for name in fusion.copies)
    readers = _readers(state.model, copies)
    asked = (*_asked(state, fusion, kernel, pairs, ways), *_outside(state, fusion))
    obligations = tuple(_obligation(state, claim, ways, fusion.recompute) for claim in asked)
    place = _place(copies, ways)
    mine = [d for d in pairs if d.source in fusion.copies or d.target in fusion.copies]
    return Dossier(
        directive=str(one).rstrip(";"),
        span=one.span,
        func=fusion.func,
        consumer=fusion.consumer,
        kernel=fusion.kernel,
        place=place,
        theorem=tuple(_theorem(state, fusion, place)),
        facts=plain_text(state.model.context),
        domains=tuple(_domains(state, fusion.func, readers)),
        needed=tuple(
            Relation(f"what an iteration computes of '{copy.name}'", needed_text(copy, state.model))
            for copy in copies
        ),
        before=tuple(_relations(state.lifted, _original(state, fusion))),
        after=tuple(_relations(state.model, mine)),
        schedule_before=() if before is None else tuple(_schedule(before, fusion.func, readers)),
        schedule_after=tuple(_places(state.model, (*copies, *readers), ways)),
        in_order=tuple(_in_order(state, mine, ways)),
        obligations=obligations,
    )


def _readers(model: Model, copies: tuple[Statement, ...]) -> tuple[Statement, ...]:
    """Return the statements that read the value, or part of it, and are none of the copies."""
    arrays = {copy.writes.array for copy in copies}
    names = {copy.name for copy in copies}
    return tuple(
        s
        for s in model.statements
        if s.name not in names and any(read.array in arrays for read in s.reads)
    )


def _asked(
    state: State,
    fusion: Fusion,
    kernel: Kernel,
    pairs: tuple[Dependence, ...],
    ways: Mapping[str, Path],
) -> Iterator[FusionClaim]:
    grid = frozenset(axis.name for axis in kernel.grid)
    yield from claims(state.lifted, state.model, ways, pairs, fusion.copies, grid)
    if launch_of(kernel).runs_ahead:
        at = state.kernels.index(kernel)
        inside = {name: path for name, path in ways.items() if path.kernel == at}
        yield from ahead(state.model, inside, fusion.copies)


def _outside(state: State, fusion: Fusion) -> Iterator[FusionClaim]:
    """Reads in the kernel that see no copy, since no loop is around all of them."""
    known, values = by_name(state.model), by_name(state.lifted)
    for name in fusion.outside:
        pairs = read_pairs(values[fusion.func], known[name], state.model.context)
        dependence = Dependence(DependenceKind.FLOW, fusion.func, fusion.func, name, pairs)
        broken = None if pairs.is_empty() else Broken(dependence, ViolationKind.LATE, pairs)
        text = relation_text(dependence, state.model)
        kind = ViolationKind.LATE
        yield FusionClaim(
            *(kind, fusion.func, name, SetConstruction.GIVEN, (text,), DependenceKind.FLOW),
            found=broken,
        )


def _in_order(state: State, mine: Iterable[Dependence], ways: Mapping[str, Path]) -> Iterator[str]:
    """Say which dependences no loop can break.

    Nothing is asked about them, or only about programs.
    """
    told: dict[str, None] = {}
    for one in mine:
        source, target = ways.get(one.source), ways.get(one.target)
        if source is None or target is None:
            continue
        if one.kind is DependenceKind.REDUCTION:
            told[f"the steps of '{one.source}' may come in any order: reassociation"] = None
        elif source.kernel < target.kernel:
            told[f"'{one.source}' is in an earlier kernel than '{one.target}'"] = None
        elif source.kernel == target.kernel:
            met = meeting(source, target)
            if met.after < 0 and not met.time:
                told[f"'{one.source}' stands before '{one.target}' in each program"] = None
    yield from told


def _obligation(
    state: State, claim: FusionClaim, ways: Mapping[str, Path], recompute: bool
) -> FusionObligation:
    example = "" if claim.found is None else str(violation(state, claim.found, ways))
    is_allowed = recompute and claim.kind is ViolationKind.RECOMPUTES
    words = _words(claim)
    return FusionObligation(words, claim.kind, claim.made, claim.parts, example, is_allowed)


def _words(claim: FusionClaim) -> str:
    """Say what does not happen, if the set of the claim is empty."""
    source, target = f"'{claim.source}'", f"'{claim.target}'"
    match claim.kind:
        case ViolationKind.UNWRITTEN:
            return f"{source} reads an element of '{claim.array}' that was not written"
        case ViolationKind.LOST if claim.made is SetConstruction.GIVEN:
            return f"an instance of {source} is not computed"
        case ViolationKind.LOST:
            return f"two instances of {source} are in one place"
        case ViolationKind.RECOMPUTES:
            return f"two iterations of one program compute one instance of {source}"
        case ViolationKind.AHEAD:
            return f"loads of {target} run ahead of what {source} stores"
        case ViolationKind.LATE if claim.made is SetConstruction.GIVEN:
            return f"{target} reads {source} where no copy of it can be seen, or before its kernel"
        case ViolationKind.LATE | ViolationKind.CROSSES | ViolationKind.RACE:
            how = {
                ViolationKind.LATE: f"before {source} has done so",
                ViolationKind.CROSSES: "in another program",
                ViolationKind.RACE: "in another lane at the same time",
            }[claim.kind]
            return f"{_does(claim)} {how}"


def _does(claim: FusionClaim) -> str:
    source, target, array = f"'{claim.source}'", f"'{claim.target}'", f"'{claim.array}'"
    match claim.dependence:
        case DependenceKind.FLOW:
            return f"{target} reads of {array} what {source} writes,"
        case DependenceKind.ANTI | DependenceKind.IN_PLACE:
            return f"{target} overwrites of {array} what {source} reads,"
        case DependenceKind.OUTPUT:
            return f"{target} overwrites of {array} what {source} writes,"
        case DependenceKind.SCAN:
            return f"{target} takes a step of a scan that comes after another one,"
        case _:
            return f"{target} takes into one element of {array} another step"


def _place(copies: tuple[Statement, ...], ways: Mapping[str, Path]) -> tuple[str, ...]:
    """Name what tells one iteration from another."""
    if not copies or copies[0].name not in ways:
        return ()
    path = ways[copies[0].name]
    grid = {axis.name: f"block of {axis.label}" for axis in path.grid}
    words = grid | {axis.name: f"loop {axis.label}" for axis in path.loops}
    return tuple(words.get(name, name) for name in copies[0].copies)


def _theorem(state: State, fusion: Fusion, place: tuple[str, ...]) -> Iterator[str]:
    func = f"'{fusion.func}'"
    if not fusion.copies:
        yield (
            f"No loop over {fusion.label} of '{fusion.consumer}' is around all reads of {func} "
            f"in the kernel '{fusion.kernel}'."
        )
        return
    yield (
        f"For all sizes: if each {_iteration(fusion, place)}, in the kernel '{fusion.kernel}', "
        f"first computes what it needs of {func} into a copy of its own and reads that copy, "
        f"then it reads the values that {func} is defined to have."
    )
    again = [
        one
        for one in recomputed(state)
        if (one.func, one.kernel, one.is_reduction) == (fusion.func, fusion.kernel, False)
    ]
    for one in again:
        times = "again in some iterations" if one.count is None else f"{one.count} times"
        yield f"Each element of {func} is computed {times} at most."
    if not again:
        yield f"No element of {func} is computed twice."


def _iteration(fusion: Fusion, place: tuple[str, ...]) -> str:
    """Name what has a copy of its own: an iteration of the loop, or a program."""
    where = f" ({', '.join(place)})" if place else ""
    loop = f"the loop over {fusion.label} of '{fusion.consumer}'"
    if f"loop {fusion.label}" in place:
        return f"iteration of {loop}{where}"
    if f"block of {fusion.label}" in place:
        return f"program{where}"
    return f"program{where}, where {loop} has one iteration"


def _domains(state: State, func: str, readers: tuple[Statement, ...]) -> Iterator[Relation]:
    """Give the instances of the Func as it is defined, and of the statements that read the copy."""
    for model, some in ((state.lifted, state.lifted.of_func(func)), (state.model, readers)):
        for one in some:
            yield Relation(f"instances of '{one.name}', {one.role}", domain_text(one, model))


def _original(state: State, fusion: Fusion) -> Iterator[Dependence]:
    """Yield the dependences of the Func as it is defined: inside of it, and of what reads it."""
    known = by_name(state.lifted)
    for one in dependences(state.lifted):
        if known[one.source].func == fusion.func:
            yield one


def _relations(model: Model, some: Iterable[Dependence]) -> Iterator[Relation]:
    for one in some:
        yield Relation(f"{one.kind}: {one}", relation_text(one, model))


def _schedule(before: State, func: str, readers: tuple[Statement, ...]) -> Iterator[Relation]:
    """Say where the Func and its readers are without the fusion."""
    ways = {path.statement: path for path in paths(before.kernels)}
    names = {reader.name for reader in readers}
    mine = [s for s in before.model.statements if s.func == func or s.name in names]
    yield from _places(before.model, mine, ways)


def _places(
    model: Model, some: Iterable[Statement], ways: Mapping[str, Path]
) -> Iterator[Relation]:
    for one in some:
        if one.name in ways:
            what, text = schedule_text(ways[one.name], one, model)
            yield Relation(f"'{one.name}' is at [{', '.join(what)}]", text)
