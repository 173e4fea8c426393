"""Chains of reductions as people write them in practice, each with a schedule in one pass.

The list was written before the compiler and the verifier were looked at for it. Its entries with
an even number may be worked on; those with an odd number only say how far that carries.
"""

from collections.abc import Mapping

ROWS = "In A; Var x; RVar y; top[x] = rmax(A[x, y], y);"
E = "exp(A[x, y] - reshape(top[x], x, 1))"
MEAN = "In A; Var x; RVar y; mean[x] = rsum(A[x, y], y) / len(y);"
D = "(A[x, y] - reshape(mean[x], x, 1))"
TILES = "f.block(x:2); f.tensorize(x:0, y:16); f.compile();"
PARTS = "f.block(x:2, y:p/64); f.tensorize(x:0, y:16, p:2); f.compile();"

ATTENDED = (
    "Func f, scores, top, e, total; In Q, K, V{more}; Var x, n; RVar k, y{among};"
    "scores[x, y] = {scores}; top[x] = rmax(scores[x, y], y);"
    "e[x, y] = exp(scores[x, y] - reshape(top[x], x, 1)); total[x] = rsum(e[x, y], y){sink};"
    "f[x, n] = rdot(e[x, y], V[y, n], y) / reshape(total[x], x, 1);"
    "f.block(x:16{cut}); f.tensorize(x:0, y:16, k:0, n:0{merge}); scores.fuse_at(f, y);"
    "top.online(f, y); e.inline(); total.online(f, y); f.compile();"
)
DOT = "rdot(Q[x, k], K[y, k], k) * rsqrt(len(k))"


def attended(
    scores: str = DOT, more: str = "", among: str = "", sink: str = "", *, parts: bool = False
) -> str:
    """Return attention of rows of Q to those of K, maybe in parts."""
    cut, merge = (", y:p/64", ", p:2") if parts else ("", "")
    return ATTENDED.format(scores=scores, more=more, among=among, sink=sink, cut=cut, merge=merge)


