"""Ranges of labels: how they are read, printed and laid out, and which conditions they give."""

import pytest

from dtpoly.algorithm.expressions import Affine, Dot, Reduce, SizedIndex
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import check, load
from dtpoly.frontend.format import format_source
from dtpoly.poly.lift import lift
from dtpoly.source import Source

HEAD = "Func f; In A; Var m, n; "


def read(ranges: str, body: str = "f[m] = rsum(A[m, k], k); f.compile();") -> Program:
    return load(Source("ranges.dt", f"{HEAD.replace(', n', '')}{ranges} {body}"))


def text(ranges: str) -> str:
    (line,) = (one for one in show(read(ranges)).splitlines() if one.startswith("RVar"))
    return line


@pytest.mark.parametrize(
    "ranges",
    [
        "RVar k in [0, m + 1);",
        "RVar k in [m, len(k));",
        "RVar k in [2 * m - 3, -m + len(m));",
        "RVar k: 64 in [-m + 5, 2 * len(k) - 1);",
        "RVar k in [3, 7);",
    ],
)
def test_what_is_printed_reads_the_same(ranges: str) -> None:
    assert text(ranges) == ranges
    program = read(ranges)
    assert load(Source("again.dt", show(program))) == program


def test_conditions() -> None:
    body = read("RVar k in [m - 2, len(m) - m);").func("f").body
    assert isinstance(body, Reduce)
    start = SizedIndex(Affine((("k", 1), ("m", -1)), 2))
    stop = SizedIndex(Affine((("m", -1), ("k", -1)), -1), Affine((("m", 1),)))
    assert body.when == (start, stop)


def test_what_always_holds_is_no_condition() -> None:
    body = read("RVar k in [0, len(k));").func("f").body
    assert isinstance(body, Reduce)
    assert body.when == ()


def test_ends_may_be_sums_in_any_form() -> None:
    one = read("RVar k in [0, m + 1);").func("f").body
    two = read("RVar k in [1 - 1, -(-m - 2) * 1 - 1);").func("f").body
    assert one == two


def test_a_func_has_the_conditions_of_its_labels() -> None:
    source = "Func f; In A; Var m, n in [m - 1, m + 1); f[m, n] = A[m, n]; f.compile();"
    assert len(load(Source("f.dt", source)).func("f").when) == 2


def test_the_layout_has_a_space_before_the_bracket() -> None:
    source = Source("f.dt", "RVar   k:4  in[ 0,m+1 )  ,l;\n")
    assert format_source(source) == "RVar k: 4 in [0, m + 1), l;\n"


@pytest.mark.parametrize(
    ("ranges", "code", "words"),
    [
        ("RVar k in [0, m];", "DT111", "its stop, m + 1, is not in it"),
        ("RVar k in (0, m);", "DT111", "'[' expected here"),
        ("RVar k in [0, m;", "DT107", "close it with ')'"),
        ("RVar k in [0);", "DT111", "',' or ')' expected here"),
        ("RVar k in [0, k);", "DT215", "depends on 'k' itself"),
        ("RVar k in [m, m);", "DT216", "has no index"),
        ("RVar k: 4 in [4, m);", "DT216", "has no index"),
        ("RVar k in [0, -m * 0);", "DT216", "has no index"),
        ("RVar k in [0, k * len(m));", "DT135", "not affine"),
        ("RVar k in [0, A[m, m]);", "DT237", "an end of a range is a whole number"),
        ("RVar k in [0, m / 2);", "DT135", "not affine"),
        ("RVar k in [0, 1.5);", "DT136", "whole number"),
        ("RVar k in [0, z);", "DT120", "unknown name 'z'"),
        ("RVar k in [0, f);", "DT135", "cannot stand in an index"),
        ("RVar k in [0, 99999999999);", "DT131", "too large"),
    ],
)
def test_misuse(ranges: str, code: str, words: str) -> None:
    source = Source(
        "wrong.dt", f"Func f; In A; Var m; {ranges} f[m] = rsum(A[m, k], k);f.compile();"
    )
    found = check(source).diagnostics
    mine = [one for one in found if one.code == code]
    assert mine, found
    said = " ".join(f"{one.title} {one.label} {one.hint}" for one in mine)
    assert words in said


@pytest.mark.parametrize(
    "end",
    [
        "cu[seq[m]]",
        "cu[seq[m] // 2 + 1]",
        "2 * cu[seq[cu[m]] + 1] - m",
        "maximum(cu[m], minimum(seq[m], len(k)))",
        "where(m < cu[m + 1] - cu[m], cu[m] + m, 0)",
        "where(not (m < 3 and cu[m] > 1 or m == seq[m]), cu[m], m)",
        "cu[where(seq[m] < 3, seq[m], 0)]",
    ],
)
def test_an_end_may_be_data_of_two_levels_or_chosen(end: str) -> None:
    declared = f"Func f; In A, cu: i32, seq: i8; Var m; RVar k in [0, {end});"
    assert check(Source("f.dt", f"{declared} f[m] = rsum(A[k], k); f.compile();")).program


