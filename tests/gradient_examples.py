"""Calls that produce diagnostics about gradients: what `dtpoly differentiate` refuses."""

from collections.abc import Callable

from dtpoly.algorithm.program import Program
from dtpoly.gradient.differentiate import differentiated

PLACE = "Func place; In A; Var x; RVar k; place[x] = rargmax(A[x, k], k); place.compile();"
ROUNDED = "Func steps; In A; Var x; steps[x] = floor(A[x]) / 2; steps.compile();"
APART = "Func f, g; In A, B; Var x; g[x] = B[x]; f[x] = 2 * A[x]; f.compile(g);"
FILLED = """\
Func k_new into K at [b, pos[b] + t];
In K, pos: i64, X;
Var b, t;

k_new[b, t] = X[b, t];
k_new.compile();
"""
PADDED = "Func f; In A; SIn edge; Var x; f[x] = pad(A, edge)[x + 1]; f.compile();"
UPDATE = """\
Func w into W;
In W, G;
Var x;

w[x] = W[x] * exp(W[x]) - G[x];
w.compile();
"""
UNKNOWN = """\
Func total, part;
In A;
SIn c;
RVar h;

part[h] = c * A[h + 1] + A[h + 2];
total[] = rsum(part[h], h);
total.compile();
"""


def of_place(program: Program) -> None:
    differentiated(program, of=("place",), by=("A",))


def of_steps(program: Program) -> None:
    differentiated(program, of=("steps",), by=("A",))


def of_another(program: Program) -> None:
    differentiated(program, of=("f",), by=("B",))


def of_cache(program: Program) -> None:
    differentiated(program, of=("k_new",), by=("X", "K"))


def of_edge(program: Program) -> None:
    differentiated(program, of=("f",), by=("edge",))


def of_update(program: Program) -> None:
    differentiated(program, of=("w",), by=("W",))


def of_total(program: Program) -> None:
    differentiated(program, of=("total",), by=("c",))


RUNS: dict[str, tuple[str, Callable[[Program], object]]] = {
    "DT270": (PLACE, of_place),
    "DT271": (APART, of_another),
    "DT271_steps": (ROUNDED, of_steps),
    "DT272": (FILLED, of_cache),
    "DT272_pad": (PADDED, of_edge),
    "DT273": (UPDATE, of_update),
    "DT274": (UNKNOWN, of_total),
}
