"""Read a kernel that can be launched with warps that load data for the other warps.

If it is launched so, it makes its tensor descriptors itself, in its first statement. These must be
the descriptors that the launch passes otherwise: then no value depends on which of the two it loads
through, and the rest of the kernel is read as always.
"""

from __future__ import annotations

import ast

from dtpoly.verify.algebra.kernel_values import DescriptorValue, Unread, Value
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.whole import Whole, both, compare, number
from dtpoly.verify.triton import descriptor_access as descriptors
from dtpoly.verify.triton.kernel_state import KernelState
from dtpoly.verify.triton.reader import Reader
from dtpoly.verify.triton.unit.unit import Unit

SPECIALIZED = "specialized"


def is_told(file: Unit, definition: ast.FunctionDef) -> bool:
    """Return whether a plan or a function tells a kernel whether its launch is specialized."""
    is_said = bool(file.plans) or "dt_specialized" in file.plain
    return is_said and SPECIALIZED in {one.arg for one in definition.args.args}


def besides_making(file: Unit, definition: ast.FunctionDef) -> list[ast.stmt]:
    """Return a kernel's statements without the one that makes descriptors, which is read apart."""
    head = definition.body[:2] if is_told(file, definition) else []  # it may wait before
    return [one for one in definition.body if one not in head or not is_making(one)]


def is_making(statement: ast.stmt) -> bool:
    """Return whether a statement makes the descriptors of a specialized launch."""
    match statement:
        case ast.If(test=ast.Name(id=one), orelse=[]):
            return one == SPECIALIZED
        case _:
            return False


def after_making(read: Reader, body: list[ast.stmt]) -> list[ast.stmt]:
    """Check the descriptors that a kernel makes, and return the statements after. Raises Unread."""
    state = read.state
    first, *rest = body
    if not isinstance(first, ast.If) or not is_making(first):
        raise Unread(first.lineno, "a kernel that makes no descriptors where it should first")
    made = {_checked(read, statement) for statement in first.body}
    for one, value in state.names.items():  # it is passed none of them then
        if isinstance(value, DescriptorValue) and one not in made:
            raise Unread(first.lineno, f"'{one}' is not made where all descriptors should be")
    return rest


def _checked(read: Reader, statement: ast.stmt) -> str:
    """Return the name of a descriptor that is replaced by an equal one, where it exists."""
    state = read.state
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=one)], value=ast.Call(func=func, args=args, keywords=[]) as made
        ) if ast.unparse(func) == "tl.make_tensor_descriptor":
            old, outside = state.names.get(one), state.where
            # A specialized launch happens only if the launch has this descriptor.
            state.where = both(outside, old.there) if isinstance(old, DescriptorValue) else outside
            new = descriptors.made(read, args, {}, made)
            state.where = outside
        case _:
            raise Unread(statement.lineno, f"'{ast.unparse(statement)}'")
    if not _is_same(state, old, new):
        raise Unread(statement.lineno, f"'{one}' becomes another descriptor than the launch has")
    return one


def _is_same(state: KernelState, old: Value | None, new: DescriptorValue) -> bool:
    """Return whether two descriptors are the same; the last stride is 1 in each, under any name."""
    if not isinstance(old, DescriptorValue) or (old.pointer, old.block) != (new.pointer, new.block):
        return False
    mine, others = ((*one.shape, *one.strides[:-1]) for one in (old, new))
    pairs = zip(mine, others, strict=True)
    return new.strides[-1] == number(1) and all(_is_equal(state, *pair) for pair in pairs)


def _is_equal(state: KernelState, one: Whole, other: Whole) -> bool:
    """Return whether two numbers are the same in every call."""
    if one == other:
        return True
    same = compare("==", one, other)
    return is_affine(both(state.facts, same)) and state.run.holds(same, set_of(state.facts))
