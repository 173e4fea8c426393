"""Sizes that a call may pass or leave out: what a wrapper makes of those that are left out.

A proof is one for all sizes for which every read is inside, whoever says them. What is left to see
is that a size which is left out becomes what the algorithm says: the largest that fits.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.asking import about
from dtpoly.verify.expressions import value
from dtpoly.verify.extents import size_name
from dtpoly.verify.held import Held, Maybe, Wrapper
from dtpoly.verify.regions import holds, is_affine, set_of
from dtpoly.verify.values import Unread
from dtpoly.verify.whole import both, compare, name

# What such a size is computed with. Nothing that looks at other numbers: that would be done only
# for calls that leave this one out.
COMPUTED = ("max", "min", "dt_fit")


def is_about_passing(wrapper: Wrapper, test: ast.expr) -> bool:
    """Whether a condition says of sizes that they are not passed, and nothing else."""
    match test:
        case ast.BoolOp(values=values):
            return all(is_about_passing(wrapper, one) for one in values)
        case ast.Compare(
            left=ast.Name(id=one), ops=[ast.Is()], comparators=[ast.Constant(value=None)]
        ):
            return isinstance(wrapper.names.get(one), Maybe)
        case _:
            return False


def leave_out(wrapper: Wrapper, one: str, made: ast.expr) -> None:
    """Read what a size is if a call passes none; from here on it is a number. Raises Unread."""
    held = wrapper.names.get(one)
    if not isinstance(held, Maybe) or not held.is_checked or one in wrapper.parameters:
        raise Unread(made.lineno, f"what '{one}' is where it is None")
    for node in ast.walk(made):
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in COMPUTED:
            raise Unread(node.lineno, f"'{ast.unparse(node)}' for a size that is not passed")
    # Where another size is missing, too, Python stops at the first sum with None.
    names: dict[str, Held] = {
        other: _as_passed(of) if isinstance(of, Maybe) and of.label != held.label else of
        for other, of in wrapper.names.items()
    }
    own = wrapper.size(value(replace(wrapper, names=names), made), made)
    wanted = wrapper.left_out[held.label]
    if own != wanted:
        facts, same = both(*wrapper.facts), compare("==", own, wanted)
        about(
            made.lineno, f"the size of '{held.label}' is the largest that fits, if none is passed"
        )
        if not is_affine(both(facts, same)) or not holds(same, set_of(facts)):
            raise Unread(made.lineno, f"'{ast.unparse(made)}' for the size of '{held.label}'")
    wrapper.names[one] = name(size_name(held.label))
    wrapper.is_set.add(one)


def _as_passed(of: Maybe) -> Held:
    return name(size_name(of.label)) if of.is_checked else of
