"""Derived texts are written as a person would write them."""

import pytest

from dtpoly.algorithm.program import Func
from dtpoly.algorithm.show import show_definition
from tests.gradient.comparing import Derived, compare, derived, given, read

SIZES = {"x": 4, "y": 3, "k": 3, "l": 4, "m": 4, "n": 4, "t": 4, "s": 4, "c": 3, "d": 2}


def derive(text: str, by: str, of: str = "f") -> Derived:
    """Derive a gradient, and compare it with torch's."""
    program = read(text)
    one = derived(program, of, by)
    sizes = {label.name: SIZES[label.name] for label in program.labels if not label.size}
    compare(program, one, given(program, sizes | program.fixed), sizes)
    return one


def definition(one: Derived, name: str) -> str:
    return show_definition(one.program.func(name))


def names(one: Derived) -> set[str]:
    return {func.name for func in one.program.funcs}


@pytest.mark.parametrize(
    ("text", "by", "wanted"),
    [
        # Like terms are one.
        ("Func f; In A; Var x; f[x] = A[x] * A[x];", "A", "d_A[x] = 2 * d_f[x] * A[x];"),
        (
            "Func f; In A, B; Var x; f[x] = A[x] * B[x] - 3 * B[x] * A[x];",
            "A",
            "d_A[x] = -2 * d_f[x] * B[x];",
        ),
        # What cancels is not there.
        (
            "Func f; In A, B; Var x; f[x] = A[x] * B[x] + B[x] - A[x] * B[x];",
            "A",
            "d_A[x] = 0.0;",
        ),
        # Two choices by the same condition are one.
        (
            "Func f; In A, B; Var x; f[x] = where(B[x] > 0, A[x] * B[x], -A[x]);",
            "A",
            "d_A[x] = where(B[x] > 0, d_f[x] * B[x], -d_f[x]);",
        ),
        # A number of the call does not stand above and below.
        (
            "Func f; In A; SIn s; Var x; f[x] = -s * log(2 + A[x] / s);",
            "A",
            "d_A[x] = -d_f[x] / (2 + A[x] / s);",
        ),
        # A mask that a sum does not go over stands outside of it, and the rest is a product.
        (
            "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);",
            "A",
            "d_A[m, k] = where(m >= k, rdot(d_f[m, n], B[k, n], n), 0);",
        ),
        (
            "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);",
            "B",
            "d_B[k, n] = rdot(d_f[m, n], where(m >= k, A[m, k], 0), m);",
        ),
    ],
)
def test_definitions(text: str, by: str, wanted: str) -> None:
    assert definition(derive(text, by), f"d_{by}") == wanted


def test_names_that_only_rename_are_left_out() -> None:
    one = derive(
        "Func f; In A, W, B; Var x, y; RVar k;"
        "f[x, y] = rsum(pad(A, 0)[x + k - 1, y] * W[k, y], k) + B[y];",
        "A, W, B",
    )
    assert names(one) == {"d_A", "d_W", "d_B"}


def test_factors_of_a_recurrence_are_read_where_they_are() -> None:
    one = derive(
        "Func f; In D, B; Var t, c; RVar s; f[t, c] = scan_affine(D[c], B[s, c], s, t, 0);", "D, B"
    )
    assert "scan_affine(D[c], d_f[t, c], t, s, 0, reverse)" in definition(one, "d_f_states")
    one = derive("Func f; In D, B; Var t; RVar s; f[t] = scan_affine(D[s], B[s], s, t, 0);", "D, B")
    assert "scan_affine(pad(D, 0)[t + 1], d_f[t]" in definition(one, "d_f_states")


def test_what_a_row_has_is_divided_once() -> None:
    one = derive(
        "Func f; In A; Var x, y; RVar k;"
        "f[x, y] = A[x, y] * rsqrt(1 + rsum(A[x, k] * A[x, k], k) / len(k));",
        "A",
    )
    assert "/ len(k), x, 1) * A[x, k]" in definition(one, "d_A")


def test_a_maximum_of_many_grows_by_its_operands() -> None:
    def size(count: int) -> int:
        every = [chr(ord("A") + at) for at in range(count)]
        body = f"{every[0]}[x]"
        for one in every[1:]:
            body = f"maximum({body}, {one}[x])"
        return len(derive(f"Func f; In {', '.join(every)}; Var x; f[x] = {body};", "A").text)

    assert size(8) < 4 * size(4)


def test_attention_with_dropout_has_products_of_matrices() -> None:
    one = derive(
        """
        Func f, s, e, total; In Q, K, V; SIn seed: i64, p; Var m, n; RVar l in [0, m + 1), k;
        s[m, l] = rdot(Q[m, k], K[l, k], k);
        e[m, l] = exp(s[m, l]);
        total[m] = rsum(e[m, l], l);
        f[m, n] = rdot(where(random(seed, m, l) < p, 0, e[m, l] / (1 - p)), V[l, n], l)
            / reshape(total[m], m, 1);
        """,
        "Q, K, V",
    )
    every = [definition(one, f"d_{name}") for name in ("Q", "K", "V", "e")]
    assert all("rdot(" in text for text in every)
    assert not any("reshape(d_" in text for text in every[:3])


def test_what_several_read_has_a_name() -> None:
    one = derive(
        "Func v, f; In A; Var x; RVar k;"
        "v[x] = rsum(pow(A[x, k] - rsum(A[x, l], l) / len(k), 2), k) / len(k);"
        "f[x] = pow(v[x] + 1, 1.5) * v[x];".replace("RVar k;", "RVar k, l;"),
        "A",
        "f, v",
    )
    assert "d_v_all" in names(one)
    assert isinstance(one.program.func("d_v_all"), Func)
    assert definition(one, "d_A").count("pow(v[x]") == 0


def test_a_text_without_rules_has_no_heading_for_them() -> None:
    one = derive("Func f; In A; Var x; f[x] = pad(A, 1)[x + 1];", "A")
    assert "The rules" not in one.text


def test_lists_over_a_range() -> None:
    one = derive(
        "Func f; In A; Var x, j: 2; RVar k in [0, x + 1);"
        "f[x, j] = maximum(rtopk(A[x, k], k, j), -3);",
        "A",
    )
    assert "rtopk(where(x >= k, A[x, k], -inf), k, j)" in one.text
