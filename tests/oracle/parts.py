"""Divides reductions into parts whose programs also store results, before kernels are looked for.

`f.block(x:p/4)` cuts a label over which f reduces. If results are stored in the loop of this
reduction, or reduce over x themselves, or if the kernel that merges has blocks of its own, then the
algorithm is another one: f_parts[p, y] is the reduction over the indices of part p, and f[y] is the
reduction of these over p. So it is with each such result. What is said of f is said of both.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dtpoly.algorithm.expressions import (
    Affine,
    Conditions,
    Dot,
    Expr,
    Read,
    Reduce,
    SizedIndex,
    children,
    free_labels,
    map_children,
)
from dtpoly.algorithm.operations import LIST
from dtpoly.algorithm.program import Func, Label, producers, reduced_labels
from tests.oracle.said import Fusion, Said, Settings, Unclear

# What is known of a block says nothing of another one: an index, or a list.
WHOLE = ("rargmax", "rargmin", LIST)


@dataclass(frozen=True, slots=True)
class Parts:
    """Which Funcs are computed in parts of a label, and who stores what.

    `members` are the Funcs with a reduction that is divided, the host first; `names` are those of
    their parts. Programs of the parts store the results `within`, and the kernel that merges those
    that are `whole`.
    """

    label: str
    number: str  # the label that numbers the parts
    size: int
    members: tuple[str, ...]
    within: tuple[str, ...]
    whole: tuple[str, ...]
    names: Mapping[str, str]

    @property
    def host(self) -> str:
        """Return the Func whose kernel is in parts."""
        return self.members[0]


def divided(said: Said, stores: Mapping[str, str], along: Mapping[str, str]) -> Said:
    """Return what is said of the algorithm in which each reduction that asks for it is in parts."""
    for one in list(_asked(said, stores, along)):
        said = _divided(said, one)
    return said


def _asked(said: Said, stores: Mapping[str, str], along: Mapping[str, str]) -> Iterator[Parts]:
    program = said.program
    for func in program.funcs:
        settings = said.settings[func.name]
        cut = [one for one in settings.blocks if one in _bound(func)]
        for label in () if func.name in said.inlined else cut:
            stored = [one for one, host in stores.items() if host == func.name]
            others = [one for one in stored if _is_divisible(program.func(one), label)]
            within = [one for one in stored if one in along and label in program.func(one).labels]
            number = settings.partials.get(label, f"{label}.part")
            is_asked = others or within or (func.name, number) in said.merging
            if not is_asked or not _is_divisible(func, label):
                continue
            if len(cut) > 1 or settings.rewrites:
                raise Unclear(f"{func.name} has parts of several labels, or users' primitives")
            members = (func.name, *(one for one in others if one not in within))
            whole = tuple(one for one in stored if one not in (*members, *within))
            names = {one: f"{one}_parts" for one in members}
            _check(said, members, number)
            yield Parts(label, number, settings.blocks[label], members, tuple(within), whole, names)


def _check(said: Said, members: Sequence[str], number: str) -> None:
    """Raise Unclear where parts would need frames, or where copies of a Func would have parts."""
    reads = producers(said.program)
    for one in members:
        seen, pending = set[str](), list(reads[one])
        while pending:
            name = pending.pop()
            if name in members:
                raise Unclear(f"{one} depends on {name}, which is in parts, too")
            pending += [below for below in reads[name] if below not in seen]
            seen.add(name)
    if any(fusion.func == members[0] for fusion in said.fusions):
        raise Unclear(f"copies of {members[0]} would have parts")
    if number in {label.name for label in said.program.labels}:
        raise Unclear(f"{number} numbers several parts")


def _bound(func: Func) -> set[str]:
    return set(reduced_labels(func)) - {*func.labels}


def reductions(expr: Expr, label: str) -> Iterator[Reduce | Dot]:
    """Yield the reductions over a label that are not inside of other ones."""
    if isinstance(expr, Reduce | Dot) and label in expr.labels:
        yield expr
        return
    for one in children(expr):
        yield from reductions(one, label)


def _is_divisible(func: Func, label: str) -> bool:
    """Return whether a Func has one reduction over a label, and this has partial results."""
    if label in func.labels or func.into is not None:
        return False
    found = list(reductions(func.body, label))
    if len(found) != 1:
        return False
    (one,) = found
    if not {*free_labels(one)} <= {*func.labels}:
        return False  # a reduction around it binds a label that it reads at
    is_whole = isinstance(one, Reduce) and (one.operation in WHOLE or one.scan is not None)
    return not is_whole and not any(list(reductions(x, label)) for x in children(one))


def in_part(label: str, number: str, size: int) -> Conditions:
    """Return the conditions for an index to be in a part."""
    first = SizedIndex(Affine(((label, 1), (number, -size))))
    last = SizedIndex(Affine(((label, -1), (number, size)), size - 1))
    return first, last


def _divided(said: Said, parts: Parts) -> Said:
    program = said.program
    funcs: list[Func] = []
    for func in program.funcs:
        if func.name not in parts.members:
            funcs.append(func)
            continue
        (node,) = reductions(func.body, parts.label)
        labels = (parts.number, *func.labels)
        conditions = in_part(parts.label, parts.number, parts.size)
        own = replace(node, when=(*node.when, *conditions))
        name = parts.names[func.name]
        funcs.append(Func(name, labels, own, when=func.when))
        element = Read(name, tuple(Affine(((label, 1),)) for label in labels))
        operation = node.operation if isinstance(node, Reduce) else "rsum"
        merged = Reduce(operation, element, (parts.number,))
        funcs.append(replace(func, body=_replaced(func.body, node, merged)))
    labels_too = (*program.labels, Label(parts.number, reducible=True))
    made = replace(program, funcs=tuple(funcs), labels=labels_too)
    returned = {one: {*names} for one, names in said.returned.items()}
    functions = returned.get(parts.host, set()) | ({parts.host} & said.wanted)
    for name in parts.names.values():
        # Partial results are stored, so that the kernel that merges them can read them.
        returned[name] = set(functions)
    return Said(
        made,
        _settings(said, parts),
        said.inlined,
        said.wanted,
        returned,
        list(_fusions(said.fusions, parts)),
        said.merging,
    )


def _replaced(expr: Expr, node: Expr, by: Expr) -> Expr:
    if expr is node:
        return by
    return map_children(expr, lambda one: _replaced(one, node, by))


def _settings(said: Said, parts: Parts) -> dict[str, Settings]:
    """Return what is said of each Func: loops over parts are in the kernel that merges them."""
    found, old = dict(said.settings), said.settings[parts.host]
    blocks = {label: size for label, size in old.blocks.items() if label != parts.label}
    walks = {parts.label: (parts.number, parts.size)}
    for name in parts.names.values():
        found[name] = Settings(walks=dict(walks))
    found[parts.names[parts.host]] = Settings(
        {parts.number: 1} | blocks,
        splits={label: one for label, one in old.splits.items() if label != parts.number},
        order=tuple(label for label in old.order if label != parts.number),
        tiles={
            (of and parts.names.get(of, of), label): size
            for (of, label), size in old.tiles.items()
            if label != parts.number
        },
        walks=dict(walks),
    )
    merged = said.merging.get((parts.host, parts.number), {})
    found[parts.host] = Settings(
        blocks | merged, splits=old.splits, order=old.order, tiles=old.tiles
    )
    return found


def _fusions(fusions: Sequence[Fusion], parts: Parts) -> Iterator[Fusion]:
    for one in fusions:
        of_part = replace(
            one,
            func=parts.names.get(one.func, one.func),
            consumer=parts.names.get(one.consumer, one.consumer),
        )
        is_apart = one.consumer not in parts.members or one.loop == parts.number
        # The kernel that merges stores them, and computes them for this.
        if not is_apart and not (one.func in parts.whole and one.consumer == parts.host):
            yield of_part
        yield one
