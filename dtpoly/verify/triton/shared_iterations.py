"""Run the body of a loop in which the programs of a kernel share out the iterations.

    for i in range(program_id, high, num_programs): ...

Each i in 0 .. high - 1 is met exactly once, by the program i % num_programs. So the verifier reads
i as a coordinate of a program of its own that does nothing but this iteration. That claims less
about order than is true: it forgets that iterations of one program come one after the other. It is
right only if nothing else in the kernel depends on the program, and no iteration needs another.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.algebra import type_kinds as kinds
from dtpoly.verify.algebra.kernel_values import LostValue, Unread, scalar
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.terms import names
from dtpoly.verify.algebra.whole import (
    TRUE,
    Whole,
    both,
    compare,
    name,
    names_of,
    number,
    one_of,
    within,
)
from dtpoly.verify.triton.access import KernelAccess, OverPrograms
from dtpoly.verify.triton.carrying import assigned
from dtpoly.verify.triton.counted_beside import KIND, counted_beside
from dtpoly.verify.triton.counter_kinds import kind_of
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.reader import Reader

# Calls that change only the type of a value.
ONLY_TYPE = ("tl.full", "tl.cast")
WHY = "is set in another iteration of a loop over programs"


def program_of(state: KernelState, low: Whole, step: Whole) -> str | None:
    """Return the program id that a loop starts at, if its step is the number of programs."""
    for axis, extents in enumerate(state.launch.grid):
        own = state.digits.whole[f"program_{axis}"].name
        # Inside of such a loop, a second loop from the same program id has no programs left
        # that could share out its iterations.
        if extents == (step,) and low.plain == own and own not in state.shared_out:
            return own
    return None


def run(read: Reader, counter: str, ends: tuple[Whole, Whole, Whole], node: ast.For) -> None:
    """Run the body once, as if each iteration were a program of its own."""
    state = read.state
    low, high, step = ends
    if state.loops or state.where != TRUE or state.accesses:
        raise Unread(node.lineno, "a loop over programs that is not all that a kernel does")
    state.shared_out.add(str(low.plain))
    factors = _written(read, node, high)
    if not factors:
        factors = (high,) if is_affine(high) else _factors(state, high, node.lineno)
    # There must be a program, unless there is no iteration to do.
    some = one_of(
        compare(">=", step, number(1)), *(compare("<=", one, number(0)) for one in factors)
    )
    if not state.run.holds(some, set_of(state.facts)):
        raise Unread(node.lineno, "a loop over programs, of which there may be none")
    beside = counted_beside(read, counter, low, step, node.body)
    again = _again(node.body, counter)
    for one in assigned(node.body):
        if one not in (*again, *beside.begun):
            state.names[one] = LostValue(WHY)
    if factors == (high,):
        one = state.run.fresh(counter)
        state.digits.ranges[one] = within(number(0), name(one), high)
        state.names[counter] = scalar(name(one), kinds.SIZE)
    else:
        part = state.digits.of(state.run.fresh(counter), factors)
        state.names[counter] = scalar(part, kinds.SIZE)
    for one in beside.begun:
        state.names[one] = state.names[counter]
    state.run.assume(Lemma.PROGRAMS, str(low.plain), high, step)
    # A number beside the counter has 32 bits, also where the counter has 64.
    kind = KIND if beside.body != node.body else kind_of(read, node.iter)
    state.looked_at(high + step - 1, kind, node.lineno)
    _settle(state, low)
    read.block(beside.body)
    for one, expression in again.items():
        if read.value(expression) != state.names[one]:
            raise Unread(expression.lineno, f"'{one}' {WHY}")
    for one in (*assigned(node.body), counter):
        state.names[one] = LostValue(WHY)
    over = OverPrograms(str(low.plain), len(state.accesses), node.lineno)
    state.over_programs.append(over)


def _settle(state: KernelState, low: Whole) -> None:
    """Forget the range of the program id, but keep it for the numbers that were computed of it."""
    own = state.digits.ranges.pop(str(low.plain))
    # The id itself is below the number of programs, which has 31 bits.
    state.numbers = [
        replace(one, where=both(one.where, own)) if names_of(low) & names_of(one.value) else one
        for one in state.numbers
        if one.value != low
    ]


def _again(body: list[ast.stmt], counter: str) -> dict[str, ast.expr]:
    """Return the names that each iteration computes anew from their own old values.

    An example is `x = tl.full((), x, tl.float32)`, so that x becomes f(x). If f(f(x)) is f(x), then
    by induction x is, after that statement, f of its value before the loop, in every iteration. So
    no iteration needs another, if nothing looks at x before that statement or sets x in another
    place. Everything else in f must be the same in every iteration, and must do nothing to memory.
    """
    found: dict[str, ast.expr] = {}
    changes = {*assigned(body), counter}
    for at, statement in enumerate(body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=one)], value=ast.Call() as value) if (
                _looks_at(value) & changes == {one}
                and one not in assigned([*body[:at], *body[at + 1 :]])
                and all(one not in _looks_at(before) for before in body[:at])
                and all(ast.unparse(call.func) in ONLY_TYPE for call in _calls(value))
            ):
                found[one] = value
            case _:
                pass
    return found


def _looks_at(node: ast.AST) -> set[str]:
    return {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}


def _calls(node: ast.AST) -> list[ast.Call]:
    return [one for one in ast.walk(node) if isinstance(one, ast.Call)]


def check(state: KernelState) -> None:
    """Refuse a kernel to which the rule does not apply. Raises Unread."""
    for over in state.over_programs:
        _check_one(state, over)


def _check_one(state: KernelState, over: OverPrograms) -> None:
    """Refuse a kernel that does more than a loop, or asks which program it is. Raises Unread."""
    stored = {access.tensor for access in state.accesses if access.kind != "load"}
    loaded = {access.tensor for access in state.accesses if access.kind == "load"}
    if over.accesses != len(state.accesses) or state.barriers or stored & loaded:
        raise Unread(over.line, "a loop over programs that is not all that a kernel does")
    ranges = (*state.ranges.values(), *state.digits.ranges.values())
    used = frozenset[str]().union(*map(names_of, ranges), *map(_names, state.accesses))
    if over.program in used or over.program in state.digits.ranges:
        raise Unread(over.line, "what an iteration does depends on which program does it")


def _names(access: KernelAccess) -> frozenset[str]:
    value = frozenset[str]() if access.value is None else names(access.value)
    indices = (names_of(index) for index in access.indices)
    return value.union(names_of(access.where), *indices)


def _written(read: Reader, node: ast.For, high: Whole) -> tuple[Whole, ...]:
    """Return the factors of a product as the kernel writes it.

    That is done only if the body divides something, as a rule its counter, by what is no constant.
    Where all factors but one are constants, the product is linear in one size, and no longer shows
    its factors.
    """
    state = read.state
    divisors = (
        one.right
        for statement in node.body
        for one in ast.walk(statement)
        if isinstance(one, ast.BinOp) and isinstance(one.op, ast.FloorDiv | ast.Mod)
    )
    if all(isinstance(one, ast.Constant) for one in divisors):
        return ()
    match node.iter:
        case ast.Call(args=[_, ast.BinOp(op=ast.Mult()) as product, *_]):
            parts = _multiplied(product)
        case _:
            return ()
    if not all(isinstance(one, ast.Name | ast.Constant) for one in parts):
        return ()
    factors = tuple(read.whole(one) for one in parts)
    total = number(1)
    for one in factors:
        total = total * one
    calls = set_of(state.facts)
    if total != high or not all(
        is_affine(one) and state.run.holds(compare(">=", one, number(0)), calls) for one in factors
    ):
        return ()
    return tuple(one for one in factors if one.constant != 1) or (high,)


def _multiplied(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return [*_multiplied(left), *_multiplied(right)]
        case _:
            return [node]


def _factors(state: KernelState, product: Whole, line: int) -> tuple[Whole, ...]:
    """Return the sizes whose product the number is."""
    match product.terms:
        case ((monomial, 1),):
            factors = tuple(Whole((((atom,), 1),)) for atom in monomial)
        case _:
            raise Unread(line, "a loop over what is no product of sizes")
    calls = set_of(state.facts)
    if not all(
        is_affine(f) and state.run.holds(compare(">=", f, number(0)), calls) for f in factors
    ):
        raise Unread(line, "a loop over a product of what may be negative")
    return factors
