"""Sizes that a call may pass or leave out: check what a wrapper computes if one is left out.

A proof holds for all sizes for which every read is inside, no matter who decides them. What remains
to be shown is that a size that is left out becomes what the algorithm says: the largest that fits.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from dtpoly.verify.algebra.extents import size_name
from dtpoly.verify.algebra.regions import is_affine, set_of
from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.algebra.whole import both, compare, name
from dtpoly.verify.plan.expressions import value
from dtpoly.verify.plan.held import Held, Maybe, Wrapper

# The functions with which such a size may be computed. No function that checks other numbers is
# among them: the check would be done only for calls that leave this size out.
COMPUTED = ("max", "min", "dt_fit")


def is_about_passing(wrapper: Wrapper, test: ast.expr) -> bool:
    """Whether a condition only asks which sizes are not passed: `n_size is None and ...`."""
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
    """Read the value that a size gets if a call passes none; from here on it is a number.

    Raises Unread unless the value is the one that the algorithm says.
    """
    held = wrapper.names.get(one)
    if not isinstance(held, Maybe) or not held.is_checked or one in wrapper.parameters:
        raise Unread(made.lineno, f"what '{one}' is where it is None")
    for node in ast.walk(made):
        if isinstance(node, ast.Call) and ast.unparse(node.func) not in COMPUTED:
            raise Unread(node.lineno, f"'{ast.unparse(node)}' for a size that is not passed")
    # Other sizes are taken for passed: if one is None, too, Python raises at the first sum with it.
    names: dict[str, Held] = {
        other: _as_passed(of) if isinstance(of, Maybe) and of.label != held.label else of
        for other, of in wrapper.names.items()
    }
    own = wrapper.size(value(replace(wrapper, names=names), made), made)
    wanted = wrapper.left_out[held.label]
    if own != wanted:
        facts, same = both(*wrapper.facts), compare("==", own, wanted)
        wrapper.run.about(
            made.lineno, f"the size of '{held.label}' is the largest that fits, if none is passed"
        )
        if not is_affine(both(facts, same)) or not wrapper.run.holds(same, set_of(facts)):
            raise Unread(made.lineno, f"'{ast.unparse(made)}' for the size of '{held.label}'")
    wrapper.names[one] = name(size_name(held.label))
    wrapper.is_set.add(one)


def _as_passed(of: Maybe) -> Held:
    return name(size_name(of.label)) if of.is_checked else of
