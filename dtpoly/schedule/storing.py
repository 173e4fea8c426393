"""Lets the kernel of a Func store other results of its function, which are fused into it.

The host of such a result gets a statement that reads an element of the result and stores it. This
statement is a reader like any other: it is redirected to the private copy that the fusion makes,
and so the copy has all that is stored.
"""

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby

from dtpoly.algorithm.expressions import Dot, Reduce
from dtpoly.algorithm.program import nested_labels
from dtpoly.poly.lift import storing
from dtpoly.poly.model import Model, Role, Statement
from dtpoly.schedule.hosts import order_of
from dtpoly.schedule.initial import initial
from dtpoly.schedule.nesting import nest
from dtpoly.schedule.state import State


def with_stores(state: State, stores: Mapping[str, str], along: Mapping[str, str]) -> State:
    """Begin again, with a statement in the kernel of each host that stores its results.

    Nothing is lost: only inlining, which makes another Program, is carried out before. `along` has
    the label of a host's reduction for each result that is stored in the loop of this reduction.
    """
    program, funcs = state.program, [kernel.func for kernel in state.kernels]
    stores = {result: host for result, host in stores.items() if host in funcs}
    if not stores:
        return state
    begun = initial(program, funcs, state.sized, order_of(program, stores))
    steps = {
        result: step
        for result, host in stores.items()
        if result in along and (step := _step(begun.lifted, host, along[result])) is not None
    }
    made = {
        result: storing(begun.lifted, result, host, steps.get(result))
        for result, host in stores.items()
    }
    # Before all that reads the result: whoever reads it from memory comes after what stores it. A
    # result in place comes after its host, which may read what it replaces.
    late = {result for result in stores if program.func(result).into is not None}
    # One in the loop of a reduction stands where this reduction begins.
    within = {result: step.writes.array for result, step in steps.items() if result not in late}
    statements = list[Statement]()
    for func, group in groupby(begun.lifted.statements, lambda one: one.func):
        for one in group:
            statements.append(one)
            if one.role is Role.INIT:
                mine = [result for result, array in within.items() if array == one.writes.array]
                statements += [made[result] for result in mine]
        if func in made and func not in late and func not in within:
            statements.append(made[func])
        statements += [made[one] for one in stores if one in late and stores[one] == func]
    model = begun.lifted.with_statements(statements)
    hosts = dict.fromkeys(stores.values())
    nested = {
        host: nest(model.of_func(host), nested_labels(program.func(host)), sizes=state.sized.fixed)
        for host in hosts
    }
    kernels = tuple(replace(one, body=nested.get(one.func, one.body)) for one in begun.kernels)
    return replace(begun, model=model, kernels=kernels, stores=stores)


def _step(model: Model, host: str, label: str) -> Statement | None:
    """Return the step of the first reduction of a host over a label that is in no other one."""
    for one in model.of_func(host):
        if one.role is not Role.UPDATE or not isinstance(one.body, Reduce | Dot):
            continue
        if label in one.body.labels and set(one.bound) == set(one.body.labels):
            return one
    return None
