"""Lets the kernel of a Func store other results of its function, which are fused into it.

The host of such a result gets a statement that reads an element of the result and stores it. This
statement is a reader like any other: it is redirected to the private copy that the fusion makes,
and so the copy has all that is stored.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from dtpoly.algorithm.program import nested_labels
from dtpoly.poly.lift import storing
from dtpoly.poly.model import Statement
from dtpoly.schedule.hosts import order_of
from dtpoly.schedule.initial import initial
from dtpoly.schedule.nesting import nest
from dtpoly.schedule.state import State


def with_stores(state: State, stores: Mapping[str, str]) -> State:
    """Begin again, with a statement in the kernel of each host that stores its results.

    Nothing is lost: only inlining, which makes another Program, is carried out before.
    """
    program, funcs = state.program, [kernel.func for kernel in state.kernels]
    stores = {result: host for result, host in stores.items() if host in funcs}
    if not stores:
        return state
    begun = initial(program, funcs, state.sized, order_of(program, stores))
    made = {result: storing(begun.lifted, result, host) for result, host in stores.items()}
    # Before all that reads the result: whoever reads it from memory comes after what stores it. A
    # result in place comes after its host, which may read what it replaces.
    late = {result for result in stores if program.func(result).into is not None}
    statements = list[Statement]()
    for func, group in groupby(begun.lifted.statements, lambda one: one.func):
        statements += [*group, *([made[func]] if func in made and func not in late else [])]
        statements += [made[one] for one in stores if one in late and stores[one] == func]
    model = begun.lifted.with_statements(statements)
    hosts = dict.fromkeys(stores.values())
    nested = {
        host: nest(model.of_func(host), nested_labels(program.func(host)), sizes=state.sized.fixed)
        for host in hosts
    }
    kernels = tuple(replace(one, body=nested.get(one.func, one.body)) for one in begun.kernels)
    return replace(begun, model=model, kernels=kernels, stores=stores)
