"""Decides which masks of a program become ranges of its reductions (see `range_search`).

A range is dropped where a result would look at it: in rows of which a mask leaves nothing, or where
a loop that could be joined with another one would no longer be like it.
"""

from collections.abc import Mapping

from dtpoly.algorithm.affine_conditions import TRUTHS, labels_of_clauses, stated
from dtpoly.algorithm.expressions import Apply, Dot, Read, Reduce, walk
from dtpoly.algorithm.program import Program, in_order
from dtpoly.algorithm.range_search import (
    OF_ROWS,
    UNLIKE,
    IsFilled,
    RangeSearch,
    Reduction,
    operand_of,
)


def results_of(program: Program) -> tuple[str, ...]:
    """Return the Funcs that functions return; where none is known, those that nobody reads."""
    if program.returned:
        return program.returned
    read = {
        node.tensor for func in program.funcs for node in walk(func.body) if isinstance(node, Read)
    }
    return tuple(func.name for func in program.funcs if func.name not in read)


def searched(program: Program, ask_filled: IsFilled) -> RangeSearch:
    """Return the ranges of all reductions; weak ones only where no result depends on them."""
    search = RangeSearch(program, ask_filled)
    results = results_of(program)
    funcs = in_order(program, results)
    nodes = {
        func.name: [one for one in walk(func.body) if isinstance(one, Reduce | Dot)]
        for func in funcs
    }
    for node in (node for some in nodes.values() for node in some):
        search.range_of(node)
    if any(found.weak for _, found in search.found.values()):
        open_funcs = set[str]()
        for func in funcs:
            if search.unsettled(func, open_funcs):
                open_funcs.add(func.name)
        if open_funcs.intersection(results):
            for node, found in list(search.found.values()):
                search.refuse(node, found.weak, OF_ROWS)
    for func in reversed(funcs):
        for node in nodes[func.name]:
            _keep_alike(search, node, nodes)
    search.answers.clear()
    return search


def _keep_alike(search: RangeSearch, node: Reduction, nodes: Mapping[str, list[Reduction]]) -> None:
    """Drop conditions of reductions before one that has the same conditions and takes them not.

    Their loops can become one only if they go over the same indices.
    """
    refused = {search.form_of(node, one.clause) for one in search.range_of(node).refused}
    if not refused:
        return
    before = [one for one in walk(operand_of(node)) if isinstance(one, Reduce | Dot)]
    seen = set[str]()
    pending = [one.tensor for one in walk(operand_of(node)) if isinstance(one, Read)]
    while pending:
        name = pending.pop()
        if name in search.funcs and name not in seen:
            seen.add(name)
            before.extend(nodes.get(name, ()))
            body = search.funcs[name].body
            pending.extend(one.tensor for one in walk(body) if isinstance(one, Read))
    for one in before:
        found = search.range_of(one)
        alike = tuple(c for c in found.every if search.form_of(one, c) in refused)
        search.refuse(one, alike, UNLIKE)


def has_conditions(program: Program) -> bool:
    """Return whether some truth in a program is about indices."""
    return any(
        isinstance(node, Apply)
        and node.operation in TRUTHS
        and any(labels_of_clauses(stated(node, {}, holds=holds).clauses) for holds in (True, False))
        for func in program.funcs
        for node in walk(func.body)
    )
