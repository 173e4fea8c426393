"""Divides a reduction in two: partial results for blocks of the reduced labels, and a final one.

For example, if `p` numbers the blocks of `k`, then `f.k[x] = sum over k of E` becomes
`f.k.partial[x, p] = sum over block p of E` and `f.k[x] = sum over p of f.k.partial[x, p]`.
"""

from collections.abc import Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import Dot, Read, Reduce, reads
from dtpoly.algorithm.operations import PLACES
from dtpoly.algorithm.program import Part
from dtpoly.frozen import dataclass
from dtpoly.poly.model import (
    Array,
    Model,
    Role,
    Statement,
    access,
    old_accesses,
    plain,
    read_access,
    taken_in,
    within_sizes,
)
from dtpoly.poly.spaces import computing, not_negative, set_space


@dataclass(frozen=True, slots=True)
class First:
    """A kernel that computes partial results: its name, its statements, the parts of its grid."""

    name: str
    statements: tuple[str, ...]
    parts: tuple[str, ...]
    kept: tuple[str, ...]  # the labels of the Func that the kernel has


@dataclass(frozen=True, slots=True)
class DividedModel:
    """The new Model and the statements of its kernels, in order."""

    model: Model
    identity: str | None  # the statement that sets an atomic result to its identity
    firsts: tuple[First, ...]
    final: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReductionNest:
    """One reduction of a Func: its statements, those of the reductions inside it, and its parts."""

    init: Statement
    inner: tuple[Statement, ...]
    update: Statement
    combine: Statement
    parts: Mapping[str, Part]

    @property
    def name(self) -> str:
        """Return the name of the accumulator."""
        return self.init.writes.array

    @property
    def kept(self) -> tuple[str, ...]:
        """Return the labels of a partial result."""
        return (*self.init.labels, *self.parts)

    @property
    def stored(self) -> tuple[str, ...]:
        """Return the same in the order in which they lie in memory: all of a part is together.

        So a program stores whole lines, and who puts parts together loads whole lines, too.
        """
        return (*self.parts, *self.init.labels)


def divide_reductions(model: Model, func: str, parts: Mapping[str, Part]) -> DividedModel:
    """Divide each reduction of a Func over labels that have parts in two; inner ones come first.

    What stores results of other Funcs stays where it is among the statements of the last kernel:
    before all others, behind the init in whose reduction's loop it is, or last if in place.
    """
    with computing("partial results"):
        model = replace(model, parts={**model.parts, **parts})
        final = model.of_func(func)
        firsts: tuple[First, ...] = ()
        made: tuple[Statement, ...] = ()
        for init in reversed([s for s in final if s.role is Role.INIT]):
            nest = _nest(final, init.writes.array, parts)
            if nest is None:
                continue
            model, partial = _partial(model, nest)
            model, value = _result(model, nest)
            made += (*partial, value)
            names = tuple(s.name for s in (*partial, value))
            firsts += (First(value.name, names, tuple(nest.parts), init.free),)
            gone = {s.name for s in nest.inner}
            step = _last_step(model, nest)
            final = tuple(step if s is nest.update else s for s in final if s.name not in gone)
        begin = next(at for at, one in enumerate(final) if one.role is not Role.STORE)
        model = _with_func(model, func, (*made, *final[begin:]))
        return DividedModel(model, None, firsts, tuple(s.name for s in final))


def divide_atomic(model: Model, func: str, parts: Mapping[str, Part]) -> DividedModel:
    """Divide the reduction that is a Func's last operation.

    Programs add their parts to the result.
    """
    with computing("atomic results"):
        model = replace(model, parts={**model.parts, **parts})
        statements = model.of_func(func)
        nest = _nest(statements, statements[0].writes.array, parts)
        assert nest is not None
        model, partial = _partial(model, nest)
        model, identity, step = _atomic(model, nest, statements[-1])
        model = _with_func(model, func, (identity, *partial, step))
        names = tuple(s.name for s in (*partial, step))
        first = First(func, names, tuple(nest.parts), statements[-1].labels)
        return DividedModel(model, identity.name, (first,), ())


def _with_func(model: Model, func: str, mine: tuple[Statement, ...]) -> Model:
    """Return the Model with other statements of a Func, from its first one that is no store on.

    What it stores before comes right after the Func that is stored, and stays there.
    """

    def is_mine(statement: Statement) -> bool:
        return statement.func == func and statement.role is not Role.STORE

    at = next(i for i, s in enumerate(model.statements) if is_mine(s))
    after = tuple(s for s in model.statements[at:] if s.func != func)
    return model.with_statements((*model.statements[:at], *mine, *after))


def _nest(
    statements: tuple[Statement, ...], array: str, parts: Mapping[str, Part]
) -> ReductionNest | None:
    """Return the reduction into an accumulator; None if no part divides a label that it reduces."""
    mine = {s.role: i for i, s in enumerate(statements) if s.writes.array == array}
    if set(mine) != {Role.INIT, Role.UPDATE, Role.COMBINE}:
        return None
    begin, end = mine[Role.INIT], mine[Role.UPDATE]
    body = statements[end].body
    assert isinstance(body, Reduce | Dot)
    # The parts stand in the order of the labels of the reduction, since directives are a set.
    divided = {new: part for k in body.labels for new, part in parts.items() if part.of == k}
    if not divided:
        return None
    inner = tuple(s for s in statements[begin + 1 : end] if s.role is not Role.STORE)
    return ReductionNest(
        statements[begin], inner, statements[end], statements[mine[Role.COMBINE]], divided
    )


