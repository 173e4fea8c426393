"""Fusions into a loop that reduces: where one pass is possible, messages offer it."""

import pytest

from dtpoly.checking import check
from dtpoly.diagnostics import Diagnostic
from dtpoly.remarks import remarked
from dtpoly.source import Source

ATTENTION = """\
Func out, scores, top, e, total;
In Q, K, V;
Var m, n;
RVar k, l;
scores[m, l] = rdot(Q[m, k], K[l, k], k) * rsqrt(len(k));
top[m] = rmax(scores[m, l], l);
e[m, l] = exp(scores[m, l] - reshape(top[m], m, 1));
total[m] = rsum(e[m, l], l);
out[m, n] = rdot(e[m, l], V[l, n], l) / reshape(total[m], m, 1);
out.block(m:64);
out.tensorize(m:0, n:0, k:0, l:64);
scores.fuse_at(out, l);
e.inline();
out.compile();
"""
FUSED = "top.fuse_at(out, l);\ntotal.fuse_at(out, l);\n"
ROWS = """\
Func f, top;
In A;
Var x;
RVar y;
top[x] = rmax(abs(A[x, y]), y);
f[x] = {};
f.block(x:1);
f.tensorize(x:0, y:64);
f.compile();
top.fuse_at(f, y);
"""


def found(text: str) -> tuple[Diagnostic, ...]:
    return remarked(check(Source("f.dt", text))).diagnostics


def mended(text: str, one: Diagnostic) -> str:
    for edit in sorted(one.edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.replacement + text[edit.span.end :]
    return text


def test_all_that_is_reduced_there_is_offered_together() -> None:
    text = ATTENTION + FUSED
    errors = found(text)
    assert [one.code for one in errors] == ["DT203", "DT201"]
    said = "legal, in one pass: top.online(out, l) and total.online(out, l); "
    for one in errors:
        assert one.hint.startswith(said)
        assert mended(text, one) == text.replace("top.fuse_at", "top.online").replace(
            "total.fuse_at", "total.online"
        )
        assert not found(mended(text, one))


@pytest.mark.parametrize(
    ("body", "is_offered"),
    [
        ("log(rsum(exp(A[x, y] - reshape(top[x], x, 1)), y)) + top[x]", True),
        ("rsum(floor(A[x, y] / reshape(top[x], x, 1) * 127), y)", False),
    ],
)
def test_only_what_has_code_is_offered(body: str, is_offered: bool) -> None:
    (one,) = found(ROWS.format(body))
    assert one.code in ("DT201", "DT203")
    assert one.hint.startswith("legal, in one pass: top.online(f, y)") is is_offered


@pytest.mark.parametrize(("power", "is_offered"), [(2, True), (3, True), (4, True), (5, False)])
def test_a_mean_is_offered_to_powers_of_deviations(power: int, is_offered: bool) -> None:
    rows = ROWS.replace("rmax(abs(A[x, y]), y)", "rsum(A[x, y], y) / len(y)")
    (one,) = found(rows.format(f"rsum(pow(A[x, y] - reshape(top[x], x, 1), {power}), y)"))
    assert one.code == "DT203"
    assert one.hint.startswith("legal, in one pass: top.online(f, y)") is is_offered


def test_a_func_that_does_not_reduce_over_the_label_gets_no_such_offer() -> None:
    text = ROWS.replace("A[x, y]), y)", "B[x, z]), z)").replace("In A;", "In A, B;")
    text = text.replace("RVar y;", "RVar y, z;")
    (one,) = found(text.format("rsum(A[x, y] - reshape(top[x], x, 1), y)"))
    assert one.code == "DT203"
    assert "one pass" not in one.hint
