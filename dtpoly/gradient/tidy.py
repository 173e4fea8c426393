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
from dtpoly.gradient.derivation import Derivation
from dtpoly.gradient.derived_nodes import Factored, chosen, product_of, read_at
from dtpoly.gradient.simplify import simplified, written

MOST_NODES = 60  # of a definition into which others are put
LIGHT = 3  # so many nodes may stand twice: a read, or one with a sign or a number


def tidied(derivation: Derivation, fixed: Collection[str]) -> list[Func]:
    """Return derived Funcs without those that are read once, or are hardly more than a read.

    A Func stays if it is fixed, reduces something, or is read at other places than its labels.
    """
    kept = list(derivation.funcs)
    for func in derivation.funcs:
        found = [one for other in kept for one in reads(other.body) if one.tensor == func.name]
        if func.name in fixed or not _may_move(func, found):
            continue
        users = [other for other in kept if any(one in found for one in reads(other.body))]
        size = len(list(walk(func.body)))
        sizes = [len(list(walk(other.body))) for other in users]
        if (len(found) > 1 and size > LIGHT) or any(one + size > MOST_NODES for one in sizes):
            continue
        body = next(one.body for one in kept if one.name == func.name)
        added: list[Func] = []
        moved: dict[str, Expr] = {}
        for one in users:
            put = simplified(_put(one.body, func, body))
            if _products(put) < _products(one.body):
                put = _with_weights(put, one, added, derivation)
            moved[one.name] = put
        if any(_products(moved[one.name]) < _products(one.body) for one in users):
            continue  # a product of matrices is better than a sum of three factors
        kept = [
            *added,
            *(
                replace(one, body=moved.get(one.name, one.body))
                for one in kept
                if one.name != func.name
            ),
        ]
    return kept


def _with_weights(expr: Expr, func: Func, added: list[Func], derivation: Derivation) -> Expr:
    """Return an expression in which sums of an input times other factors are products of matrices.

    The other factors are a Func of their own. So in attention what the result is given is
    multiplied with the weights, and what a mask hides is 0 there, whatever the divisor is.
    """
    made = map_children(expr, lambda one: _with_weights(one, func, added, derivation))
    match made:
        case Reduce(operation="rsum", operand=operand, labels=labels, scan=None, when=()):
            inside = product_of(operand)
        case _:
            return made
    funcs = {one.name for one in (*derivation.program.funcs, *derivation.funcs)}
    for at, side in enumerate(inside.factors):
        if not isinstance(side, Read) or side.tensor in funcs or inside.number != 1:
            continue
        others = replace(inside, factors=(*inside.factors[:at], *inside.factors[at + 1 :]))
        weights = written(others)
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
    own = read_at(func.name, func.labels)
    is_elementwise = not any(isinstance(node, Reduce | Dot) for node in walk(func.body))
    return bool(found) and func.into is None and is_elementwise and all(r == own for r in found)


def _put(expr: Expr, func: Func, body: Expr) -> Expr:
    if isinstance(expr, Read) and expr.tensor == func.name:
        return body
    return map_children(expr, lambda one: _put(one, func, body))


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