def _partial(model: Model, nest: ReductionNest) -> tuple[Model, tuple[Statement, ...]]:
    """Make the statements that reduce one block into an accumulator of its own."""
    old = model.arrays[nest.name]
    array = replace(old, name=f"{old.name}.part", dims=nest.kept)
    model = model.with_statements(model.statements, array)

    def named(role: Role) -> str:
        return f"{array.name}.{role}"

    update_labels = (*nest.kept, *(x for x in nest.update.labels if x not in nest.kept))
    update = replace(nest.update, name=named(Role.UPDATE))
    made = (
        _made(model, replace(nest.init, name=named(Role.INIT)), nest.kept, array),
        *(_in_block(model, s, _seen(nest, s)) for s in nest.inner),
        _made(model, update, update_labels, array),
        _made(model, replace(nest.combine, name=named(Role.COMBINE)), nest.kept, array),
    )
    return model, made


def _seen(nest: ReductionNest, inner: Statement) -> Mapping[str, Part]:
    """Return the parts of labels that no reduction in the operand binds again around `inner`."""
    at = nest.inner.index(inner)
    begun = {s.writes.array for s in nest.inner[:at] if s.role is Role.INIT}
    again: set[str] = set()
    for update in nest.inner[at + 1 :]:
        if update.role is Role.UPDATE and update.writes.array in begun:
            assert isinstance(update.body, Reduce | Dot)
            again.update(update.body.labels)
    return {new: part for new, part in nest.parts.items() if part.of not in again}


def _in_block(model: Model, inner: Statement, parts: Mapping[str, Part]) -> Statement:
    """Return a statement inside the operand, with its block as an additional label."""
    mine = tuple(new for new, part in parts.items() if part.of in inner.bound)
    array = model.arrays[inner.writes.array]
    own = tuple(x for x in mine if parts[x].of in array.dims)
    return _made(model, inner, (*own, *inner.labels), array)


def _result(model: Model, nest: ReductionNest) -> tuple[Model, Statement]:
    """Make the statement that stores the partial result for the second kernel."""
    name = f"{nest.name}.partial"
    is_paired = model.arrays[nest.name].reduction in PLACES
    array = Array(name, nest.init.func, nest.stored, is_paired=is_paired)
    model = model.with_statements(model.statements, array)
    value = replace(
        nest.init,
        name=name,
        role=Role.VALUE,
        body=Read(f"{nest.name}.part", plain(nest.kept)),
    )
    return model, _made(model, value, nest.kept, array)


def _last_step(model: Model, nest: ReductionNest) -> Statement:
    """Return a step of the reduction over partial results."""
    step = _over_parts(model, nest, f"{nest.name}.partial")
    labels = (*nest.init.labels, *nest.parts)
    bound = (*nest.init.bound, *nest.parts)
    update = replace(nest.update, bound=bound, body=step)
    return _made(model, update, labels, model.arrays[nest.name])


def _atomic(
    model: Model, nest: ReductionNest, value: Statement
) -> tuple[Model, Statement, Statement]:
    """Make the statement that sets the result to the identity, and the one that adds to it."""
    func = replace(model.arrays[value.func], reduction=model.arrays[nest.name].reduction)
    model = model.with_statements(model.statements, func)
    identity = replace(value, name=f"{func.name}.init", role=Role.INIT, body=None)
    body = _over_parts(model, nest, f"{nest.name}.part")
    name = f"{func.name}.update"
    step = replace(value, name=name, role=Role.UPDATE, body=body, is_atomic=True)
    labels = (*value.labels, *nest.parts)
    return (
        model,
        _made(model, identity, value.labels, func),
        _made(model, step, labels, func),
    )


def _over_parts(model: Model, nest: ReductionNest, array: str) -> Reduce:
    operation = model.arrays[nest.name].reduction
    assert operation is not None
    span = nest.update.body.span if nest.update.body is not None else None
    read = Read(array, plain(model.arrays[array].dims), span=span)
    return Reduce(operation, read, tuple(nest.parts), span=span)


def _made(model: Model, statement: Statement, labels: tuple[str, ...], array: Array) -> Statement:
    """Return the statement over other labels and with another array to write.

    The domain and the reads are made again to match.
    """
    space = set_space(statement.name, labels, model.params)
    taken = taken_in(statement.body, model.size_of)
    domain = within_sizes(space, labels, model.size_of, model.parts, statement.bound)
    domain = domain & not_negative(space, taken)
    writes = access(space, array, plain(array.dims))
    read = tuple(
        read_access(space, r, model.arrays, model.size_of)
        for r in (reads(statement.body) if statement.body is not None else ())
        if r.tensor in model.arrays
    )
    if statement.role in (Role.UPDATE, Role.COMBINE):
        read = (writes, *read)
    return replace(
        statement,
        labels=labels,
        domain=domain,
        writes=writes,
        reads=read,
        old=old_accesses(space, statement.body, model.into, model.size_of),
        taken=taken,
        is_over_range=statement.is_over_range and bool(taken),
    )
