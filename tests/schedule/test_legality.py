"""Schedules that are proved, and those that are refused: how, with which witness, whose fault."""

from random import Random

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.legality import judge
from dtpoly.schedule.tree_text import show_tree
from dtpoly.schedule.verdict import Verdict
from dtpoly.source import Source
from tests.conftest import Golden
from tests.schedule.told import ATTENTION, MAP, SUM, TWO, TWO_PRODUCTS, read
from tests.test_thesis import DATA, LISTINGS

CROSSES, LATE = ViolationKind.CROSSES, ViolationKind.LATE
AGAIN = ViolationKind.RECOMPUTES

NORM = """
Func f; In X, W; Var x, y; RVar k;
f[x, y] = X[x, y] * rsqrt(rsum(X[x, k] * X[x, k], k)) * W[y];
f.compile();
"""
DIAMOND = """
Func f, p, q, g; In A; Var x, y;
g[x, y] = exp(A[x, y]);
p[x, y] = g[x, y] + 1; q[x, y] = g[x, y] * 2;
f[x, y] = p[x, y] * q[x, y];
f.compile();
"""
STENCIL = """
Func f, g; In A; Var x, u;
g[u] = exp(A[u]); f[x] = g[x] + g[x + 2];
f.compile();
"""
OUTSIDE = """
Func f, g; In A; Var x; RVar y;
g[x] = exp(A[x]); f[x] = g[x] + rsum(g[x] * y, y);
f.compile();
"""
FUSED_4_4 = (
    "mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m); e.fuse_at(attention, m);"
    "attention.block(m:16); attention.tensorize(m:16, n:64, k:16, l:0);"
)


def thesis(listing: str) -> Program:
    path = DATA / f"{listing}.dt"
    return load(Source(path.name, path.read_text()))


def verdict(text: str) -> Verdict:
    program = read(text)
    judged = judge(program, DIRECTIVES)
    assert program == read(text)
    return judged


@pytest.mark.parametrize("listing", LISTINGS)
def test_the_thesis_is_legal(listing: str) -> None:
    judged = judge(thesis(listing), DIRECTIVES)
    assert judged.is_legal, [str(v) for v in judged.violations]
    assert judged.notes == ()