# In the order in which they were written down.
PRACTISED: Mapping[str, str] = {
    "a softmax with a temperature": (
        "Func f, top, e, total; In A; SIn t; Var x; RVar y; top[x] = rmax(A[x, y] / t, y);"
        "e[x, y] = exp(A[x, y] / t - reshape(top[x], x, 1)); total[x] = rsum(e[x, y], y);"
        "f[x, y] = e[x, y] / reshape(total[x], x, 1);"
        f"e.inline(); total.fuse_at(f, x); top.online(total, y); {TILES}"
    ),
    "a sum above a threshold that moves": (
        f"Func f, top; {ROWS} f[x] = rsum(maximum(A[x, y] - reshape(top[x], x, 1) + 1, 0), y);"
        f"top.online(f, y); {TILES}"
    ),
    "a log-sum-exp of differences": (
        "Func f, top; In A, B; Var x; RVar y; top[x] = rmax(A[x, y] - B[x, y], y);"
        "f[x] = log(rsum(exp(A[x, y] - B[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        f"top.online(f, y); {TILES}"
    ),
    "a softmax times a mask": (
        "Func f, top, total; In A, M; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        f"total[x] = rsum({E} * M[x, y], y); f[x] = rsum({E} * M[x, y] * A[x, y], y) / total[x];"
        f"top.online(f, y); total.online(f, y); {TILES}"
    ),
    "the entropy of a softmax": (
        f"Func f, top, total, mean; {ROWS} total[x] = rsum({E}, y);"
        f"mean[x] = rsum({E} * (A[x, y] - reshape(top[x], x, 1)), y) / total[x];"
        "f[x] = log(total[x]) - mean[x]; mean.fuse_at(f, x); top.online(mean, y);"
        f"total.online(mean, y); {TILES}"
    ),
    "the divergence of two softmaxes": (
        "Func f, top, other, sum, last; In A, B; Var x; RVar y;"
        "top[x] = rmax(A[x, y], y); other[x] = rmax(B[x, y], y); sum[x] = "
        f"rsum({E}, y); last[x] = rsum(exp(B[x, y] - reshape(other[x], x, 1)), y);"
        f"f[x] = rsum({E} * (A[x, y] - B[x, y]), y) / sum[x] - log(sum[x]) - top[x]"
        "+ log(last[x]) + other[x]; top.online(f, y); sum.online(f, y); other.online(f, y);"
        f"last.online(f, y); {TILES}"
    ),
    "a variance by Welford": (
        f"Func f, mean; {MEAN} f[x] = rsum(pow({D}, 2), y) / (len(y) - 1);"
        f"mean.online(f, y); {TILES}"
    ),
    "a skewness": (
        f"Func f, mean, second; {MEAN} second[x] = rsum({D} * {D}, y) / len(y);"
        f"f[x] = rsum({D} * {D} * {D}, y) / len(y) * pow(rsqrt(second[x]), 3);"
        f"mean.online(f, y); second.online(f, y); {TILES}"
    ),
    "a kurtosis": (
        f"Func f, mean, second; {MEAN} second[x] = rsum(pow({D}, 2), y) / len(y);"
        f"f[x] = rsum(pow(pow({D}, 2), 2), y) / len(y) / pow(second[x], 2) - 3;"
        f"mean.online(f, y); second.online(f, y); {TILES}"
    ),
    "a third central moment": (
        f"Func f, mean; {MEAN} f[x] = rsum(pow({D}, 3), y) / len(y); mean.online(f, y); {TILES}"
    ),
    "two norms of a row in one walk": (
        f"Func f, mean, variance, square; {MEAN} variance[x] = rsum(pow({D}, 2), y) / len(y);"
        "square[x] = rsum(A[x, y] * A[x, y], y) / len(y);"
        f"f[x, y] = {D} * reshape(rsqrt(variance[x] + 0.1), x, 1) + A[x, y] *"
        "reshape(rsqrt(square[x] + 0.1), x, 1); variance.fuse_at(f, x); mean.online(variance, y);"
        f"square.fuse_at(f, x); {TILES}"
    ),
    "a softmax with a sink in parts": (
        f"Func f, top, total; {ROWS.replace('In A', 'In A, s')} "
        f"total[x] = rsum({E}, y) + exp(s[x] - top[x]); f[x] = rsum({E} * A[x, y], y) / total[x];"
        f"top.online(f, y); total.online(f, y); {PARTS}"
    ),
    "a softmax with a bias and a cap": (
        "Func f, s, top; In A, B; Var x; RVar y; s[x, y] = 30 * tanh(A[x, y] / 30) + B[x, y];"
        "top[x] = rmax(s[x, y], y); f[x] = log(rsum(exp(s[x, y] - reshape(top[x], x, 1)), y))"
        f"+ top[x]; s.inline(); top.online(f, y); {TILES}"
    ),
    "a cosine of rows divided by their largest": (
        "Func f, top, own, other; In A, B; Var x; RVar y; top[x] = rmax(abs(A[x, y]), y);"
        "own[x] = rsum(pow(A[x, y] / reshape(top[x], x, 1), 2), y);"
        "other[x] = rsum(B[x, y] * B[x, y], y);"
        "f[x] = rsum(A[x, y] / reshape(top[x], x, 1) * B[x, y], y) * rsqrt(own[x] * other[x]);"
        f"top.online(f, y); own.online(f, y); other.fuse_at(f, x); {TILES}"
    ),
    "quantised rows times a vector": (
        "Func f, top; In A, v; Var x; RVar y; top[x] = rmax(abs(A[x, y]), y);"
        "f[x] = rsum(floor(A[x, y] / reshape(top[x], x, 1) * 127 + 0.5) * v[y], y) * top[x] / 127;"
        f"top.online(f, y); {TILES}"
    ),
    "a contrastive loss": (
        "Func f, s, top; In Q, K; Var x; RVar k, y;"
        "s[x, y] = rdot(Q[x, k], K[y, k], k) * 14.285714;"
        "top[x] = rmax(s[x, y], y); f[x] = log(rsum(exp(s[x, y] - reshape(top[x], x, 1)), y))"
        "+ top[x] - rsum(where(y == x, s[x, y], 0), y);"
        "f.block(x:16); f.tensorize(x:0, y:16, k:0); s.fuse_at(f, y); top.online(f, y);"
        "f.compile();"
    ),
    "a focal loss": (
        f"Func f, loss, top, lse, picked; {ROWS.replace('In A', 'In A, T: i64')}"
        f"lse[x] = log(rsum({E}, y)) + top[x];"
        "picked[x] = rsum(where(y == reshape(T[x], x, 1), A[x, y], 0), y);"
        "f[x] = pow(1 - exp(picked[x] - lse[x]), 2) * (lse[x] - picked[x]);"
        f"lse.fuse_at(f, x); top.online(lse, y); picked.fuse_at(f, x); loss[x] = f[x]; {TILES}"
    )
    .replace("loss, ", "")
    .replace("loss[x] = f[x]; ", ""),
    "an average with weights that sum to one": (
        "Func f, top, total; In A, B; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        f"total[x] = rsum({E}, y); f[x] = rsum({E} * B[x, y], y) / total[x];"
        f"top.online(f, y); total.online(f, y); {PARTS}"
    ),
    "a variance with weights of a softmax": (
        "Func f, top, total, mean, square; In A, B; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        f"total[x] = rsum({E}, y); mean[x] = rsum({E} * B[x, y], y) / total[x];"
        f"square[x] = rsum({E} * B[x, y] * B[x, y], y) / total[x];"
        "f[x] = square[x] - mean[x] * mean[x]; square.fuse_at(f, x); top.online(square, y);"
        f"total.online(square, y); mean.online(square, y); {TILES}"
    ),
    "attention with several values": (
        "Func f, g, scores, top, e, total; In Q, K, V, W; Var x, n; RVar k, y;"
        f"scores[x, y] = {DOT}; top[x] = rmax(scores[x, y], y);"
        "e[x, y] = exp(scores[x, y] - reshape(top[x], x, 1)); total[x] = rsum(e[x, y], y);"
        "g[x, n] = rdot(e[x, y], W[y, n], y);"
        "f[x, n] = (rdot(e[x, y], V[y, n], y) + g[x, n]) / reshape(total[x], x, 1);"
        "f.block(x:16); f.tensorize(x:0, y:16, k:0, n:0); scores.fuse_at(f, y);"
        "top.online(f, y); e.inline(); total.online(f, y); g.online(f, y); f.compile();"
    ),
    "the difference of two attentions": (
        "Func f, s, r, top, other, e, d, one, two, first; In Q, K, P, L, V; Var x, n; RVar k, y;"
        "s[x, y] = rdot(Q[x, k], K[y, k], k); r[x, y] = rdot(P[x, k], L[y, k], k);"
        "top[x] = rmax(s[x, y], y); other[x] = rmax(r[x, y], y);"
        "e[x, y] = exp(s[x, y] - reshape(top[x], x, 1));"
        "d[x, y] = exp(r[x, y] - reshape(other[x], x, 1));"
        "one[x] = rsum(e[x, y], y); two[x] = rsum(d[x, y], y);"
        "first[x, n] = rdot(e[x, y], V[y, n], y);"
        "f[x, n] = first[x, n] / reshape(one[x], x, 1) - 0.5 * rdot(d[x, y], V[y, n], y)"
        "/ reshape(two[x], x, 1); f.block(x:16); f.tensorize(x:0, y:16, k:0, n:0);"
        "s.fuse_at(f, y); r.fuse_at(f, y); top.online(f, y); other.online(f, y); e.inline();"
        "d.inline(); one.online(f, y); two.online(f, y); first.online(f, y); f.compile();"
    ),
    "a frame below the largest": (
        "Func f, top; In A; Var x; RVar y; top[x] = rmax(A[x, y], y) - 3;"
        f"f[x] = log(rsum({E}, y)) + top[x]; top.online(f, y); {TILES}"
    ),
    "a frame below the largest in parts": (
        "Func f, top; In A; Var x; RVar y; top[x] = rmax(A[x, y], y) - 3;"
        f"f[x] = log(rsum({E}, y)) + top[x]; top.online(f, y); {PARTS}"
    ),
    "a fourth central moment in parts": (
        f"Func f, mean; {MEAN} f[x] = rsum(pow({D}, 4), y) / len(y); mean.online(f, y); {PARTS}"
    ),
    "a variance in parts": (
        f"Func f, mean; {MEAN} f[x] = rsum(pow({D}, 2), y) / len(y); mean.online(f, y); {PARTS}"
    ),
    "a window with a sink in parts": attended(
        more=", s", among=" in [x - 63, x + 1)", sink=" + exp(s[x] - top[x])", parts=True
    ),
    "a masked window with a sink in parts": (
        attended(
            scores=f"where(y <= x and x - y < 64, {DOT}, -inf)",
            more=", s",
            sink=" + exp(s[x] - top[x])",
            parts=True,
        )
        .replace("e[x, y] = exp(", "e[x, y] = where(y <= x and x - y < 64, exp(")
        .replace("reshape(top[x], x, 1));", "reshape(top[x], x, 1)), 0);")
    ),
    "a covariance of two rows": (
        "Func f, mean, other; In A, B; Var x; RVar y; mean[x] = rsum(A[x, y], y) / len(y);"
        "other[x] = rsum(B[x, y], y) / len(y);"
        f"f[x] = rsum({D} * (B[x, y] - reshape(other[x], x, 1)), y) / len(y);"
        f"mean.online(f, y); other.online(f, y); {TILES}"
    ),
    "a norm that no square overflows": (
        "Func f, top; In A; Var x; RVar y; top[x] = rmax(abs(A[x, y]), y);"
        "f[x] = top[x] * sqrt(rsum(pow(A[x, y] / reshape(top[x], x, 1), 2), y));"
        f"top.online(f, y); {TILES}"
    ),
    "a log-sum-exp of a base of two": (
        "Func f, top; In A; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        "f[x] = log2(rsum(exp2(A[x, y] - reshape(top[x], x, 1)), y)) + top[x];"
        f"top.online(f, y); {TILES}"
    ),
}
