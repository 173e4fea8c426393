"""Tests that the cost of a legal schedule is reported once for each Func."""

from dtpoly.checking import check
from dtpoly.diagnostics import Diagnostic
from dtpoly.source import Source
from tests.schedule.told import TWO_PRODUCTS

NORM = """
Func f; In X, W; Var x, y; RVar k;
f[x, y] = X[x, y] * rsqrt(rsum(X[x, k] * X[x, k], k)) * rmax(X[x, k], k);
f.compile();
"""


def notes(text: str) -> list[Diagnostic]:
    return [d for d in check(Source("test.dt", text)).diagnostics if d.code == "DT205"]


def test_what_several_programs_compute() -> None:
    (told,) = notes(TWO_PRODUCTS + "_2mm.block(m:32, n:64); mm.fuse_at(_2mm, m);")
    assert told.title == "'mm' is computed again for each block of 'n' of '_2mm'"
    assert told.label == "computed ceil(n / 64) times"
    assert told.span is not None
    assert told.span.text == "mm.fuse_at(_2mm, m)"
    assert [note.span and note.span.text for note in told.notes] == ["n:64"]


def test_a_func_of_two_reductions_is_told_once() -> None:
    (told,) = notes(NORM + "f.block(x:4); f.block(y:64);")
    assert told.span is not None
    assert (told.span.text, told.label) == ("y:64", "computed ceil(y / 64) times")


def test_blocks_of_two_labels() -> None:
    text = "Func f, s; In A; Var x, y; RVar k; s[] = rsum(A[k], k); f[x, y] = s[];"
    (told,) = notes(text + "f.compile(); f.block(x:4, y:8); s.fuse_at(f, x); f.tensorize(x:0);")
    assert told.label == "computed ceil(y / 8) * ceil(x / 4) times"
    assert [note.span and note.span.text for note in told.notes] == ["x:4", "y:8"]


def test_what_has_one_cause_is_one_note() -> None:
    text = """Func f, e, s; In A; Var x, y; RVar k;
    e[x, k] = exp(A[x, k]); s[x] = rsum(e[x, k], k); f[x, y] = A[x, y] / reshape(s[x], x, 1);
    f.block(x:4, y:8); s.fuse_at(f, x); e.fuse_at(f, x); f.compile();"""
    (told,) = notes(text)
    assert told.title == "'s' and 'e' are computed again for each block of 'y' of 'f'"
    assert told.span is not None
    assert told.span.text == "s.fuse_at(f, x)"
    assert [(n.text, n.span and n.span.text) for n in told.notes] == [
        ("so is 'e'", "e.fuse_at(f, x)"),
        ("for each of these blocks", "y:8"),
    ]


def test_what_has_two_causes_is_two_notes() -> None:
    text = """Func f, e, s; In A; Var x, y; RVar k;
    e[x] = rsum(A[x, k], k); s[y] = rsum(A[k, y], k);
    f[x, y] = reshape(e[x], x, 1) + reshape(s[y], 1, y);
    f.block(x:4, y:8); f.tensorize(x:0, y:0); e.fuse_at(f, y); s.fuse_at(f, y); f.compile();"""
    assert len(notes(text)) == 2


def test_nothing_is_told_where_nothing_is_computed_again() -> None:
    assert notes(NORM + "f.block(x:4);") == []
    assert notes(TWO_PRODUCTS + "_2mm.block(m:32); mm.fuse_at(_2mm, m);") == []


def test_a_refused_schedule_costs_nothing() -> None:
    assert notes(TWO_PRODUCTS + "_2mm.block(m:32, n:64); mm.fuse_at(_2mm, n);") == []
