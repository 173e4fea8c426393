"""Small programs with the kinds of plans that there are, and the data of their plans."""

from functools import cache
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plan.plan_data import data_of
from dtpoly.schedule.legality import judge
from tests.verify.planned import plans
from tests.verify.texts import written

SOURCES = {
    "pointwise": (
        "Func f; In A, B; Var x, y; f[x, y] = A[x, y] * 2.0 + B[y];"
        "f.block(x:4); f.tensorize(x:0, y:16); f.compile();"
    ),
    "in_place": (
        "Func f into F, g; In F, A; Var x; RVar k; g[] = rmax(F[k], k); f[x] = F[x] * A[x] + g[];"
        "g.tensorize(k:16); f.block(x:8); f.tensorize(x:0); f.compile();"
    ),
    "product": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.map(m:mi/2, n, mi); f.compile();"
    ),
    "two": (
        "Func f, g; In A: f16, B; Var x; RVar y; g[x] = rsum(A[x, y], y); f[x] = g[x] + B[x];"
        "g.block(x:4); g.tensorize(x:0, y:16); f.early(); f.tensorize(x:16); f.compile();"
    ),
    "conv": (
        "Func f; In A, W; Var x, c; RVar r; f[x, c] = rsum(A[2*x + r] * W[c, r], r);"
        "f.block(x:4); f.tensorize(x:0, c:4, r:0); f.compile();"
    ),
    "numbers": (
        "Func f; In A: i32, B; SIn s; SIn n: i32; Var x, y; f[x, y] = A[x] * s + n + y;"
        "f.block(x:8); f.tensorize(x:0, y:16); f.compile();"
    ),
    "described": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.descriptor(A, B, f); f.persistent(2);"
        "f.num_warps(4); f.compile();"
    ),
    "specialized": (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:128, n:64); f.tensorize(m:0, n:0, k:64); f.warp_specialize(); f.num_warps(8);"
        "f.num_stages(3); f.descriptor(A, B, f); f.compile();"
    ),
    "panels": (
        "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n]; f[m, n] = rdot(A[m, k], g[n, k],"
        "k); g.block(n:16, k:16); g.tensorize(n:0, k:0); g.persistent(2); f.block(m:16, n:16);"
        "f.tensorize(m:0, n:0, k:16); f.persistent(); f.num_warps(4); f.panels(n:32); f.compile();"
    ),
    "beside": (
        "Func f, g, h; In A, B; Var m, n; RVar k; g[m, k] = A[m, k] * 2.0; h[n, k] = B[k, n];"
        "f[m, n] = rdot(g[m, k], h[n, k], k); g.block(m:16); g.tensorize(m:0, k:16);"
        "h.block(n:16); h.tensorize(n:0, k:16); h.beside(g); f.block(m:16, n:16);"
        "f.tensorize(m:0, n:0, k:16); f.compile();"
    ),
    "atomic": (
        "Func f; In A: f32; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:8); f.block(k:64);"
        "f.atomic(k); f.tensorize(x:0, k:32); f.num_warps(4); f.compile();"
    ),
    "argmax": (
        "Func f; In A; Var x; RVar k; f[x] = rargmax(A[x, k], k); f.block(x:4);"
        "f.tensorize(x:0, k:16); f.compile();"
    ),
    "softmax": (
        "Func f, t; In A; Var x; RVar y; t[x] = rsum(exp(A[x, y]), y);"
        "f[x, y] = exp(A[x, y]) / reshape(t[x], x, 1); f.block(x:2); f.tensorize(x:0, y:0);"
        "t.fuse_at(f, x); f.compile();"
    ),
    "several": (
        "Func f, t, u; In A; Var x; RVar y; t[x] = rmax(A[x, y], y); u[x] = t[x] * 2;"
        "f[x, y] = A[x, y] - reshape(t[x], x, 1); f.block(x:2); f.tensorize(x:0, y:16);"
        "t.fuse_at(f, x); u.fuse_at(f, x); f.compile(t, u);"
    ),
}


@cache
def program_of(name: str) -> Program:
    return written(SOURCES[name])


def data_for(name: str) -> dict[str, Any]:
    state = judge(program_of(name), DIRECTIVES).scheduled
    (plan,) = plans(state, code_of(state))
    return data_of(plan)
