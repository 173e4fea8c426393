"""Turns a Program into a Model: each Func becomes init, update, combine and value statements."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from types import MappingProxyType

from dtpoly.algorithm.affine_conditions import Clause
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Conditions,
    Dot,
    Expr,
    Integer,
    Read,
    Reduce,
    ScanOrder,
    children,
    free_labels,
    map_children,
    reads,
)
from dtpoly.algorithm.inference import type_of
from dtpoly.algorithm.program import NOTHING, Func, Part, Program, in_order
from dtpoly.algorithm.scans import coming_in, first_conditions
from dtpoly.algorithm.substitute import within_ranges
from dtpoly.algorithm.unmasked import single
from dtpoly.frozen import dataclass
from dtpoly.poly.masked_steps import RangedBodies, ranged_bodies
from dtpoly.poly.model import (
    Array,
    Model,
    Role,
    ScanSteps,
    Statement,
    access,
    old_accesses,
    plain,
    read_access,
    taken_in,
    within_sizes,
)
from dtpoly.poly.size_parameters import size_facts, size_parameters
from dtpoly.poly.spaces import computing, not_negative, set_space

# What stands for the initial value in the steps of a scan, which begin from an accumulator.
ZERO = Integer(0)
NO_PARTS: Mapping[str, Part] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement before its sets are built: what it writes, and over which labels."""

    name: str
    role: Role
    array: Array
    labels: tuple[str, ...]
    bound: tuple[str, ...]
    body: Expr | None
    when: Conditions = ()
    masked: tuple[Clause, ...] = ()
    is_over_range: bool = False
    scan: ScanSteps | None = None


def lift(
    program: Program,
    wanted: Iterable[str] | None = None,
    sized: Program | None = None,
    more: Mapping[str, tuple[str, ...]] = NOTHING,
) -> Model:
    """Return the Model of the wanted Funcs and of those that they need, producers before consumers.

    `sized` is the Program whose reads give the facts about sizes, if that is another one. `more`
    has what Funcs need besides what they read.
    """
    with computing("the statements of the program"):
        sizes = size_parameters(sized or program)
        bodies = ranged_bodies(program, sizes, lambda: size_facts(sized or program, sizes))
        drafts = [
            (func, draft)
            for func in in_order(program, wanted, more)
            for draft in drafts_of(func, bodies, program.parts)
        ]
        arrays = {draft.array.name: draft.array for _, draft in drafts}
        params = tuple(dict.fromkeys(sizes.values()))
        # An array of the model is written by the Funcs that are lifted, so it has its input then.
        into = {tensor: func for tensor, func in program.into.items() if func in arrays}
        places = {
            func.name: func.into.at
            for func in program.funcs
            if func.name in arrays and func.into is not None and func.into.at is not None
        }
        added = frozenset(
            func.name
            for func in program.funcs
            if func.name in places and func.into is not None and func.into.is_added
        )
        starts = {name: at for name, at in places.items() if at.tensor in arrays}
        arrangement = _Arrangement(arrays, sizes, params, program.parts, into, starts)
        statements = tuple(_statement(func.name, draft, arrangement) for func, draft in drafts)
        said = (sized or program).fixed
        fixed = {sizes[label]: size for label, size in said.items() if label in sizes}
        facts = size_facts(sized or program, sizes)
        return Model(
            size_of=sizes,
            context=facts,
            arrays=arrays,
            statements=statements,
            parts=program.parts,
            fixed=fixed,
            into=into,
            places=places,
            added=added,
        )


@dataclass(frozen=True, slots=True)
class _OfFunc:
    """A Func, and for each of its labels that numbers parts the label whose parts it numbers."""

    name: str
    labels: tuple[str, ...]
    when: Conditions
    parted: Mapping[str, Part]
    always: tuple[str, ...]  # labels that each accumulator has


def drafts_of(
    func: Func, bodies: RangedBodies, parts: Mapping[str, Part] = NO_PARTS
) -> tuple[Draft, ...]:
    """Return the drafts of the statements of a Func, in order."""
    body, masked = bodies.of(func)
    func = replace(func, when=(*func.when, *single(masked)))
    parted = {label: parts[label] for label in func.walked if label in parts}
    always = (func.parted,) if func.parted else ()
    own = _OfFunc(func.name, func.walked, func.when, parted, always)
    body, drafts = _without_reductions(body, own, (), ())
    array = Array(func.name, func.name, func.labels)
    if func.when and not masked:
        is_truth = type_of(func.body, bodies.types).dtype is DType.BOOL
        body = within_ranges(body, func.when, is_truth=is_truth)
    value = Draft(func.name, Role.VALUE, array, func.walked, (), body, func.when)
    return (*drafts, replace(value, masked=masked))


