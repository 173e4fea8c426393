"""Algorithms of the kinds that users write, as texts in which names and types may be changed.

`@A` stands for the dtype of an input: nothing, or `: f16`. `^x` stands for the size of a label.
"""

KNOWN = (
    "Func f, t; In A@A; Var x^x; RVar y^y; t[x] = rsum(exp(A[x, y]), y);"
    " f[x, y] = exp(A[x, y]) / reshape(t[x], x, 1);",
    "Func f, t, m; In A@A; Var x^x; RVar y^y; m[x] = rmax(A[x, y], y);"
    " t[x] = rsum(exp(A[x, y] - reshape(m[x], x, 1)), y);"
    " f[x, y] = exp(A[x, y] - reshape(m[x], x, 1)) / reshape(t[x], x, 1);",
    "Func f; In A@A, B@B; Var m^m, n^n; RVar k^k; f[m, n] = rdot(A[m, k], B[k, n], k);",
    "Func f; In A@A, B@B; SIn alpha; Var m^m, n^n; RVar k^k;"
    " f[m, n] = maximum(alpha * rdot(A[m, k], B[n, k], k), 0);",
    "Func f, g; In A@A, B@B, C@C; Var m^m, n^n; RVar k^k, l^l;"
    " g[m, l] = rdot(A[m, k], B[k, l], k); f[m, n] = rdot(g[m, l], C[l, n], l);",
    "Func f; In P@A, Q@B; Var b^b, m^m, n^n; RVar k^k;"
    " f[b, m, n] = rdot(P[b, m, k], Q[b, n, k], k);",
    "Func f, s, t, e, z; In Q@A, K@B, V@C; Var m^m, n^n; RVar k^k, l^l;"
    " s[m, l] = rdot(Q[m, k], K[l, k], k) / sqrt(len(k)); t[m] = rmax(s[m, l], l);"
    " e[m, l] = exp(s[m, l] - reshape(t[m], m, 1)); z[m] = rsum(e[m, l], l);"
    " f[m, n] = rdot(e[m, l], V[l, n], l) / reshape(z[m], m, 1);",
    "Func f, s, e; In Q@A, K@B, V@C; Var b^b, m^m, n^n; RVar k^k, l^l;"
    " s[b, m, l] = where(l <= m, rdot(Q[b, m, k], K[b, l, k], k), -inf);"
    " e[b, m, l] = exp(s[b, m, l] - reshape(rmax(s[b, m, l], l), b, m, 1));"
    " f[b, m, n] = rdot(e[b, m, l], V[b, l, n], l) / reshape(rsum(e[b, m, l], l), b, m, 1);",
    "Func f, u, v; In X@A, W@B, B@C; SIn eps; Var x^x; RVar y^y; u[x] = rsum(X[x, y], y) / len(y);"
    " v[x] = rsum(pow(X[x, y] - reshape(u[x], x, 1), 2), y) / len(y);"
    " f[x, y] = (X[x, y] - reshape(u[x], x, 1)) * reshape(rsqrt(v[x] + eps), x, 1) * W[y] + B[y];",
    "Func f; In X@A, W@B; SIn eps; Var x^x, y^y; RVar k^k;"
    " f[x, y] = X[x, y] * rsqrt(rsum(pow(X[x, k], 2), k) / len(y) + eps) * W[y];",
    "Func f; In A@A; Var x^x; RVar k^k; f[x] = rsum(A[x, k], k);",
    "Func f; In A@A; Var y^y; RVar x^x; f[y] = rsum(A[x, y], x) / len(x);",
    "Func f; In A@A; RVar k^k, l^l; f[] = rsum(A[k, l], k, l);",
    "Func f, d; In P@A, Q@B; RVar x^x, y^y; d[x] = 0.5 * rsum(abs(P[x, y] - Q[x, y]), y);"
    " f[] = rsum(d[x], x) / len(x);",
    "Func f; In A@A; Var x^x; RVar y^y; f[x] = rargmax(A[x, y], y);",
    "Func f; In A@A; Var x^x; RVar y^y; f[x] = rmax(A[x, y], y) - rmin(A[x, y], y);",
    "Func f, l, m, z, p; In L@A, T: i64; RVar x^x, y^y; m[x] = rmax(L[x, y], y);"
    " z[x] = rsum(exp(L[x, y] - reshape(m[x], x, 1)), y);"
    " p[x] = rsum(where(y == reshape(T[x], x, 1), L[x, y], 0), y);"
    " l[x] = log(z[x]) + m[x] - p[x]; f[] = rsum(l[x], x) / len(x);",
    "Func f; In A@A, W@B; Var b^b, h^h, w^w, o^o; RVar r^r, s^s, c^c;"
    " f[b, h, w, o] = rdot(A[b, h + r, w + s, c], W[o, r, s, c], r, s, c);",
    "Func f; In A@A, W@B; Var b^b, h^h, w^w, o^o; RVar r^r, s^s, c^c;"
    " f[b, o, h, w] = rdot(A[b, c, 2 * h + r, 2 * w + s], W[o, c, r, s], c, r, s);",
    "Func f; In A@A, W@B; Var b^b, o^o, h^h, w^w; RVar r^r, s^s, c^c;"
    " f[b, o, h, w] = rdot(pad(A, 0)[b, c, h + r - 1, w + s - 1], W[o, c, r, s], c, r, s);",
    "Func f; In A@A; Var b^b, h^h, w^w; RVar r^3, s^3;"
    " f[b, h, w] = rmax(A[b, 2 * h + r, 2 * w + s], r, s);",
    "Func f; In A@A; Var b^b, h^h, w^w; RVar r^3, s^3;"
    " f[b, h, w] = rsum(pad(A, 0)[b, 2 * h + r - 1, 2 * w + s - 1], r, s) / (len(r) * len(s));",
    "Func f; In A@A, W@B; Var x^x; RVar r^r; f[x] = rsum(A[x + r] * W[r], r);",
    "Func f; In S@A; Var x^x; f[x] = (pad(S, 0)[x - 1] + S[x] + pad(S, 0)[x + 1]) / 3;",
    "Func f, g; In S@A; Var x^x; g[x] = S[x] * 2;"
    " f[x] = pad(g, 0)[x - 1] - 2 * g[x] + pad(g, 0)[x + 1];",
    "Func f; In A@A; Var x^x, y^y; f[x, y] = pad(A, 0)[x - 1, y] + pad(A, 0)[x + 1, y]"
    " + pad(A, 0)[x, y - 1] + pad(A, 0)[x, y + 1] - 4 * pad(A, 0)[x, y];",
    "Func f; In S@A; Var m^m, l^l; f[m, l] = where(l <= m, S[m, l], -inf);",
    "Func f; In A@A; Var x^x, y^y; f[x, y] = A[y, x];",
    "Func f, g; In A@A; Var x^x, y^y; g[x, y] = A[y, x] + 1.0; f[x, y] = g[x, y] * g[x, y];",
    "Func f; In A@A, B@B; Var x^x, y^y; f[x, y] = A[x, y] * sigmoid(A[x, y]) * B[x, y];",
    "Func f; In A@A; Var x^x, y^y; f[x, y] = 0.5 * A[x, y] * (1 + erf(A[x, y] / sqrt(2)));",
    "Func f, a, b, c; In A@A; Var x^x, y^y; a[x, y] = exp(A[x, y]); b[x, y] = a[x, y] * 2;"
    " c[x, y] = a[x, y] + 1; f[x, y] = b[x, y] * c[x, y] - a[x, y];",
    "Func f; In A@A; Var x^x; RVar y^y; f[x] = rany(A[x, y] > 1, y) and not rall(A[x, y] < 0, y);",
    "Func f; In A: i32, B: i32; Var x^x; RVar y^y; f[x] = rsum(A[x, y] * B[x, y] % 7, y);",
    "Func f; In A: u8; SIn scale; Var x^x, y^y; f[x, y] = cast(A[x, y], f32) * scale - 128;",
    "Func f, h, g; In X@A, U@B, V@C; Var m^m, n^n; RVar k^k, l^l;"
    " h[m, l] = rdot(X[m, k], U[k, l], k); g[m, l] = h[m, l] * sigmoid(h[m, l]);"
    " f[m, n] = rdot(g[m, l], V[l, n], l);",
    "Func f; In X@A, G@B; Var b^b, c^c; RVar h^h, w^w;"
    " f[b, c] = rsum(X[b, c, h, w], h, w) / (len(h) * len(w)) * G[c];",
    "Func f; Var x^x, y^y; f[x, y] = where(x == y, 1.0, 0.0);",
    "Func f; In A@A; Var x^x, y^y; f[x, y] = sin(A[x] * exp(-y / 16));",
    "Func f; In A@A, I@B; Var x^x, y^y; RVar k^k;"
    " f[x, y] = rsum(where(k <= y, A[x, k], 0), k) + I[y];",
)