LEGAL = {
    "2mm at l": TWO_PRODUCTS
    + "mm.fuse_at(_2mm, l); _2mm.block(m:32); _2mm.tensorize(m:0, n:0, l:16, k:32);",
    "2mm at n, again": TWO_PRODUCTS + "mm.fuse_at(_2mm, n, recompute);",
    "2mm at n in one step": TWO_PRODUCTS + "mm.fuse_at(_2mm, n); _2mm.tensorize(n:0);",
    "norm by rows and columns": NORM + "f.block(x:4, y:64); f.tensorize(x:0, y:0, k:32);",
    "diamond": DIAMOND + "p.fuse_at(f, y); q.fuse_at(f, y); g.fuse_at(f, y); f.block(x:4);",
    "diamond, by rows": DIAMOND + "p.fuse_at(f, x); q.fuse_at(f, x); g.fuse_at(f, x);",
    "a stencil by programs": STENCIL + "g.fuse_at(f, x); f.block(x:16); f.tensorize(x:0);",
    "split in two kernels": SUM + "total.block(k:kb/32); total.tensorize(kb:8, k:4);",
    "added atomically": SUM + "total.block(k:32, x:4); total.atomic(k); total.tensorize(k:8);",
    "a padded tail": "Func f, g; In A; Var x; g[x] = A[x] + 1; f[x] = pad(g, 0)[x - 1] * 2;"
    "f.compile(); g.fuse_at(f, x); f.tensorize(x:4);",
    "another reader": TWO + "Func h; h[x, y] = g[x, y] * 2; h.compile(); g.fuse_at(f, x);",
    "groups of one block": MAP + "f.block(x:16); f.tensorize(x:0); f.map(x:xi/1, xi);",
    "two reads, one of them padded": "Func f, g; In A, B; RVar x, y, k;"
    "g[x, y] = rsum(A[x, y, k], k);"
    "f[k] = rdot(pad(g, 0)[k, y + 2] * g[k + 1, y], B[y, k], y);"
    "f.compile(); f.block(k:2, y:2); g.fuse_at(f, y);",
    "inlined": TWO + "g.inline(); f.block(x:16);",
    "one size 0-d": "Func f, g; In A; RVar x; g[] = rsum(A[x], x); f[x] = A[x] / g[];"
    "f.compile(); f.block(x:64); f.tensorize(x:0); g.fuse_at(f, x);",
    "said again": MAP + "f.block(x:8, y:8); f.block(y:8); f.map(y:yi/2, x, yi);"
    "f.map(y:yi/2, x, yi); f.split(x:xi/4); f.split(x:xi/4); f.tensorize(x:2, y:4, x:2);",
    "the label again inside": "Func f; In A, B; Var x; RVar k;"
    "f[x] = rsum(A[x, k] * rmax(B[x, k], k), k); f.compile(); f.block(k:32); f.atomic(k);",
    "the label again inside, around another sum": "Func f; In A, B, C; Var x; RVar k, l;"
    "f[x] = rsum(A[x, k] * rsum(B[k] * rsum(C[k, l], l), k), k);"
    "f.compile(); f.block(k:2); f.atomic(k);",
    "a nested reduction in parts": "Func f; In A; Var x; RVar k;"
    "f[x] = rsum(exp(A[x, k] - rmax(A[x, k], k)), k); f.compile(); f.block(k:32);",
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(name: str) -> None:
    judged = verdict(LEGAL[name])
    assert judged.is_legal, [str(v) for v in judged.violations]
    assert judged.blame is None


REFUSED: dict[str, tuple[str, ViolationKind, dict[str, int], str]] = {
    "at n, in tiles": (
        TWO_PRODUCTS + "_2mm.block(m:16); _2mm.tensorize(m:16, n:64, l:0); mm.fuse_at(_2mm, n);",
        AGAIN,
        {"m": 1, "n": 65, "k": 1, "l": 1},
        "mm.fuse_at(_2mm, n);",
    ),
    "at n": (
        TWO_PRODUCTS + "mm.fuse_at(_2mm, n);",
        AGAIN,
        {"m": 1, "n": 2, "k": 1, "l": 1},
        "mm.fuse_at(_2mm, n);",
    ),
    "at l with n in tiles": (
        TWO_PRODUCTS + "_2mm.tensorize(n:2); mm.fuse_at(_2mm, l);",
        AGAIN,
        {"m": 1, "n": 3, "k": 1, "l": 1},
        "mm.fuse_at(_2mm, l);",
    ),
    "a stencil in a loop": (
        STENCIL + "g.fuse_at(f, x);",
        AGAIN,
        {"x": 3, "u": 5},
        "g.fuse_at(f, x);",
    ),
    "a stencil in tiles": (
        STENCIL + "g.fuse_at(f, x); f.tensorize(x:4);",
        AGAIN,
        {"x": 5, "u": 7},
        "g.fuse_at(f, x);",
    ),
    "read outside of the loop": (
        OUTSIDE + "g.fuse_at(f, y);",
        LATE,
        {"x": 1, "y": 1},
        "g.fuse_at(f, y);",
    ),
    "inside of one reader only": (
        ATTENTION
        + "sm.fuse_at(attention, m); dvsr.fuse_at(sm, m); e.fuse_at(sm, l); mm.fuse_at(e, l);",
        LATE,
        {"m": 1, "n": 1, "k": 1, "l": 1},
        "e.fuse_at(sm, l);",
    ),
    "a row in a column": (
        "Func f, g; In A, B; Var x, y; g[x] = exp(A[x]); f[y, x] = g[x] * reshape(B[y], y, 1);"
        "f.compile(); g.fuse_at(f, y);",
        AGAIN,
        {"x": 1, "y": 2},
        "g.fuse_at(f, y);",
    ),
    "only reordered": (
        TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.reorder(n, m);",
        AGAIN,
        {"m": 1, "n": 2, "k": 1, "l": 1},
        "mm.fuse_at(_2mm, m);",
    ),
    "no loop around both": (
        TWO_PRODUCTS + "Func s; s[m] = rsum(mm[m, l], l); Func t;"
        "t[m, n] = _2mm[m, n] * reshape(s[m], m, 1); t.compile();"
        "_2mm.fuse_at(t, m); s.fuse_at(t, m); mm.fuse_at(_2mm, m);",
        LATE,
        {"m": 1, "n": 1, "k": 1, "l": 1},
        "mm.fuse_at(_2mm, m);",
    ),
    "a sum for each element": (
        "Func f, g; In A; Var x; RVar y; g[x] = rsum(A[x, y], y);"
        "f[x, y] = A[x, y] / reshape(g[x], x, 1); f.compile(); g.fuse_at(f, y);",
        AGAIN,
        {"x": 1, "y": 2},
        "g.fuse_at(f, y);",
    ),
    "of a split loop the inner one": (
        "Func f, g; In A, B; Var x, y; g[y] = exp(A[y]); f[x, y] = g[y] * reshape(B[x], x, 1);"
        "f.compile(); f.split(x:xi/4); g.fuse_at(f, xi);",
        AGAIN,
        {"x": 2, "y": 1},
        "g.fuse_at(f, xi);",
    ),
    "of a split loop the outer one": (
        "Func f, g; In A, B; Var x, y; g[y] = exp(A[y]); f[x, y] = g[y] * reshape(B[x], x, 1);"
        "f.compile(); f.split(x:xi/4); g.fuse_at(f, x);",
        AGAIN,
        {"x": 5, "y": 1},
        "g.fuse_at(f, x);",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    text, kind, sizes, blame = REFUSED[name]
    judged = verdict(text)
    first = judged.violations[0]
    assert (first.kind, first.witness.sizes, str(judged.blame)) == (kind, sizes, blame)


def test_in_words(golden: Golden) -> None:
    told = [
        f"{name}\n" + "".join(f"  {violation}\n" for violation in verdict(text).violations)
        for name, (text, *_) in REFUSED.items()
    ]
    golden("schedule/refused.txt", "\n".join(told))


def test_a_witness_is_in_words_and_in_numbers() -> None:
    judged = verdict(REFUSED["at n, in tiles"][0])
    (violation,) = judged.violations
    source, target = violation.witness.source, violation.witness.target
    assert (str(source), source.func, source.indices) == ("mm[0, 0]", "mm", {"m": 0, "l": 0})
    assert source.place is not None
    assert target.place is not None
    assert (source.place.program, source.place.loops) == ({"m": 0}, {"n": 0})
    assert (target.place.program, target.place.loops) == ({"m": 0}, {"n": 64})


def test_what_several_programs_compute_is_told() -> None:
    text = TWO_PRODUCTS + "_2mm.block(m:32, n:64); mm.fuse_at(_2mm, m);"
    assert [str(note) for note in verdict(text).notes] == [
        "'mm' is computed again for each block of 'n' of '_2mm'"
    ]
    assert [str(note) for note in verdict(NORM + "f.block(x:4, y:64);").notes] == [
        "a reduction of 'f' is computed again for each block of 'y'"
    ]
    assert verdict(NORM + "f.block(x:4);").notes == ()
    (note,) = verdict(text).notes
    assert note.times({"m": 5, "n": 200, "k": 1, "l": 1}) == 4


@pytest.mark.parametrize("seed", range(5))
def test_directives_are_a_set(seed: int) -> None:
    text = (
        ATTENTION
        + "mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m);"
        + "attention.block(m:16); attention.block(n:64); attention.tensorize(m:16);"
        + "attention.tensorize(n:64); attention.tensorize(l:0); e.fuse_at(attention, m);"
        + "attention.split(k:ki/4); attention.num_warps(8);"
    )
    *definitions, directives = text.split("attention.compile();")
    shuffled = [one for one in directives.split(";") if one.strip()]
    Random(seed).shuffle(shuffled)
    other = "attention.compile();".join([*definitions, "; ".join(shuffled) + ";"])
    first, second = verdict(text), verdict(other)
    assert show_tree(first.scheduled.kernels) == show_tree(second.scheduled.kernels)
    assert first.notes == second.notes


def test_trees_as_text(golden: Golden) -> None:
    for name, text in (
        ("attention", ATTENTION + FUSED_4_4),
        ("parts", SUM + "total.block(k:kb/32, x:4); total.tensorize(kb:8, k:4, x:0);"),
        ("mapped", MAP + "f.block(x:8, y:16); f.map(x:xi/4, y, xi); f.split(y:yi/4);"),
    ):
        tree = show_tree(verdict(text).scheduled.kernels)
        golden(f"schedule/tree_{name}.txt", tree + "\n")


def test_blame_of_two_among_many() -> None:
    lines = ["In A; Var x, y; Func f0; f0[x, y] = exp(A[x, y]);"]
    for at in range(1, 20):
        lines.append(f"Func f{at}; f{at}[x, y] = exp(f{at - 1}[x, y]);")
    lines.append("Func s; RVar k; s[x] = rsum(f19[x, k], k);")
    lines.append("Func f20; f20[x, y] = f19[x, y] / reshape(s[x], x, 1); f20.compile();")
    lines.extend(f"f{at}.fuse_at(f{at + 1}, y);" for at in range(20))
    lines.append("s.fuse_at(f20, x); f20.block(x:16); f20.tensorize(x:0, y:64);")
    program = read("\n".join(lines))
    judged = judge(program, DIRECTIVES)
    assert judged.blame is not None
    assert str(judged.blame) == "f19.fuse_at(f20, y);"