def _without_reductions(
    expr: Expr, func: _OfFunc, bound: tuple[str, ...], drafts: tuple[Draft, ...]
) -> tuple[Expr, tuple[Draft, ...]]:
    """Return the expression with a read of an accumulator for each reduction, and all drafts.

    `bound` are the labels that outer reductions bind. `drafts` are those that were made before.
    """
    if not isinstance(expr, Reduce | Dot):
        return _with_children(expr, func, bound, drafts)
    if isinstance(expr, Reduce) and expr.scan is not None:
        return _scanned(expr, expr.scan, func, drafts)
    # A reduction over a label goes through the part that the Func is for.
    of_part = (x for x, part in func.parted.items() if part.of in expr.labels)
    free = {*free_labels(expr), *of_part, *func.always}
    own = tuple(x for x in func.labels if x in free and x not in bound)
    kept = own + tuple(x for x in bound if x in free)
    operation = expr.operation if isinstance(expr, Reduce) else "rsum"
    name = _fresh(".".join((func.name, *expr.labels)), drafts)
    array = Array(name, func.name, kept, operation)
    outer = tuple(x for x in kept if x in bound)
    init = Draft(f"{name}.init", Role.INIT, array, kept, outer, None)
    inside = (*(x for x in bound if x not in expr.labels), *expr.labels)
    inner, drafts = _with_children(expr, func, inside, (*drafts, init))
    inner = _needed_alone(inner, func, own)
    labels, steps = kept + expr.labels, outer + expr.labels
    is_over_range = bool(expr.when)
    update = Draft(
        f"{name}.update", Role.UPDATE, array, labels, steps, inner, is_over_range=is_over_range
    )
    combine = Draft(f"{name}.combine", Role.COMBINE, array, kept, outer, None)
    return Read(name, plain(kept), span=expr.span), (*drafts, update, combine)


def _scanned(
    expr: Reduce, order: ScanOrder, func: _OfFunc, drafts: tuple[Draft, ...]
) -> tuple[Expr, tuple[Draft, ...]]:
    """Return a read of the results of a scan, and the drafts with those of the scan.

    Its result so far is in an accumulator, which begins as the identity or as the initial value,
    and its results are in an array of their own: `f.s.scan[x, t]` reads `f.s[x]`.
    """
    of_part = (x for x, part in func.parted.items() if part.of in expr.labels)
    free = {*free_labels(expr), *of_part, *func.always}
    results = tuple(label for label in func.labels if label in free)
    kept = tuple(label for label in results if label != order.at)
    name = _fresh(".".join((func.name, *expr.labels)), drafts)
    carry = Array(name, func.name, kept, expr.operation)
    found = Array(f"{name}.scan", func.name, results)
    if order.is_of_all(expr.labels):
        found, results = carry, (*kept, order.at)
    first = order.initial
    if first is not None:
        first, drafts = _without_reductions(first, func, (), drafts)
    init = Draft(f"{name}.init", Role.INIT, carry, kept, (), first)
    moved = coming_in(expr, func.parted)
    operand, drafts = _without_reductions(moved.operand, func, (), (*drafts, init))
    factor = None if moved.scan is None else moved.scan.factor
    if factor is not None:
        factor, drafts = _without_reductions(factor, func, (), drafts)
    when = first_conditions(expr, func.parted)
    steps = ScanSteps(order.at, order.is_reverse, name, when)
    own = ScanOrder(order.at, order.is_before, order.is_reverse, factor, factor and ZERO)
    step = Reduce(expr.operation, operand, (order.at,), expr.span, scan=own)
    # What is wanted of all steps is what the last one leaves, where it is carried.
    scan = Draft(f"{name}.scan", Role.SCAN, found, results, (), step, scan=steps)
    return Read(found.name, plain(found.dims), span=expr.span), (*drafts, scan)


