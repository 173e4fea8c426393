"""The oracle itself: known verdicts, changed orders, and how its cases are spread."""

import ast
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from tests.oracle.built import Built, Placed
from tests.oracle.cases import case, verdicts
from tests.oracle.cells import Cell
from tests.oracle.defining_order import defining
from tests.oracle.nest import build
from tests.oracle.run import Illegal, Legal, Verdict, judge, judge_schedule, results
from tests.schedule.told import ATTENTION, MAP, SUM, TWO, TWO_PRODUCTS, read

# Modules of dtpoly.schedule that the oracle reads directives with; none of them schedules.
READ_AS_DATA = (
    *("atomic", "block", "compile", "fuse_at", "inline", "reorder", "split", "tensorize"),
    *("bound_primitives", "argument_values"),
)
LATE, AGAIN = "runs too late", "recomputes in a loop"
CROSS, RACE = "crosses program instances", "lanes race"
LOST = "is not computed exactly once"
SIZES = {"x": 5, "y": 4, "m": 5, "n": 4, "k": 3, "l": 3}

# Thesis, listing 4.2.
SOFTMAX = """
Func softmax, total; In A; Var x; RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
softmax.compile();
"""
# Thesis, listing 3.4.
NORM = """
Func norm; In X, W; Var x, y; RVar k;
norm[x, y] = X[x, y] * rsqrt(rsum(X[x, k] * X[x, k], k)) * W[y];
norm.compile();
"""
STENCIL = """
Func f, g; In A; Var x;
g[x] = exp(A[x]); f[x] = pad(g, 0)[x - 1] + g[x] + pad(g, 0)[x + 1];
f.compile();
"""
DIAMOND = """
Func f, p, q, g; In A; Var x, y;
g[x, y] = exp(A[x, y]);
p[x, y] = g[x, y] + 1; q[x, y] = g[x, y] * 2;
f[x, y] = p[x, y] * q[x, y];
f.compile();
"""
CHAIN = """
Func f, c, b, a; In A; Var x, y;
a[x, y] = A[x, y] + 1; b[x, y] = a[x, y] + 1; c[x, y] = b[x, y] + 1; f[x, y] = c[x, y] + 1;
f.compile();
"""
OUTSIDE = """
Func f, g; In A; Var x; RVar y;
g[x] = exp(A[x]);
f[x] = g[x] + rsum(g[x] * y, y);
f.compile();
"""
INDEX = SUM.replace("rsum", "rargmax")
RENAMED = """
Func f, g, h; In A; Var x; RVar u;
h[] = rsum(A[u], u);
g[u] = A[u] * h[];
f[x] = g[x];
f.compile();
"""
NESTED = """
Func f; In A, B; Var x; RVar k, l;
f[x] = rsum(A[x, k] * rsum(B[k, l], l), k);
f.compile();
"""
FUSED_4_4 = (
    "mm.fuse_at(e, l); dvsr.fuse_at(sm, m); sm.fuse_at(attention, m); e.fuse_at(attention, m);"
    "attention.block(m:2); attention.tensorize(m:2, n:2, k:2, l:0);"
)

