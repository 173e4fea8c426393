"""Tidies what was derived: Funcs that only rename stand in the place of their reads."""

from collections.abc import Collection, Mapping
from dataclasses import replace

from dtpoly.algorithm.expressions import (
    Apply,
    Dot,
    Expr,
    Integer,
    Read,
    Reduce,
    free_labels,
    map_children,
    reads,
    walk,
)
from dtpoly.algorithm.program import Func
from dtpoly.gradient.copies import shows, without_copies
from dtpoly.gradient.derivation import Derivation
from dtpoly.gradient.derived_nodes import Factored, chosen, product_of, read_at
from dtpoly.gradient.simplify import masks_of, simplified, under, written
from dtpoly.gradient.turning import with_indices

MOST_NODES = 60  # of a definition into which others are put
LIGHT = 3  # so many nodes may stand twice: a read, or one with a sign or a number


def tidied(derivation: Derivation, fixed: Collection[str]) -> list[Func]:
    """Return derived Funcs without those that are read once, or are hardly more than a read.

    A Func stays if it is fixed, reduces something, or is read at other places than labels, unless
    it is only another name of a tensor. Of Funcs that compute the same, one stays.
    """
    kept = without_copies(derivation, fixed)
    # What is hardly more than a read goes first: so a factor of all of a sum stands behind it, and
    # what it is multiplied with keeps its name.
    every = [one.name for one in kept if one.name not in fixed]
    for is_light in (True, False, True):
        for name in every:
            func = next((one for one in kept if one.name == name), None)
            if func is None:
                continue
            found = [one for other in kept for one in reads(other.body) if one.tensor == name]
            is_wanted = len(found) > 1 and _is_light(func.body) if is_light else len(found) == 1
            if is_wanted and _may_move(func, found):
                kept = _with_moved(func, found, kept, derivation)
    return _each_once(kept, fixed)


def _is_light(body: Expr) -> bool:
    """Return whether an expression is a read, or one with a sign, a number or what a row has."""
    every, nodes = set(free_labels(body)), list(walk(body))
    whole = [one for one in nodes if isinstance(one, Read) and set(free_labels(one)) == every]
    return len(nodes) <= LIGHT and len(whole) <= 1


def _with_moved(
    func: Func, found: list[Read], kept: list[Func], derivation: Derivation
) -> list[Func]:
    """Return Funcs without one, which stands in the place of its reads; all of them if it stays."""
    users = [other for other in kept if any(one in found for one in reads(other.body))]
    size = len(list(walk(func.body)))
    if any(len(list(walk(one.body))) + size > MOST_NODES for one in users):
        return kept
    added: list[Func] = []
    moved: dict[str, Expr] = {}
    taken = set(derivation.names.taken)
    for one in users:
        put = simplified(_put(one.body, func))
        if _products(put) < _products(one.body):
            put = _with_weights(put, one, added, derivation)
        is_worse = _products(put) < _products(one.body)
        if is_worse or not _sizes_stay(func, one.body, put, derivation):
            derivation.names.taken = taken
            # A product of matrices is better than a sum of three factors.
            return kept
        moved[one.name] = put
    others = (one for one in kept if one.name != func.name)
    return [*added, *(replace(one, body=moved.get(one.name, one.body)) for one in others)]


def _sizes_stay(func: Func, before: Expr, put: Expr, derivation: Derivation) -> bool:
    """Return whether an expression shows the sizes of labels at which a Func was read before."""
    renamed = {
        index.plain
        for read in reads(before)
        if read.tensor == func.name
        for index, own in zip(read.indices, func.labels, strict=True)
        if index.plain is not None and index.plain != own
    }
    return all(any(shows(one, label, derivation) for one in reads(put)) for label in renamed)


def _each_once(funcs: list[Func], fixed: Collection[str]) -> list[Func]:
    """Return Funcs of which none computes what another one does.

    Those that are fixed stay, and so do those that go to places, with what they begin with.
    """
    starts = {one.into.tensor for one in funcs if one.into is not None}
    kept = list(funcs)
    first: dict[tuple[tuple[str, ...], Expr], str] = {}
    for name in [one.name for one in funcs]:
        func = next(one for one in kept if one.name == name)
        if func.into is not None or name in starts or name in fixed:
            continue
        same = first.setdefault((func.labels, func.body), name)
        if same != name:
            others = (one for one in kept if one.name != name)
            kept = [replace(one, body=_renamed(one.body, name, same)) for one in others]
    return kept


