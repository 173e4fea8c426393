"""Makes, by calls, the refusals that no schedule of the language's own directives shows."""

from collections.abc import Callable
from unittest.mock import patch

from dtpoly.budget import within
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule import legality
from dtpoly.schedule.legality import judge_state
from dtpoly.schedule.refusal import refusals
from dtpoly.source import Source
from tests.schedule.folded import folded, hollow
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
    raise DtpolyError(refusals(program, judge_state(state), DIRECTIVES))


def incomplete() -> None:
    text = "Func f, g;\nIn A;\nVar x;\n\ng[x] = exp(A[x]);\nf[x] = g[x] + 1;\n\n"
    program = load(Source("map.dt", text + "f.compile();\ng.fuse_at(f, x);\n"))
    state = hollow(program, "g", "x")  # the copies of g lack g[0]
    raise DtpolyError(refusals(program, judge_state(state), DIRECTIVES))


def undecided() -> None:
    text = "Func f, g;\nIn A;\nVar x;\n\ng[x] = exp(A[x]);\nf[x] = g[x] + 1;\n\n"
    # This lets an easy schedule show it; otherwise isl takes a few seconds until it gives up.
    with patch.object(legality, "VERDICT", 100), patch.object(legality, "EACH", 0):
        load(Source("map.dt", text + "f.compile();\ng.fuse_at(f, x);\n"))


def late() -> None:
    # This budget is over as soon as it begins; otherwise a call has 20 seconds.
    with within(1e-9):
        load(Source("norm.dt", NORM))


CALLS: dict[str, Callable[[], object]] = {
    "DT200": spread,
    "DT202": racing,
    "DT204": forgotten,
    "DT206": incomplete,
    "DT208": undecided,
    "DT210": late,
}