LEGAL = {
    "nothing said": MAP,
    "softmax fused": SOFTMAX
    + "softmax.block(x:4); softmax.tensorize(x:0, y:2); total.fuse_at(softmax, x);",
    "softmax split over columns": SOFTMAX + "softmax.block(x:2, y:2); total.fuse_at(softmax, x);",
    "a ragged product": TWO_PRODUCTS + "_2mm.block(m:2, n:3); _2mm.tensorize(m:2, n:4, l:2);",
    "2mm at m": TWO_PRODUCTS + "mm.fuse_at(_2mm, m); _2mm.block(m:2); _2mm.tensorize(m:2, l:0);",
    "2mm at n, one step": TWO_PRODUCTS + "mm.fuse_at(_2mm, n); _2mm.tensorize(n:0);",
    "2mm at n again": TWO_PRODUCTS + "mm.fuse_at(_2mm, n, recompute);",
    "2mm at n blocks": TWO_PRODUCTS + "mm.fuse_at(_2mm, n); _2mm.block(n:2); _2mm.tensorize(n:2);",
    "2mm at l, n outside in one step": TWO_PRODUCTS + "mm.fuse_at(_2mm, l); _2mm.tensorize(n:0);",
    "2mm at l, which is outside": TWO_PRODUCTS + "mm.fuse_at(_2mm, l); _2mm.reorder(l, n);",
    "a stencil again": STENCIL + "g.fuse_at(f, x, recompute); f.tensorize(x:2);",
    "a stencil in blocks": STENCIL + "g.fuse_at(f, x); f.block(x:2); f.tensorize(x:2);",
    "a diamond": DIAMOND + "p.fuse_at(f, y); q.fuse_at(f, x); g.fuse_at(f, x);",
    "a chain": CHAIN + "c.fuse_at(f, x); b.fuse_at(c, y); a.fuse_at(b, y); f.block(x:2, y:2);",
    "listing 4.4": ATTENTION + FUSED_4_4,
    "a norm in blocks": NORM + "norm.block(y:2);",
    "partial results": SUM + "total.block(k:2); total.tensorize(k:2);",
    "named partial results": SUM + "total.block(x:2, k:k_b/2); total.tensorize(k_b:0);",
    "partial results that are pairs": INDEX + "total.block(x:2, k:k_b/2); total.tensorize(k_b:0);",
    "atomic results": SUM + "total.block(x:2, k:2); total.atomic(k);",
    "partial results of a fused product": TWO_PRODUCTS + "_2mm.block(l:2); mm.fuse_at(_2mm, m);",
    "nested": NESTED + "f.block(x:2, k:2); f.tensorize(l:2); f.reorder(l, x);",
    "an inner sum in parts": NESTED + "f.block(l:2);",
    "both sums in parts": NESTED + "f.block(k:2, l:2);",
    "a split loop": TWO + "f.split(x:xi/2); g.fuse_at(f, xi); f.reorder(y, xi); f.unroll(x:2);",
    "inlined": TWO + "g.inline(); f.map(y:yi/2, x, yi); f.block(x:2, y:1);",
    "another reader": TWO + "Func h; h[x, y] = g[x, y]; h.compile(); g.fuse_at(f, x);",
    "around all reads": OUTSIDE + "g.fuse_at(f, x); f.block(x:2);",
    "lanes of the reader": RENAMED + "g.fuse_at(f, x); f.tensorize(x:0); h.fuse_at(g, u);",
}
ILLEGAL = {
    "2mm at n": (AGAIN, TWO_PRODUCTS + "mm.fuse_at(_2mm, n);"),
    "2mm at l": (AGAIN, TWO_PRODUCTS + "mm.fuse_at(_2mm, l); _2mm.tensorize(n:2);"),
    "a stencil": (AGAIN, STENCIL + "g.fuse_at(f, x); f.tensorize(x:2);"),
    "a whole sum for each element": (AGAIN, SOFTMAX + "total.fuse_at(softmax, y);"),
    "a sum inside": (AGAIN, RENAMED + "g.fuse_at(f, x); h.fuse_at(g, u);"),
    "half a diamond": (LATE, DIAMOND + "p.fuse_at(f, y); q.fuse_at(f, x); g.fuse_at(p, x);"),
    "a diamond at p's loop": (LATE, DIAMOND + "p.fuse_at(f, x); q.fuse_at(f, x); g.fuse_at(q, y);"),
    "a chain, too deep": (LATE, CHAIN + "c.fuse_at(f, x); b.fuse_at(f, y); a.fuse_at(b, y);"),
    "a read outside": (LATE, OUTSIDE + "g.fuse_at(f, y);"),
    "two loops over one label": (
        LATE,
        "Func f, g; In A; RVar k; g[k] = A[k]; f[] = rsum(g[k], k) * rmax(g[k], k); f.compile();"
        "g.fuse_at(f, k);",
    ),
}


