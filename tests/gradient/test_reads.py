"""Reads turned round: stencils, strides, diagonals, quotients, data, masks, scans, products."""

import pytest
import torch

from dtpoly.diagnostics import DtpolyError
from tests.gradient.comparing import compare, compare_with_differences, derived, given, read

# A definition, what it is by, and sizes of its labels.
FORMS: dict[str, tuple[str, str, dict[str, int]]] = {
    "stencil": (
        "Func f; In A; Var x; f[x] = sin(pad(A, 0)[x - 1]) + A[x] * pad(A, 0)[x + 1];",
        "A",
        {"x": 5},
    ),
    "stride": (
        "Func f; In A, W; Var x; RVar r; f[x] = rsum(A[3 * x + r] * W[r], r);",
        "A, W",
        {"x": 4, "r": 2},
    ),
    "backwards": ("Func f; In A; Var x: 4; f[x] = exp(pad(A, 0)[3 - x]);", "A", {"x": 4}),
    "diagonal": ("Func f; In A; Var x; f[x] = sin(A[x, x]);", "A", {"x": 4}),
    "trace": (
        "Func f; In A; RVar x; f[] = rsum(A[x, x] * A[x, x], x);",
        "A",
        {"x": 3},
    ),
    "transposed": ("Func f; In A; Var x, y; f[y, x] = sin(A[x, y]);", "A", {"x": 3, "y": 4}),
    "both ways": (
        "Func f, t; In A; Var x, y; t[y, x] = A[x, y]; f[x, y] = t[x, y] * sin(A[x, y]);",
        "A",
        {"x": 3, "y": 3},
    ),
    "two names of an axis": (
        "Func f; In A; Var x, y; RVar k; f[x, y] = A[x, y] * rsum(sin(A[x, k]), k);",
        "A",
        {"x": 3, "y": 4, "k": 4},
    ),
    "each index tells a label": (
        "Func f; In A, B; Var x, y; f[x, y] = sin(A[x + y, x]) * B[y, x + 2 * y];",
        "A, B",
        {"x": 3, "y": 4},
    ),
    "a label told by two indices": (
        "Func f; In A, B; Var x, y; f[x, y] = sin(A[x - y + 3, 2 * x + y]) * B[x, y];",
        "A",
        {"x": 3, "y": 4},
    ),
    "neighbours": ("Func f; In A; Var w; f[w] = sin(A[w]) * A[w + 1];", "A", {"w": 4}),
    "neighbours of a Func": (
        "Func f, g; In A; Var x, w; g[x] = sin(A[x]); f[w] = g[w] * g[w + 1] * g[w + 2];",
        "A",
        {"x": 6, "w": 4},
    ),
    "neighbours on both axes": (
        "Func f; In A; Var w, v; f[w, v] = A[w, v] * exp(A[w + 1, v + 1]);",
        "A",
        {"w": 3, "v": 4},
    ),
    "neighbours in a range": (
        "Func f; In A; RVar w in [1, len(w)); f[w] = A[w] * A[w + 1];",
        "A",
        {"w": 4},
    ),
    "halves that change places": (
        "Func f; In A, B; Var x, p: 2; f[x, p] = A[x, p] * B[x, p] + A[x, 1 - p];",
        "A",
        {"x": 3},
    ),
    "strides and sums": (
        "Func f; In A, B; Var x, y; RVar k; f[x, y] = rsum(A[2 * x + k, y + k] * B[x, y], k);",
        "A, B",
        {"x": 3, "y": 4, "k": 3},
    ),
    "broadcast": (
        "Func f; In A, B; Var x, y; f[x, y] = reshape(A[x], x, 1) * exp(B[y]);",
        "A, B",
        {"x": 3, "y": 4},
    ),
    "repeated": ("Func f; In A; Var x, y: 4; f[x, y] = reshape(A[x], x, 1);", "A", {"x": 3}),
    "group": (
        "Func f; In Q, K; Var h, d; f[h, d] = Q[h, d] * K[h // 4, d];",
        "Q, K",
        {"h": 8, "d": 3},
    ),
    "remainder": ("Func f; In A, B; Var x; f[x] = B[x] * A[x % 3];", "A, B", {"x": 7}),
    "rows at data": (
        "Func f; In E, T: i64; Var l, k; f[l, k] = sin(E[T[l], k]);",
        "E",
        {"l": 6, "k": 3},
    ),
    "a promised table with its axes turned": (
        "Func f; In A, B, T: i64 within len(l); Var x, l; f[x, l] = sin(A[x, l]) * B[x, T[l, x]];",
        "A, B",
        {"x": 2, "l": 3},
    ),
    "rows at data, and all": (
        "Func f, g; In E, T: i64; Var l, k; RVar v; g[k] = rsum(E[v, k], v); "
        "f[l, k] = E[T[l], k] * g[k];",
        "E",
        {"l": 6, "k": 3, "v": 4},
    ),
    "data twice": (
        "Func f; In E, T: i64, U: i64; Var l, k; f[l, k] = E[T[l], k] * E[U[l], k];",
        "E",
        {"l": 5, "k": 2},
    ),
    "triangle": (
        "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);",
        "A, B",
        {"m": 4, "n": 3, "k": 4},
    ),
    "segments": (
        "Func f; In X, s: i32; Var b, d; RVar l in [s[b], s[b + 1]); f[b, d] = rsum(X[l, d], l);",
        "X",
        {"b": 3, "d": 2, "l": 5},
    ),
    "largest": ("Func f; In A; Var x; RVar k, l; f[x] = rmax(sin(A[x, k, l]), k, l);", "A", {}),
    "product": ("Func f; In A; Var x; RVar k, l; f[x] = rprod(A[x, k, l], k, l);", "A", {}),
    "list": ("Func f; In A; Var x, j: 3; RVar k; f[x, j] = rtopk(A[x, k], k, j);", "A", {"k": 5}),
    "number": ("Func f; In A; SIn c; Var x; f[x] = sin(A[x] * c) + c;", "A, c", {"x": 4}),
    "scan": (
        "Func f; In A; Var x, t; RVar s; f[x, t] = exp(scan_sum(A[x, s], s, t)) * A[x, t];",
        "A",
        {"x": 2, "t": 4, "s": 4},
    ),
    "scan of products": (
        "Func f; In A; Var x, t; RVar s; f[x, t] = scan_prod(A[x, s], s, t, reverse);",
        "A",
        {"x": 2, "t": 4, "s": 4},
    ),
    "running maximum": (
        "Func f; In A; Var x, t; RVar s; f[x, t] = scan_max(sin(A[x, s]), s, t) * A[x, t];",
        "A",
        {"x": 2, "t": 5, "s": 5},
    ),
    "running minimum before": (
        "Func f; In A; Var x, t; RVar s; "
        "f[x, t] = minimum(scan_min(A[x, s], s, t, before, reverse), 3) * A[x, t];",
        "A",
        {"x": 2, "t": 5, "s": 5},
    ),
    "recurrence": (
        "Func f; In A, B, h; Var x, t; RVar s; "
        "f[x, t] = scan_affine(A[x, s], sin(B[x, s]), s, t, h[x]);",
        "A, B, h",
        {"x": 2, "t": 4, "s": 4},
    ),
    "recurrence before": (
        "Func f; In A, B, h; Var x, t; RVar s; "
        "f[x, t] = scan_affine(A[x, s], B[x, s], s, t, h[x], before, reverse);",
        "A, B, h",
        {"x": 2, "t": 4, "s": 4},
    ),
    "added at places": (
        "Func f into O at [T[s], d] add; In O, T: i64, G; Var s, d; f[s, d] = G[s, d] * G[s, d];",
        "O, G",
        {"s": 5, "d": 2},
    ),
    "added at places of labels, some of which are outside": (
        "Func z, f into z at [k, y] add; In A, B, Z; Var k, y, r: 2, c: 1;"
        "z[r, c] = Z[r, c] * Z[r, c]; f[k, y] = A[k, y] / B[k, y];",
        "Z, A, B",
        {"k": 4, "y": 1},
    ),
    "a smallest one, added at places": (
        "Func z, f into z at [T[s]] add; In T: i64, A, Z; Var s, n; RVar k;"
        "z[n] = Z[n] * Z[n]; f[s] = rmin(A[s, k], k);",
        "Z, A",
        {"s": 5, "k": 3, "n": 4},
    ),
    "sums that begin with a Func": (
        "Func z, f into z at [T[s], d] add; In T: i64, G, Z; Var s, d, n; "
        "z[n, d] = sin(Z[n, d]); f[s, d] = G[s, d] * G[s, d];",
        "Z, G",
        {"s": 5, "d": 2, "n": 4},
    ),
}
SMALL = {"x": 3, "k": 3, "l": 2}


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
def test_form(name: str) -> None:
    text, by, sizes = FORMS[name]
    program = read(f"{text} f.compile();")
    known = {**SMALL, **sizes, **program.fixed}
    known = {one.name: known[one.name] for one in program.labels}
    inputs = given(program, known)
    for table in ("T", "U"):
        is_free = table in inputs and "within" not in text
        if is_free:  # rows that repeat, and some that are outside
            inputs[table] = torch.tensor([2, 0, 2, -1, 7, 1])[: inputs[table].numel()]
    one = derived(program, "f", by)
    compare(program, one, inputs, known)
    compare_with_differences(program, one, inputs, known)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("size", [0, 1])
