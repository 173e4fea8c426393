"""Turns a Program into a Model: each Func becomes init, update, combine and value statements."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Dot,
    Expr,
    Read,
    Reduce,
    children,
    free_labels,
    map_children,
    reads,
)
from dtpoly.algorithm.program import Func, Program, in_order
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Array, Model, Role, Statement, access, plain, read_access
from dtpoly.poly.parameters import size_facts, size_parameters
from dtpoly.poly.spaces import computing, in_box, set_space


@dataclass(frozen=True, slots=True)
class Draft:
    """A statement before its sets are built: what it writes, and over which labels."""

    name: str
    role: Role
    array: Array
    labels: tuple[str, ...]
    bound: tuple[str, ...]
    body: Expr | None


def lift(
    program: Program, wanted: Iterable[str] | None = None, sized: Program | None = None
) -> Model:
    """Return the Model of the wanted Funcs and of those that they need, producers before consumers.

    `sized` is the Program whose reads give the facts about sizes, if that is another one.
    """
    with computing("the statements of the program"):
        sizes = size_parameters(sized or program)
        drafts = [(func, draft) for func in in_order(program, wanted) for draft in drafts_of(func)]
        arrays = {draft.array.name: draft.array for _, draft in drafts}
        params = tuple(dict.fromkeys(sizes.values()))
        statements = tuple(
            _statement(func.name, draft, arrays, sizes, params) for func, draft in drafts
        )
        said = (sized or program).fixed
        fixed = {sizes[label]: size for label, size in said.items() if label in sizes}
        facts = size_facts(sized or program, sizes)
        return Model(sizes, facts, arrays, statements, {}, fixed)


def drafts_of(func: Func) -> tuple[Draft, ...]:
    """Return the drafts of the statements of a Func, in order."""
    body, drafts = _without_reductions(func.body, func, (), ())
    array = Array(func.name, func.name, func.labels)
    return (*drafts, Draft(func.name, Role.VALUE, array, func.labels, (), body))


def _without_reductions(
    expr: Expr, func: Func, bound: tuple[str, ...], drafts: tuple[Draft, ...]
) -> tuple[Expr, tuple[Draft, ...]]:
    """Return the expression with a read of an accumulator for each reduction, and all drafts.

    `bound` are the labels that outer reductions bind. `drafts` are those that were made before.
    """
    if not isinstance(expr, Reduce | Dot):
        return _with_children(expr, func, bound, drafts)
    free = free_labels(expr)
    own = tuple(x for x in func.labels if x in free and x not in bound)
    kept = own + tuple(x for x in bound if x in free)
    operation = expr.operation if isinstance(expr, Reduce) else "rsum"
    name = _fresh(".".join((func.name, *expr.labels)), drafts)
    array = Array(name, func.name, kept, operation)
    outer = tuple(x for x in kept if x in bound)
    init = Draft(f"{name}.init", Role.INIT, array, kept, outer, None)
    inside = (*(x for x in bound if x not in expr.labels), *expr.labels)
    inner, drafts = _with_children(expr, func, inside, (*drafts, init))
    labels, steps = kept + expr.labels, outer + expr.labels
    update = Draft(f"{name}.update", Role.UPDATE, array, labels, steps, inner)
    combine = Draft(f"{name}.combine", Role.COMBINE, array, kept, outer, None)
    return Read(name, plain(kept), span=expr.span), (*drafts, update, combine)


def _with_children(
    expr: Expr, func: Func, bound: tuple[str, ...], drafts: tuple[Draft, ...]
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


def _statement(
    func: str,
    draft: Draft,
    arrays: Mapping[str, Array],
    sizes: Mapping[str, str],
    params: tuple[str, ...],
) -> Statement:
    space = set_space(draft.name, draft.labels, params)
    writes = access(space, draft.array, plain(draft.array.dims))
    read = tuple(
        read_access(space, r, arrays, sizes)
        for r in (reads(draft.body) if draft.body is not None else ())
        if r.tensor in arrays
    )
    if draft.role in (Role.UPDATE, Role.COMBINE):
        read = (writes, *read)
    domain = in_box(space, draft.labels, sizes)
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
    )


def without_statements(model: Model, names: Iterable[str]) -> Model:
    """Return the Model without the statements of these names."""
    gone = set(names)
    return replace(model, statements=tuple(s for s in model.statements if s.name not in gone))