@pytest.mark.parametrize("text", LEGAL.values(), ids=LEGAL.keys())
def test_legal(text: str) -> None:
    program = read(text)
    assert judge_schedule(program, _sizes(text)) == Legal()
    for size in (0, 1):
        sizes = {label: size for label in _sizes(text)}
        assert judge_schedule(program, sizes) == Legal()


@pytest.mark.parametrize(("kind", "text"), ILLEGAL.values(), ids=ILLEGAL.keys())
def test_illegal(kind: str, text: str) -> None:
    found = judge_schedule(read(text), _sizes(text))
    assert isinstance(found, Illegal)
    assert found.kind == kind
    sizes = {label: 0 for label in _sizes(text)}
    assert judge_schedule(read(text), sizes) == Legal()


def _sizes(text: str) -> dict[str, int]:
    sizes = {**SIZES, "u": SIZES["x"]}
    return {label.name: sizes[label.name] for label in read(text).labels}


# Places that no directive makes.


def _judged(text: str, change: Callable[[Placed], Placed]) -> Verdict:
    built, expected = _built(text)
    stored = {cell: expected[cell] for cell in built.stored}
    return judge([change(one) for one in built.placed], stored)


def _built(text: str) -> tuple[Built, dict[Cell, int]]:
    program = read(text)
    expected = results(defining(program, _sizes(text)))
    return build(program, _sizes(text)), expected


@pytest.mark.parametrize("text", [MAP, SUM, TWO, SOFTMAX, NORM, STENCIL, ATTENTION, NESTED])
def test_the_defining_order_is_legal_and_no_part_of_it_can_be_moved_far(text: str) -> None:
    placed = defining(read(text), _sizes(text))
    stored = {cell: value for cell, value in results(placed).items() if "." not in cell[0]}
    assert judge(Random(1).sample(placed, len(placed)), stored) == Legal()
    if text != MAP:
        turned = [one._replace(time=(-one.time[0],)) for one in placed]
        assert _kind(judge(turned, stored)) == LATE


def _kind(verdict: Verdict) -> str:
    assert isinstance(verdict, Illegal)
    return verdict.kind


def test_a_reversed_loop_of_updates_is_legal() -> None:
    def turned(one: Placed) -> Placed:
        time = (
            (*one.time[:3], -one.time[3], *one.time[4:]) if one.line.role == "update" else one.time
        )
        return one._replace(time=time)

    assert _judged(SUM, turned) == Legal()


def test_the_value_in_the_middle_of_its_sum_is_too_late() -> None:
    def early(one: Placed) -> Placed:
        return (
            one if one.line.role != "combine" else one._replace(time=(0, one.indices[0], 1, 1, 1))
        )

    assert _kind(_judged(SUM, early)) == LATE


def test_a_sum_in_lanes_that_its_value_shares_races() -> None:
    def together(one: Placed) -> Placed:
        return one._replace(time=(0, one.time[1]), lane=(len(one.time), *one.indices))

    assert _kind(_judged(SUM, together)) == RACE


def test_updates_may_share_a_step() -> None:
    def together(one: Placed) -> Placed:
        if one.line.role != "update":
            return one
        return one._replace(time=(*one.time[:3], 0, 0), lane=one.indices[-1:])

    assert _judged(SUM, together) == Legal()
    built, expected = _built(SUM)
    stored = {cell: expected[cell] for cell in built.stored}
    raced = judge([together(one) for one in built.placed], stored, ordered={"total"})
    assert _kind(raced) == RACE


def test_two_instances_in_one_place() -> None:
    def together(one: Placed) -> Placed:
        return one._replace(time=(0, 0, *one.time[2:]))

    assert _kind(_judged(SUM, together)) == LOST