def test_form_with_no_or_one_index(name: str, size: int) -> None:
    text, by, _ = FORMS[name]
    program = read(f"{text} f.compile();")
    fixed = program.fixed
    known = {one.name: fixed.get(one.name, size) for one in program.labels}
    try:
        inputs = given(program, known)
        one = derived(program, "f", by)
        compare(program, one, inputs, known)
    except DtpolyError as error:
        # A call may be refused that has no room for one index; nothing else may be wrong.
        assert error.diagnostics[0].code in ("DT171", "DT172", "DT173"), error  # noqa: PT017


def test_an_axis_that_no_read_may_overrun_is_refused() -> None:
    """Where `pad` reads at a sum along one axis, it must be inside along the others."""
    program = read("Func f; In A; Var w, v; f[w, v] = A[w, v + 1] * A[w + 1, v]; f.compile();")
    with pytest.raises(DtpolyError) as caught:
        derived(program, "f", "A")
    assert [one.code for one in caught.value.diagnostics] == ["DT274"]


def test_what_a_mask_hides_is_not_divided() -> None:
    """So that a mask still ends the sum: 0 by what may be 0 would be no 0."""
    program = read(
        "Func f, e; In A, T, V; Var x, n; RVar y in [0, x + 1); e[x, y] = exp(A[x, y]);"
        "f[x, n] = rdot(e[x, y], V[y, n], y) / reshape(T[x], x, 1); f.compile();"
    )
    one = derived(program, "f", "V")
    assert "where(x >= y, e[x, y] * (1 / reshape(T[x], x, 1)), 0)" in one.text
    compare(program, one, given(program, {"x": 4, "y": 4, "n": 2}))