def _needed_alone(step: Expr, func: _OfFunc, own: tuple[str, ...]) -> Expr:
    """Return a step that is taken only for elements of the Func that are in their ranges.

    The others are 0, so nobody needs what would be reduced for them.
    """
    assert isinstance(step, Reduce | Dot)
    more = (one for one in func.when if set(one.labels) <= set(own) and one not in step.when)
    return replace(step, when=(*step.when, *more))


def _with_children(
    expr: Expr, func: _OfFunc, bound: tuple[str, ...], drafts: tuple[Draft, ...]
) -> tuple[Expr, tuple[Draft, ...]]:
    done: list[Expr] = []
    for child in children(expr):
        lifted, drafts = _without_reductions(child, func, bound, drafts)
        done.append(lifted)
    if not done:
        return expr, drafts
    following = iter(done)
    return map_children(expr, lambda _: next(following)), drafts


def _fresh(base: str, drafts: tuple[Draft, ...]) -> str:
    taken = {draft.array.name for draft in drafts}
    names: Iterator[str] = (base if n == 1 else f"{base}.{n}" for n in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


@dataclass(frozen=True, slots=True)
class _Arrangement:
    """Holds what sets of statements are built with: arrays, sizes, parts and inputs in place.

    `starts` has the place of each Func that is added to another one.
    """

    arrays: Mapping[str, Array]
    sizes: Mapping[str, str]
    params: tuple[str, ...]
    parts: Mapping[str, Part]
    into: Mapping[str, str]
    starts: Mapping[str, Read]


def _statement(func: str, draft: Draft, own: _Arrangement) -> Statement:
    arrays, sizes = own.arrays, own.sizes
    space = set_space(draft.name, draft.labels, own.params)
    writes = access(space, draft.array, plain(draft.array.dims))
    read = tuple(
        read_access(space, r, arrays, sizes)
        for r in (reads(draft.body) if draft.body is not None else ())
        if r.tensor in arrays
    )
    start = own.starts.get(draft.array.name)
    if start is not None and draft.role is Role.VALUE:
        # What is added to an element of a Func comes behind that element, as a read does.
        read = (*read, read_access(space, start, arrays, sizes))
    if draft.role in (Role.UPDATE, Role.COMBINE):
        read = (writes, *read)
    if draft.scan is not None:
        carry = arrays[draft.scan.carry]
        read = (access(space, carry, plain(carry.dims)), *read)
    taken = taken_in(draft.body, sizes)
    # A Func of a part has the indices of the part alone, wherever it goes along the label.
    domain = within_sizes(space, draft.labels, sizes, own.parts, draft.labels)
    domain = domain & not_negative(space, taken)
    return Statement(
        name=draft.name,
        func=func,
        role=draft.role,
        copies=(),
        labels=draft.labels,
        bound=draft.bound,
        domain=domain,
        writes=writes,
        reads=read,
        body=draft.body,
        old=old_accesses(space, draft.body, own.into, sizes),
        when=draft.when,
        masked=draft.masked,
        taken=taken,
        is_over_range=draft.is_over_range,
        scan=draft.scan,
    )


def storing(model: Model, result: str, host: str, step: Statement | None = None) -> Statement:
    """Return the statement with which the kernel of a host stores a result that is fused into it.

    Until the fusion is made, it reads the very element that it writes. With a step of a reduction
    of the host, it goes along with this reduction: its loops over labels that the step reduces over
    are those of the step, and if the step is for a part of a label, so is the statement.
    """
    array = model.arrays[result]
    bound = () if step is None else tuple(label for label in step.bound if label in array.dims)
    parts = () if step is None else tuple(x for x in step.labels if _part_of(model, x) in bound)
    labels = (*(label for label in parts if label not in array.dims), *array.dims)
    with computing("what stores a result"):
        space = set_space(f"{result}.store", labels, model.params)
        body = Read(result, plain(array.dims))
        return Statement(
            name=f"{result}.store",
            func=host,
            role=Role.STORE,
            copies=(),
            labels=labels,
            bound=bound,
            domain=within_sizes(space, labels, model.size_of, model.parts, labels),
            writes=access(space, array, plain(array.dims)),
            reads=(read_access(space, body, model.arrays, model.size_of),),
            body=body,
        )


def _part_of(model: Model, label: str) -> str | None:
    part = model.parts.get(label)
    return None if part is None else part.of


def without_statements(model: Model, names: Iterable[str]) -> Model:
    """Return the Model without the statements of these names."""
    gone = set(names)
    return replace(model, statements=tuple(s for s in model.statements if s.name not in gone))