def _renamed(expr: Expr, name: str, new: str) -> Expr:
    made = map_children(expr, lambda one: _renamed(one, name, new))
    return replace(made, tensor=new) if isinstance(made, Read) and made.tensor == name else made


def _with_weights(expr: Expr, func: Func, added: list[Func], derivation: Derivation) -> Expr:
    """Return an expression in which sums of an input times other factors are products of matrices.

    The other factors are a Func of their own. So in attention what the result is given is
    multiplied with the weights, and what a mask hides is 0 there, whatever the divisor is.
    """
    made = map_children(expr, lambda one: _with_weights(one, func, added, derivation))
    match made:
        case Reduce(operation="rsum", operand=operand, labels=labels, scan=None, when=()):
            masks, value = masks_of(operand)
            inside = product_of(value)
        case _:
            return made
    funcs = {one.name for one in (*derivation.program.funcs, *derivation.funcs)}
    for at, side in enumerate(inside.factors):
        if not isinstance(side, Read) or side.tensor in funcs or inside.number != 1:
            continue
        others = replace(inside, factors=(*inside.factors[:at], *inside.factors[at + 1 :]))
        weights = under(masks, written(others))
        own, rest = set(free_labels(side)), free_labels(weights)
        if not set(labels) <= own & set(rest) or own <= set(rest) or set(rest) <= own:
            continue
        name = derivation.names.new(f"{func.name}_weights")
        derivation.said[name] = f"what {side.tensor} is multiplied with in {func.name}"
        added.append(Func(name, rest, _masked(weights, others, derivation)))
        return Dot(side, read_at(name, rest), labels)
    return made


def _masked(value: Expr, product: Factored, derivation: Derivation) -> Expr:
    """Return a quotient that is 0 where the mask of a factor says so, whatever the divisor is."""
    funcs = {one.name: one for one in derivation.program.funcs}
    for side in product.factors if product.divisors else ():
        func = funcs.get(side.tensor) if isinstance(side, Read) else None
        if func is None or side != read_at(func.name, func.labels):
            continue
        match func.body:
            case Apply(operation="where", operands=(condition, _, Integer(value=0))):
                known, _ = masks_of(value)
                own = masks_of(func.body)[0]
                if not all(one in known for one in own):
                    value = chosen(condition, value)
            case _:
                pass
    return value


def _products(expr: Expr) -> int:
    return sum(isinstance(node, Dot) for node in walk(expr))


def with_known(funcs: list[Func], known: Mapping[tuple[tuple[str, ...], Expr], str]) -> list[Func]:
    """Return Funcs that read what other Funcs compute, where they would reduce the same again."""

    def put(expr: Expr) -> Expr:
        if isinstance(expr, Reduce | Dot):
            for (labels, body), name in known.items():
                if body == expr:
                    return read_at(name, labels)
        return map_children(expr, put)

    return [replace(one, body=put(one.body)) for one in funcs]


def _may_move(func: Func, found: list[Read]) -> bool:
    is_elementwise = not any(isinstance(node, Reduce | Dot) for node in walk(func.body))
    return bool(found) and func.into is None and is_elementwise and all(map(_is_at_labels, found))


def _is_at_labels(read: Read) -> bool:
    """Return whether a read is at labels alone, each of which stands once."""
    labels = [one.plain for one in read.indices]
    return read.padding is None and None not in labels and len(set(labels)) == len(labels)


def _put(expr: Expr, func: Func) -> Expr:
    """Return an expression in which the definition of a Func stands in the place of its reads."""
    if isinstance(expr, Read) and expr.tensor == func.name:
        put = dict(zip(func.labels, expr.indices, strict=True))
        return with_indices(func.body, put)
    return map_children(expr, lambda one: _put(one, func))


def needed(funcs: Mapping[str, Func], wanted: tuple[str, ...]) -> list[str]:
    """Return the Funcs that the wanted ones need, with these."""
    done: dict[str, None] = {}
    pending = list(wanted)
    while pending:
        name = pending.pop()
        if name in done or name not in funcs:
            continue
        done[name] = None
        func = funcs[name]
        pending.extend(one.tensor for one in reads(func.body))
        if func.into is not None:
            pending.append(func.into.tensor)
    return list(done)
