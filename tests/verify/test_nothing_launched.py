"""Sizes at which no program runs, or at which a call is refused, are no counterexamples."""

import pytest

from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.verify.texts import changed, text_of, written

NAIVE = (
    "Func f, s, e; In Q, K, V; Var m, n; RVar k, l;"
    "s[m, l] = rdot(Q[m, k], K[l, k], k) / sqrt(len(k));"
    "e[m, l] = exp(s[m, l] - reshape(rmax(s[m, l], l), m, 1));"
    "f[m, n] = rdot(e[m, l], V[l, n], l) / reshape(rsum(e[m, l], l), m, 1);"
)
PROGRAMS = (
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k);"
    "f.block(k:3); f.atomic(k); f.tensorize(x:0); f.compile();",
    "Func f; In A, B; Var x, y; RVar k; f[x, y] = rsum(pad(A, 0)[x, k] * pad(B, 0)[y, k + 1], k);"
    "f.block(k:8); f.atomic(k); f.tensorize(x:0, y:4); f.compile();",
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:16, k:5); f.tensorize(n:0, k:0); f.compile();",
    # A grid has less than 2^31 programs, and so has each part of it that a size is not 0 in.
    "Func f; In I0, I1; Var x, y: 16, z; f[x, y, z] = reshape(I0[x, y], x, y, 1) * I1[x, y, z];"
    "f.block(x:1, y:12, z:1); f.tensorize(x:1, z:0); f.compile();",
    "Func f; In A; Var x: 64, y; f[x, y] = A[y, x] + 1.0; f.block(x:1, y:1); f.compile();",
    f"{NAIVE} s.block(m:16, l:256); s.tensorize(k:0, l:0); e.block(l:256);"
    "f.block(m:16); f.tensorize(n:0, l:64); f.compile();",
    f"{NAIVE} s.block(l:256); s.tensorize(m:0, k:0); e.block(m:8, l:256); e.tensorize(l:0);"
    "f.block(l:256); f.tensorize(m:8, n:0); f.compile();",
)


@pytest.mark.sampled
@pytest.mark.parametrize("text", PROGRAMS)
def test_is_proved(text: str) -> None:
    program = written(text)
    assert verify(program, text_of(program)).verdict is LayerVerdict.PROVED


def test_what_runs_is_still_looked_at() -> None:
    program = written(PROGRAMS[0])
    wrong = changed(text_of(program), "x_mask = (x < x_size) | even", "x_mask = x < x_size + 1")
    assert verify(program, wrong).verdict is LayerVerdict.REFUTED
