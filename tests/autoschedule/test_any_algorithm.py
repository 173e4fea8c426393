"""Algorithms that are in no list get a schedule at the first try, which is proved and right."""

from itertools import islice

import pytest
import torch

from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.show import show
from dtpoly.autoschedule.choose import last_candidates
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.selection import in_turn
from dtpoly.autoschedule.settle import Settled, settled
from dtpoly.checking import check
from dtpoly.generate import outputs, results_of
from dtpoly.reference.run import run
from dtpoly.source import Source
from dtpoly.verification import proved
from dtpoly.verify.proof.report import LayerVerdict
from tests.autoschedule.asked import call_of
from tests.codegen.inputs import Recipe
from tests.codegen.running import imported

# A text, the sizes it is scheduled for, and those it is run with.
CASES = {
    "a selective scan": (
        """Func h, y; In A, B, C, X; Var t, d, s; RVar u, q;
h[t, d, s] = scan_affine(exp(A[d, s] * reshape(X[u, d], u, d, 1)),
    reshape(B[u, s], u, 1, s) * reshape(X[u, d], u, d, 1), u, t, 0);
y[t, d] = rsum(h[t, d, q] * reshape(C[t, q], t, 1, q), q);
y.compile();""",
        {"t": 1024, "d": 256, "s": 16},
        {"t": 33, "d": 5, "s": 3},
    ),
    "a product inside of a sum": (
        """Func y; In X, A; Var b; RVar i, j;
y[b] = rsum(X[b, i] * rdot(A[i, j], X[b, j], j), i);
y.compile();""",
        {"b": 4096, "i": 256, "j": 256},
        {"b": 17, "i": 33, "j": 33},
    ),
    "weights that fade": (
        """Func a, b, y; In W, K, V; Var t, c; RVar u;
a[t, c] = scan_affine(exp(-W[c]), exp(K[u, c]) * V[u, c], u, t, 0);
b[t, c] = scan_affine(exp(-W[c]), exp(K[u, c]), u, t, 0);
y[t, c] = a[t, c] / b[t, c];
y.compile();""",
        {"t": 1024, "c": 768},
        {"t": 35, "c": 5},
    ),
    "a table of sums": (
        """Func r, s; In X; Var y, x; RVar u, v;
r[y, x] = scan_sum(X[y, u], u, x);
s[y, x] = scan_sum(r[v, x], v, y);
s.compile();""",
        {"y": 1024, "x": 1024},
        {"y": 19, "x": 34},
    ),
    "attention by a running sum": (
        """Func kv, y; In Q, K, V; Var h, t, d, e; RVar u, f;
kv[h, t, d, e] = scan_sum(reshape(K[h, u, d], h, u, d, 1) * reshape(V[h, u, e], h, u, 1, e), u, t);
y[h, t, e] = rsum(reshape(Q[h, t, f], h, t, f, 1) * kv[h, t, f, e], f);
y.compile();""",
        {"h": 8, "t": 256, "d": 32, "e": 32},
        {"h": 2, "t": 9, "d": 3, "e": 5},
    ),
    "the nearest points": (
        """Func d, v, a; In X, Y; Var m, t: 8; RVar n, k;
d[m, n] = rsum(pow(reshape(X[m, k], m, 1, k) - Y[n, k], 2), k);
v[m, t] = rtopk(-d[m, n], n, t);
a[m, t] = rargtopk(-d[m, n], n, t);
v.compile(a);""",
        {"m": 1024, "n": 2048, "k": 64},
        {"m": 9, "n": 33, "k": 5},
    ),
    "a low rank beside a product": (
        """Func a, y; In X, W, A, B; Var m, r, n; RVar k, j;
a[m, r] = rdot(X[m, k], A[k, r], k);
y[m, n] = rdot(X[m, k], W[k, n], k) + rdot(a[m, j], B[j, n], j);
y.compile();""",
        {"m": 2048, "r": 16, "n": 2048, "k": 2048},
        {"m": 33, "r": 3, "n": 18, "k": 35},
    ),
    "how far a maximum is behind": (
        """Func p, d; In X; Var b, t; RVar u, v;
p[b, t] = scan_max(X[b, u], u, t);
d[b] = rmax(p[b, v] - X[b, v], v);
d.compile();""",
        {"b": 1000, "t": 5000},
        {"b": 7, "t": 67},
    ),
}
SHORT = ("a selective scan", "a product inside of a sum")


EACH = [pytest.param(name, marks=() if name in SHORT else pytest.mark.long) for name in CASES]


@pytest.mark.parametrize("name", EACH)
def test_the_first_schedule_is_proved_and_right(name: str) -> None:
    text, sizes, small = CASES[name]
    algorithm = check(Source("given.dt", text)).program
    assert algorithm is not None
    (best,) = islice(schedules(call_of(text, **sizes)), 1)
    assert check(Source("found.dt", show(best.program))).verdict is not None
    found = proved(algorithm, best.text, outputs(algorithm))
    assert found.report.verdict is LayerVerdict.PROVED
    known = filled(algorithm, small)
    inputs = Recipe().inputs(algorithm, known)
    wanted = run(algorithm, inputs, sizes=known)
    results = getattr(imported(best.text), outputs(algorithm)[0])(*inputs.values())
    names = results_of(algorithm, outputs(algorithm))[outputs(algorithm)[0]]
    for result, result_name in zip(as_tuple(results), names, strict=True):
        torch.testing.assert_close(
            result.double(), wanted[result_name].double(), rtol=1e-3, atol=1e-3
        )


@pytest.mark.parametrize("name", ["a selective scan", "a low rank beside a product"])
def test_each_func_may_have_a_kernel_of_its_own(name: str) -> None:
    """Such a plan is the last resort, for where nothing is legal inside of another kernel."""
    text, sizes, _ = CASES[name]
    call = call_of(text, **sizes)
    ranked = last_candidates(call)
    assert {len(one.plan.kernels) for one in ranked} == {2}
    assert isinstance(next(settled(call, in_turn(ranked)), None), Settled)


def as_tuple(results: torch.Tensor | tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
    return results if isinstance(results, tuple) else (results,)