def test_ordered_updates_keep_their_order() -> None:
    def turned(one: Placed) -> Placed:
        if one.line.role != "update":
            return one
        return one._replace(time=(*one.time[:3], -one.time[3], *one.time[4:]))

    built, expected = _built(SUM)
    stored = {cell: expected[cell] for cell in built.stored}
    assert judge(built.placed, stored, ordered={"total"}) == Legal()
    assert _kind(judge([turned(one) for one in built.placed], stored, ordered={"total"})) == LATE


def test_updates_in_programs_of_their_own_cross() -> None:
    def apart(one: Placed) -> Placed:
        return one._replace(program=one.indices[-1:] if one.line.role == "update" else (0,))

    assert _kind(_judged(SUM, apart)) == CROSS


def test_a_producer_in_another_program_crosses() -> None:
    def apart(one: Placed) -> Placed:
        program = (one.indices[0],) if one.line.func == "f" else (one.indices[0] + 1,)
        return one._replace(kernel=0, program=program)

    assert _kind(_judged(TWO, apart)) == CROSS


def test_kernels_the_wrong_way_round_are_too_late() -> None:
    assert _kind(_judged(TWO, lambda one: one._replace(kernel=-one.kernel))) == LATE


def test_skewed_loops() -> None:
    """One loop computes g[x] at x, and f[x] at x + 2: after g[x + 1]."""

    def skewed(factor: int) -> Callable[[Placed], Placed]:
        def change(one: Placed) -> Placed:
            shift = factor * one.indices[0]
            after = 2 if one.line.func == "f" else 0
            return one._replace(kernel=0, program=(), time=(shift + after,))

        return change

    assert _judged(STENCIL, skewed(1)) == Legal()
    # The other way round f[x] has the time of g[x - 1], which it reads.
    assert _kind(_judged(STENCIL, skewed(-2))) == RACE
    assert _kind(_judged(STENCIL, skewed(-3))) == LATE


def test_missing_instances_are_found() -> None:
    built, expected = _built(TWO)
    stored = {cell: expected[cell] for cell in built.stored}
    assert _kind(judge(built.placed[:-1], stored)) == LATE


# The rules of fusion.


def test_exactly_what_is_needed_is_computed() -> None:
    built, _ = _built(STENCIL + "g.fuse_at(f, x); f.block(x:2); f.tensorize(x:2);")
    copies = [(one.program, one.indices[0]) for one in built.placed if one.line.func == "g"]
    assert sorted(copies) == [
        *(((0,), x) for x in (0, 1, 2)),
        *(((1,), x) for x in (1, 2, 3, 4)),
        *(((2,), x) for x in (3, 4)),
    ]


@pytest.mark.always
def test_the_oracle_imports_neither_isl_nor_the_model() -> None:
    # Of the cases, which are checked, and read back from their texts.
    of_cases = {
        "dtpoly.checking",
        "dtpoly.diagnostics",
        "dtpoly.frontend.parse",
        "dtpoly.schedule.static_checks",
        "dtpoly.source",
        "tests.schedule.user_primitives",
    }
    allowed = {
        "dtpoly.algorithm",
        *(f"dtpoly.schedule.{name}" for name in READ_AS_DATA),
        *(f"dtpoly.directives.{name}" for name in (*READ_AS_DATA, "built_in")),
        "tests.oracle",
    }
    for path in Path(__file__).parent.glob("*.py"):
        if path == Path(__file__):
            continue
        mine = allowed | of_cases if path.stem == "cases" else allowed
        for node in ast.walk(ast.parse(path.read_text())):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            for name in names:
                assert name != "islpy"
                if name.startswith(("dtpoly", "tests")):
                    assert any(name.startswith(prefix) for prefix in mine), f"{path}: {name}"


@pytest.mark.long
def test_cases_are_spread_over_both_verdicts() -> None:
    found = verdicts(400)
    assert found["legal"] >= 140
    assert found[LATE] + found[AGAIN] >= 140
    assert min(found[LATE], found[AGAIN]) >= 40


def test_a_seed_gives_one_case() -> None:
    assert case(3) == case(3)
    assert case(3) != case(4)
