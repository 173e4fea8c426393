"""Refusals that no schedule of the language's own directives shows, as calls."""

from collections.abc import Callable

from dtpoly.compile import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.schedule.legality import judge_state
from dtpoly.schedule.refusal import refusals
from dtpoly.source import Source
from tests.schedule.folded import folded
from tests.schedule.user_primitives import USER

NORM = """\
Func norm;
In X;
Var x, y;
RVar k;

norm[x, y] = X[x, y] * rsqrt(rsum(X[x, k] * X[x, k], k));

norm.compile();
"""


def spread() -> None:
    # `spread` is a user's primitive: blocks for programs, whatever a block lacks.
    load(Source("norm.dt", NORM + "norm.spread(y:64);\n"), USER)


def forgotten() -> None:
    # `forget` is a user's primitive: it leaves out the last statement.
    load(Source("norm.dt", NORM + "norm.forget();\n"), USER)


def racing() -> None:
    program = load(Source("norm.dt", NORM + "norm.tensorize(y:4);\n"))
    state = folded(program, "norm", "y")  # all elements of a row are stored in one cell
    raise DtpolyError(refusals(program, judge_state(state)))


CALLS: dict[str, Callable[[], object]] = {
    "DT200": spread,
    "DT202": racing,
    "DT204": forgotten,
}