@pytest.mark.parametrize(
    ("end", "words"),
    [
        ("cu[m] < 3", "cannot be an end"),
        ("where(cu[m], 1, 2)", "cannot be an end"),
        ("where(A[m] < 3, cu[m], 0)", "is a whole number, and 'A' has no dtype"),
        ("where(cu[m] < 0.5, 1, 2)", "cannot be an end"),
        ("where(cu[m] < 3, 1, F[m])", "'F' has the dtype f32"),
        ("cu[A[m]]", "'A' has no dtype"),
        ("cu[g[m]]", "'g' is a Func"),
        ("cu[rargmax(B[m, j], j)]", "cannot be an end"),
        ("pad(cu, 0)[seq[m]]", "cannot be an end"),
        ("cu[seq[m]] // 2", "cannot be an end"),
    ],
)
def test_what_no_end_can_be(end: str, words: str) -> None:
    declared = f"Func f, g; In A, B, F: f32, cu: i32, seq: i8; Var m; RVar j, k in [0, {end});"
    source = f"{declared} g[m] = cu[m]; f[m] = rsum(A[k], k) + g[m] + B[m, 0]; f.compile();"
    found = [one for one in check(Source("f.dt", source)).diagnostics if one.code == "DT237"]
    assert found
    assert words in " ".join(f"{one.title} {one.label}" for one in found)


def test_a_word_of_the_language_is_no_name_in_a_declaration() -> None:
    found = check(Source("f.dt", "Func and; In A[or]; Var not;")).diagnostics
    assert "DT115" in {one.code for one in found}


def test_a_label_that_a_range_names_may_be_bound_around_or_beside() -> None:
    body = "f[m] = rsum(rsum(A[m, k], k), n) + rsum(A[k, n], k, n); f.compile();"
    source = f"Func f; In A; Var m; RVar n, k in [0, n + 1); {body}"
    assert check(Source("f.dt", source)).program is not None


def test_a_label_that_is_bound_only_inside_is_missing() -> None:
    body = "f[m] = rsum(rsum(A[m, k], n), k); f.compile();"
    source = f"Func f; In A; Var m; RVar n, k in [0, n + 1); {body}"
    assert "DT215" in {one.code for one in check(Source("f.dt", source)).diagnostics}


def taken(body: str) -> tuple[str, ...]:
    """Return what must be at least 0 for a step of the reduction of a Func, in the Model."""
    source = f"Func f; In A, B; Var m; RVar k; f[m] = {body}; f.compile();"
    model = lift(load(Source("f.dt", source)))
    return tuple(str(one.terms) for s in model.statements for one in s.taken)


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ("rmax(where(k <= m, A[m, k], -inf), k)", 1),
        ("rmin(where(k < m and m - k < 7, A[m, k], inf), k)", 2),
        ("rsum(where(k >= 2 * m - 3, A[m, k], 0), k)", 1),
        ("rsum(where(len(k) - k > m, A[m, k], 0.0), k)", 1),
        ("rprod(where(k > m, A[m, k], 1), k)", 1),
        ("rdot(where(k <= m, A[m, k], 0), where(k <= m, B[m, k], 0), k)", 1),
        ("rsum(2 * where(k <= m, A[m, k], 0), k)", 1),
        ("rsum(where(k <= m, 0, A[m, k]), k)", 1),
        ("rsum(where(k <= m, cast(A[m, k], i32), 0.0), k)", 1),
        # 0 times what the other side has counts as 0.
        ("rdot(where(k <= m, A[m, k], 0), B[m, k], k)", 1),
        ("rdot(where(k <= m, A[m, k], 0), where(k < m, B[m, k], 0), k)", 1),
        # Not the identity, or not about the reduced label alone.
        ("rmax(where(k <= m, A[m, k], 0), k)", 0),
        ("rmin(where(k <= m, A[m, k], -inf), k)", 0),
        ("rsum(where(k <= m, A[m, k], 1), k)", 0),
        ("rsum(where(k <= m or k > 3, A[m, k], 0), k)", 0),
        ("rsum(where(A[m, k] > 0, A[m, k], 0), k)", 0),
        ("rsum(where(m < 3, A[m, k], 0), k)", 0),
        ("rsum(where(3 * k <= m, A[m, k], 0), k)", 0),
    ],
)
def test_masks_that_are_ranges(body: str, count: int) -> None:
    assert len(taken(body)) == count


def test_both_sides_of_a_product_are_under_one_range() -> None:
    body = read("RVar k in [0, m + 1);", "f[m] = rdot(A[m, k], A[m, k], k); f.compile();")
    assert isinstance(body.func("f").body, Dot)