def test_many_elements_are_multiplied_by_the_inverse_of_a_row() -> None:
    """A factor that is alike for all of the row is divided, if there is one."""
    program = read(
        "Func f; In A, T; Var x, y; f[x, y] = exp(A[x, y]) / reshape(T[x], x, 1); f.compile();"
    )
    one = derived(program, "f", "A")
    assert "* (1 / reshape(T[x], x, 1))" in one.text
    compare(program, one, given(program, {"x": 4, "y": 3}))
    program = read(
        "Func f; In A, S, T; Var x; RVar y;f[x] = rsum(exp(A[x, y]), y) * S[x] / T[x]; f.compile();"
    )
    one = derived(program, "f", "A")
    assert "/ reshape(T[x], x, 1) * exp_of_A[x, y]" in one.text
    compare(program, one, given(program, {"x": 4, "y": 3}))


def test_each_element_is_divided_by_a_whole_number() -> None:
    """Its inverse would have 32 bits, and what is divided may have 64."""
    program = read(
        "Func f; In A; In T: i64; Var x, y; f[x, y] = A[x, y] / reshape(T[x], x, 1); f.compile();"
    )
    assert "d_f[x, y] / reshape(T[x], x, 1)" in derived(program, "f", "A").text


def test_ties_of_a_maximum_share_equally() -> None:
    program = read("Func f; In A; Var x; RVar k; f[x] = rmax(A[x, k], k); f.compile();")
    tied = torch.tensor([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]]).double()
    compare(program, derived(program, "f", "A"), {"A": tied})


