"""Hypothesis strategies for expressions, algorithms, schedules, whole Programs and sizes.

Everything that they give passes every check of the frontend, and is as the parser would give it
back. The work is done by `tests.generation`, which also runs from a seed alone:
`program(seeded(7), Limits(funcs=2))`.
"""

from functools import cache

from hypothesis import reject
from hypothesis import strategies as st

from dtpoly.algorithm.expressions import Expr
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Directive, Program
from dtpoly.diagnostics import DtpolyError
from tests.generation import extents
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import Choose
from tests.generation.expressions import condition, numeric
from tests.generation.schedules import program, schedule
from tests.generation.scope import Scope

LIMITS = Limits()


@cache
def _below(n: int) -> st.SearchStrategy[int]:
    return st.integers(0, n - 1)


def drawn(draw: st.DrawFn) -> Choose:
    """Return choices that hypothesis makes."""
    return lambda n: draw(_below(n))


@st.composite
def expressions(
    draw: st.DrawFn, scope: Scope, layout: tuple[str, ...], depth: int = 3, is_bool: bool = False
) -> Expr:
    """Return expressions over the labels of a layout, with the names of a scope."""
    return (condition if is_bool else numeric)(drawn(draw), scope, layout, depth)


@st.composite
def algorithms(draw: st.DrawFn, limits: Limits = LIMITS) -> Program:
    """Return Programs without directives."""
    return algorithm(drawn(draw), limits)


@st.composite
def schedules(draw: st.DrawFn, program: Program) -> tuple[Directive, ...]:
    """Return directives for a Program."""
    return schedule(drawn(draw), program)


@st.composite
def programs(draw: st.DrawFn, limits: Limits = LIMITS) -> Program:
    """Return Programs with a schedule."""
    return program(drawn(draw), limits)


@st.composite
def sizes(draw: st.DrawFn, program: Program, least: int = 1, most: int = 6) -> dict[str, int]:
    """Sizes of all labels that are used, as the tensors of `input_shapes` give them.

    Between least and most, but for labels that others decide (`g[y + 2]`).
    """
    return fitted(program, extents.label_sizes(drawn(draw), program, least, most))


def fitted(program: Program, wanted: dict[str, int]) -> dict[str, int]:
    """The sizes that the tensors made for some sizes give; where nothing is read, those may differ.

    The rare shifts that leave no sizes at all (`B[x, z + 2, 2 * y]`, `B[x, x, z]`) are discarded.
    """
    passed = {rule.label: wanted[rule.label] for rule in size_rules(program) if rule.is_passed}
    try:
        return sizes_of(program, input_shapes(program, wanted), passed)
    except DtpolyError:
        reject()
