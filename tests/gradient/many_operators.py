"""A table of operators that are in no example: each node of the language in several roles.

Each is an algorithm, its result, and sizes. What is not said is that of most: it is differentiated
by all inputs of floats, and twice.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Listed:
    """An algorithm, and what there is to know of it."""

    text: str
    sizes: dict[str, int] = field(default_factory=dict[str, int])
    of: str = "f"
    by: tuple[str, ...] = ()
    orders: int = 2  # how many times it may be differentiated
    chosen_from: str = ""  # the label of which a place is chosen, so that it may not be empty
    is_smooth: bool = True  # differences at ordinary values know nothing of kinks


def rows(text: str, **said: object) -> Listed:
    """Return an algorithm of matrices A and B, and a row R."""
    used = ", ".join(one for one in "ABR" if f"{one}[" in text)
    words = _words(text)
    number = "SIn s;" if "s" in words else ""
    labels = ", ".join(one for one in ("x", "y", "k", "l") if one in words)
    return Listed(f"Func f; In {used}; {number} RVar {labels}; {text}", **said)  # type: ignore[arg-type]


def _words(text: str) -> list[str]:
    return "".join(one if one.isalnum() else " " for one in text).split()


OPERATORS: dict[str, Listed] = {
    # Elementwise, one function in the other.
    "softplus": rows("f[x, y] = log(1 + exp(A[x, y]));"),
    "mish": rows("f[x, y] = A[x, y] * tanh(log(1 + exp(A[x, y])));"),
    "gelu": rows("f[x, y] = A[x, y] * (1 + erf(A[x, y] * rsqrt(2))) / 2;"),
    "elu": rows("f[x, y] = where(A[x, y] > 0, A[x, y], exp(A[x, y]) - 1);"),
    "leaky": rows("f[x, y] = maximum(A[x, y], 0.1 * A[x, y]);"),
    "hard_swish": rows("f[x, y] = A[x, y] * clamp(A[x, y] / 6 + 0.5, 0, 1);"),
    "huber": rows("f[x, y] = where(abs(A[x, y]) < 1, A[x, y] * A[x, y] / 2, abs(A[x, y]) - 0.5);"),
    "snake": rows("f[x, y] = A[x, y] + pow(sin(R[y] * A[x, y]), 2) / (1 + R[y] * R[y]);"),
    "two_to_the": rows("f[x, y] = exp2(A[x, y]) + log2(2 + sin(B[x, y]));"),
    "roots": rows("f[x, y] = sqrt(2 + sin(A[x, y])) * rsqrt(3 + cos(B[x, y]));"),
    "powers": rows("f[x, y] = pow(2 + sin(A[x, y]), B[x, y]) + pow(A[x, y], 3);"),
    "a_power_of_a_number": rows("f[x, y] = pow(1 + s * s, A[x, y]) * s;"),
    "quotients": rows(
        "f[x, y] = div_rn(A[x, y], 3 + sin(B[x, y])) + fdiv(R[y], 2 + cos(A[x, y]));"
    ),
    "remainder": rows("f[x, y] = A[x, y] % (2.5 + sigmoid(B[x, y]));"),
    "fused_multiply": rows("f[x, y] = fma(A[x, y], B[x, y], fma(R[y], A[x, y], s));"),
    "largest_of_many": rows(
        "f[x, y] = maximum(maximum(maximum(A[x, y], B[x, y]), R[y]), abs(A[x, y]) - s);", orders=1
    ),
    "swapped_halves": rows("f[x, y] = maximum(A[x, y], B[x, y]) - minimum(A[x, y], B[x, y]);"),
    "rounded_parts": rows("f[x, y] = (A[x, y] - floor(A[x, y])) * (ceil(B[x, y]) - B[x, y]);"),
    "nearest": rows("f[x, y] = (A[x, y] - round(A[x, y])) * (A[x, y] - trunc(A[x, y]));"),
    "conditions": rows(
        "f[x, y] = where(A[x, y] < B[x, y] and not A[x, y] < 0 or B[x, y] > 1, A[x, y], R[y]);"
    ),
    "by_index": rows("f[x, y] = where(x <= y, A[x, y] * x, A[x, y] / (1 + len(y)));"),
    "every_second": rows("f[x, y] = where((x + y) % 2 == 0, sin(A[x, y]), cos(A[x, y]));"),
    "cast_twice": rows("f[x, y] = cast(A[x, y], f64) * cast(cast(B[x, y], i64), f64);"),
    # Sums, products and extremes.
    "mean": rows("f[x] = rsum(A[x, k], k) / (1 + len(k));"),
    "norm_of_rows": rows("f[x] = sqrt(rsum(A[x, k] * A[x, k], k) + 1);"),
    "all_of_it": rows("f[] = rsum(A[k, l] * A[k, l], k, l);"),
    "product_of_rows": rows("f[x] = rprod(A[x, k], k);"),
    "log_sum": rows("f[x] = log(rsum(exp(A[x, k] - rmax(A[x, l], l)), k)) + rmax(A[x, l], l);"),
    "largest": rows("f[x] = rmax(A[x, k], k) - rmin(A[x, k], k);"),
    "smallest_of_two": rows("f[x] = rmin(maximum(A[x, k], B[x, k]), k);"),
    "moments": rows(
        "f[x] = rsum(pow(A[x, k] - rsum(A[x, l], l) / (1 + len(l)), 3), k) / (1 + len(k));"
    ),
    "which_are_positive": rows("f[x] = rsum(where(A[x, k] > 0, B[x, k], 0), k);"),
    "any_is_positive": rows("f[x, y] = where(rany(A[x, k] > 1, k), A[x, y], B[x, y]);"),
    "all_are_small": rows("f[x, y] = where(rall(A[x, k] < 1, k), A[x, y] * R[y], R[y]);"),
    "standardized": rows(
        "f[x, y] = (A[x, y] - rsum(A[x, k], k) / (1 + len(k)))"
        " * rsqrt(rsum(A[x, l] * A[x, l], l) + 0.5);"
    ),
    # Products of matrices.
    "gram": rows("f[x, y] = rdot(A[x, k], A[y, k], k);"),
    "bilinear": Listed(
        "Func f; In A, W, B; Var x; RVar k, l;"
        "f[x] = rsum(reshape(A[x, k], x, k, 1) * W[k, l] * reshape(B[x, l], x, 1, l), k, l);"
    ),
    "product_over_two": Listed(
        "Func f; In A, B; Var x, y; RVar k, l; f[x, y] = rdot(A[x, k, l], B[y, l, k], k, l);"
    ),
    "batched": Listed(
        "Func f; In A, B; Var b, x, y; RVar k; f[b, x, y] = rdot(A[b, x, k], B[b, k, y], k);"
    ),
    "masked_product": rows("f[x, y] = rdot(where(k <= x, A[x, k], 0), B[k, y], k);"),
    "product_of_functions": rows("f[x, y] = rdot(sigmoid(A[x, k]) * R[k], tanh(B[k, y]), k);"),
    "two_layers": Listed(
        "Func f, h; In A, V, W; Var x, y, z; RVar k, l;"
        "h[x, z] = maximum(rdot(A[x, k], V[k, z], k), 0); f[x, y] = rdot(h[x, l], W[l, y], l);",
        {"x": 3, "y": 2, "z": 4, "k": 3, "l": 4},
    ),
    # Reads at other places.
    "turned": Listed(
        "Func f, g; In A, B; Var x, y; g[x, y] = A[y, x]; f[x, y] = g[x, y] * B[x, y] * g[x, y];"
    ),
    "diagonal": rows("f[x] = A[x, x] * R[x];"),
    "differences": Listed("Func f; In A; Var x; f[x] = A[x + 1] - 2 * A[x];"),
    "convolved": Listed("Func f; In A, W; Var h; RVar r: 3; f[h] = rsum(A[h + r] * W[r], r);"),
    "strided": Listed("Func f; In A; Var h; RVar r: 2; f[h] = rsum(pow(A[2 * h + r], 2), r);"),
    "dilated": Listed("Func f; In A; Var h; RVar r: 2; f[h] = rprod(1 + A[h + 2 * r], r);"),
    "same_size": Listed(
        "Func f; In A, W; Var h, c; RVar r: 3; f[h, c] = rsum(pad(A, 0)[h + r - 1, c] * W[r], r);",
        {"h": 4, "c": 2},
    ),
    "pool": Listed(
        "Func f; In A; Var h, c; RVar r: 2; f[h, c] = rmax(pad(A, -1)[2 * h + r - 1, c], r);",
        {"h": 3, "c": 2},
    ),
    "repeated_rows": Listed("Func f; In A, B; Var x, y; f[x, y] = A[x // 2, y] * B[x, y];"),
    "around": Listed("Func f; In A, B; Var x, y; f[x, y] = A[x % 3, y] + sin(B[x, y]);"),
    "gathered": Listed("Func f; In E, T: i64; Var l, k; f[l, k] = E[T[l], k] * E[T[l], k];"),
    "promised": Listed(
        "Func f; In E, T: i64 within len(v), B; Var l, k, v; f[l, k] = E[T[l], k] * B[l, k];"
    ),
    "two_tables": Listed(
        "Func f; In E, T: i64, U: i64; Var l, k; f[l, k] = pad(E, 0.5)[T[U[l]], k];"
    ),
    "at_the_largest": Listed(
        "Func f; In A, W; Var l, n; RVar e; f[l, n] = W[rargmax(A[l, e], e), n] * A[l, n];",
        by=("W", "A"),
        chosen_from="e",
    ),
    "ranges_from_data": Listed(
        "Func f; In X, o: i64; Var b, d; RVar l in [o[b], o[b + 1]);"
        "f[b, d] = rsum(X[l, d] * X[l, d], l);",
        {"b": 3, "d": 2, "l": 5},
    ),
    "triangle": Listed(
        "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);"
    ),
    "band": Listed(
        "Func f; In A; Var m; RVar k in [m - 1, m + 2); f[m] = rmax(A[m, k], k);", orders=1
    ),
    # Scans and lists.
    "running_sum": Listed("Func f; In A; Var x, t; RVar s; f[x, t] = scan_sum(A[x, s], s, t);"),
    "running_mean": Listed(
        "Func f; In A; Var x, t; RVar s; f[x, t] = scan_sum(sin(A[x, s]), s, t) / (1 + t);"
    ),
    "running_product": Listed(
        "Func f; In A; Var x, t; RVar s; f[x, t] = scan_prod(1 + 0.5 * A[x, s], s, t, reverse);"
    ),
    "running_maximum": Listed(
        "Func f; In A; Var x, t; RVar s; f[x, t] = maximum(scan_max(A[x, s], s, t, before), -9);",
        orders=1,
    ),
    "states": Listed(
        "Func f; In D, B, h; Var x, t; RVar s;"
        "f[x, t] = scan_affine(sigmoid(D[x, s]), B[x, s], s, t, h[x]);"
    ),
    "states_before": Listed(
        "Func f; In D, B; Var x, t; RVar s;"
        "f[x, t] = scan_affine(D[x, s], B[x, s], s, t, 0.5, before, reverse);"
    ),
    "two_largest": Listed(
        "Func f; In A; Var x, j: 2; RVar k; f[x, j] = maximum(rtopk(A[x, k], k, j), -3);", orders=1
    ),
    "largest_of_a_range": Listed(
        "Func f; In A; Var x, j: 2; RVar k in [0, x + 1);"
        "f[x, j] = maximum(rtopk(A[x, k], k, j), -3);",
        orders=1,
    ),
    "share_of_the_largest": Listed(
        "Func f, v; In A; Var x, j: 2; RVar k, i: 2; v[x, j] = sigmoid(rtopk(A[x, k], k, j));"
        "f[x, j] = v[x, j] / rsum(v[x, i], i);",
        orders=1,
    ),
    # Numbers that are drawn, places, and several Funcs.
    "dropped": Listed(
        "Func f; In A; SIn seed: i64, p; Var x, y;"
        "f[x, y] = where(random(seed, x, y) < 0.5, 0, A[x, y] / (1 - p / 3));"
    ),
    "noisy": Listed(
        "Func f; In A; SIn seed: i64; Var x, y; f[x, y] = A[x, y] * random(seed, x, y);"
    ),
    "bits": Listed(
        "Func f; In A; SIn seed: i64; Var x;"
        "f[x] = where((random_bits(seed, x) & 3) == 1, A[x], sin(A[x]));"
    ),
    "added_at_places": Listed(
        "Func z, f into z at [T[l], k] add; In T: i64 within len(v), A, Z; Var l, k, v;"
        "z[v, k] = Z[v, k]; f[l, k] = A[l, k] * A[l, k];",
        {"l": 4, "k": 2, "v": 3},
    ),
    "packed_weights": Listed(
        "Func f; In A, S, W: u4 packed k; Var x, y; RVar k;"
        "f[x, y] = rsum(A[x, k] * W[y, k] * S[k], k);",
        {"x": 2, "y": 3, "k": 4},
    ),
    "soft_rows": Listed(
        "Func f, top, total; In A; SIn heat; Var x, y; RVar k; top[x] = rmax(A[x, k], k);"
        "total[x] = rsum(exp(heat * (A[x, k] - reshape(top[x], x, 1))), k);"
        "f[x, y] = exp(heat * (A[x, y] - reshape(top[x], x, 1))) / reshape(total[x], x, 1);"
    ),
    "dropped_weights": Listed(
        "Func f, e; In Q, K, V; SIn seed: i64, p; Var m, n; RVar l in [0, m + 1), k;"
        "e[m, l] = exp(rdot(Q[m, k], K[l, k], k));"
        "f[m, n] = rdot(where(random(seed, m, l) < 0.5, 0, e[m, l] / (2 + p * p)), V[l, n], l)"
        " / (1 + reshape(rsum(e[m, l], l), m, 1));"
    ),
    "decayed": Listed(
        "Func f, num, den; In K, V, D; Var t, c; RVar s;"
        "num[t, c] = scan_affine(sigmoid(D[c]), exp(K[s, c]) * V[s, c], s, t, 0);"
        "den[t, c] = scan_affine(sigmoid(D[c]), exp(K[s, c]), s, t, 1);"
        "f[t, c] = num[t, c] / den[t, c];"
    ),
    "contrast": Listed(
        "Func f, s; In A, B; Var x, y; RVar k, l; s[x, y] = rdot(A[x, k], B[y, k], k);"
        "f[x] = log(rsum(exp(s[x, l]), l)) - s[x, x];"
    ),
}