@pytest.mark.parametrize("zeros", [1, 2])
def test_a_product_with_zeros(zeros: int) -> None:
    program = read("Func f; In A; Var x; RVar k; f[x] = rprod(A[x, k], k); f.compile();")
    values = torch.tensor([[2.0, 3.0, 5.0, 7.0]]).double()
    values[0, :zeros] = 0
    compare(program, derived(program, "f", "A"), {"A": values})


def test_several_results() -> None:
    program = read(
        "Func f, g, h; In A; Var x; h[x] = sin(A[x]); g[x] = exp(h[x]); f[x] = g[x] * h[x];"
        "f.compile(g, h);"
    )
    one = derived(program, "f, g, h", "A")
    assert list(one.gradient.given.values()) == ["d_f", "d_g", "d_h"]
    compare(program, one, given(program, {"x": 5}))


def test_the_second_derivative() -> None:
    program = read(
        "Func soft, total; In A; Var x; RVar y;"
        "total[x] = rsum(exp(A[x, y]), y); soft[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);"
        "soft.compile();"
    )
    first = read(derived(program, "soft", "A").text)
    second = derived(first, "d_A", "A, d_soft")
    assert list(second.gradient.results.values()) == ["d_A_2", "d_d_soft"]
    inputs = given(first, {"x": 3, "y": 4})
    compare(first, second, inputs)
    compare_with_differences(first, second, inputs)


@pytest.mark.parametrize(
    "text",
    [
        "In A; Var x; RVar k; f[x, k] = rsum(A[x, k], k);",
        "In A; Var x; RVar k; f[x, k] = rmax(A[x, k], k);",
        "In A; Var x; RVar k; f[x, k] = rprod(A[x, k], k);",
        "In A, T: i64; Var x; RVar k; f[x, k] = rsum(A[T[x], k], k);",
        "In A, B; Var x, y; RVar k; f[x, y, k] = rdot(A[x, k], B[k, y], k);",
        "In A; Var x; RVar k, t; f[x, k, t] = scan_sum(A[x, k], k, t);",
        "In A; Var x, j: 2; RVar k; f[x, k, j] = rtopk(A[x, k], k, j);",
        "In A; Var x; RVar k; f[x, k] = rsum(A[x, k] * rsum(A[x, k], k), k);",
    ],
)
def test_a_label_on_the_left_that_the_definition_reduces(text: str) -> None:
    """The sum is alike for all of the Func's indices, so that it is given what all are."""
    program = read(f"Func f; {text}")
    sizes = {"x": 3, "y": 2, "k": 4, "t": 4}
    sizes = {one.name: one.size or sizes[one.name] for one in program.labels}
    one = derived(program, "f", ", ".join(t.name for t in program.tensors if t.dtype is None))
    compare(program, one, given(program, sizes), sizes)


@pytest.mark.parametrize(
    "text",
    [
        "In X, W; Var b; RVar l; f[b] = rsum(X[b, l] * W[b, l // 2], l);",
        "In X, W; Var b; RVar l; f[b] = rsum(X[b, l] * W[b, 2 * l + 1], l);",
        "In X, W, o: i64; Var b; RVar l in [o[b], o[b + 1]); f[b] = rsum(X[l] * W[l // 2], l);",
        "In X, W, S; Var b, n; RVar l; f[b, n] = rdot(X[b, l], W[n, l] * S[n, l // 2], l);",
    ],
)
def test_an_axis_that_is_read_at_a_quotient_shows_the_size(text: str) -> None:
    program = read(f"Func f; {text}")
    one = derived(program, "f", ", ".join(t.name for t in program.tensors if t.dtype is None))
    for size in (0, 2, 6):
        sizes = {label.name: {"b": 2, "n": 3, "l": size}[label.name] for label in program.labels}
        compare(program, one, given(program, sizes))
