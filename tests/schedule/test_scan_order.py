"""The order of a scan: which schedules keep it, and what is said of those that do not."""

import islpy as isl
import pytest

from dtpoly.checking import check, load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.poly.dependences import DependenceKind, dependences
from dtpoly.poly.lift import lift
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

DECLARED = "Func c, d; In A; Var x, t; RVar s;\n"
SCAN = DECLARED + "c[x, t] = scan_sum(A[x, s], s, t);\n"
READ = SCAN + "d[x, t] = c[x, t] / A[x, t];\nd.compile();\n"
TURNED = DECLARED + "c[t, x] = scan_sum(A[s, x], s, t, reverse);\n"


def codes(text: str) -> list[str]:
    """Return the codes of all errors and warnings about a file."""
    found = check(Source("scan.dt", text.replace("c, d;", "c;") if "d[" not in text else text))
    return [one.code for one in found.diagnostics]


LEGAL = {
    "without directives": SCAN + "c.compile();",
    "in blocks of rows": SCAN + "c.block(x:4);\nc.tensorize(x:0, t:16);\nc.compile();",
    "lanes along two labels": SCAN + "c.tensorize(x:4, t:16);\nc.compile();",
    "a loop in two": SCAN + "c.split(t:ti/4);\nc.compile();",
    "lanes of the inner loop": SCAN + "c.split(t:ti/4);\nc.tensorize(ti:0);\nc.compile();",
    "in reverse": TURNED + "c.block(x:8);\nc.tensorize(t:4, x:0);\nc.compile();",
    "fused by rows": READ + "c.fuse_at(d, x);\nd.block(x:2);",
    "fused along it": READ + "c.fuse_at(d, t);\nd.block(x:2);\nd.tensorize(x:0, t:8);",
    "fused along it, step by step": READ + "c.fuse_at(d, t);",
    "fused along it in reverse": READ.replace("s, t)", "s, t, reverse)") + "c.fuse_at(d, t);",
    "reduced along it": SCAN + "RVar u;\nd[x] = rmax(c[x, u], u);\nc.fuse_at(d, u);\nd.compile();",
    "two along one loop": DECLARED
    + "Func e;\nRVar u;\nc[x, t] = scan_sum(A[x, s], s, t);\n"
    + "e[x, t] = scan_max(c[x, u], u, t);\nd[x, t] = c[x, t] - e[x, t];\n"
    + "e.fuse_at(d, t);\nc.fuse_at(d, t);\nd.compile();",
    "computed again": READ + "c.fuse_at(d, t, recompute);\nd.tensorize(t:8);",
    "what a scan reads": DECLARED
    + "c[x, t] = A[x, t] * 2;\nd[x, t] = scan_max(c[x, s], s, t);\nc.fuse_at(d, t);\nd.compile();",
    "blocks cut it into parts": SCAN + "c.block(t:16);\nc.compile();",
    "in panels of rows": SCAN + "c.tensorize(t:16);\nc.compile();",
}
REFUSED = {
    "lanes of the outer loop": (
        SCAN + "c.split(t:ti/4);\nc.tensorize(t:0);\nc.compile();",
        "DT201",
    ),
    "the inner loop outside": (SCAN + "c.split(t:ti/4);\nc.reorder(ti, t);\nc.compile();", "DT201"),
    "fused along it in blocks": (
        READ + "c.fuse_at(d, t);\nd.block(t:64);\nd.tensorize(t:8);",
        "DT203",
    ),
    "the element before, too": (
        SCAN + "d[x, t] = c[x, t] - pad(c, 0)[x, t - 1];\nc.fuse_at(d, t);\nd.compile();",
        "DT203",
    ),
    "every second element": (
        SCAN + "d[x, t] = pad(c, 0)[x, 2 * t];\nc.fuse_at(d, t);\nd.compile();",
        "DT203",
    ),
    "two directions along one loop": (
        DECLARED
        + "Func e;\nRVar u;\nc[x, t] = scan_sum(A[x, s], s, t);\n"
        + "e[x, t] = scan_max(A[x, u], u, t, reverse);\nd[x, t] = c[x, t] - e[x, t];\n"
        + "e.fuse_at(d, t);\nc.fuse_at(d, t);\nd.compile();",
        "DT201",
    ),
    "inlined": (READ + "c.inline();", "DT196"),
    "panels cut it": (
        DECLARED
        + "c[x, t] = A[x, t] * 2;\nd[x, t] = scan_sum(c[x, s], s, t);\n"
        + "d.panels(t:64);\nd.compile();",
        "DT197",
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_what_keeps_the_order(name: str) -> None:
    assert codes(LEGAL[name]) == []


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not(name: str) -> None:
    text, code = REFUSED[name]
    assert code in codes(text)


def test_a_loop_along_a_scan_is_inside_of_the_others() -> None:
    text = TURNED.replace("c, d;", "c;") + "c.block(x:8);\nc.tensorize(x:4);\nc.compile();"
    of = load(Source("scan.dt", text))
    assert "tl.associative_scan(" not in code_of(judge(of, DIRECTIVES).scheduled).text
    around = load(Source("scan.dt", text + "\nc.reorder(t, x);"))
    assert judge(around, DIRECTIVES).is_legal
    with pytest.raises(DtpolyError, match="DT300"):
        code_of(judge(around, DIRECTIVES).scheduled)


@pytest.mark.parametrize("word", ["", ", reverse"])
def test_each_step_depends_on_all_before_it(word: str) -> None:
    of = load(Source("scan.dt", SCAN.replace("s, t)", f"s, t{word})").replace("c, d;", "c;")))
    (found,) = (one for one in dependences(lift(of)) if one.kind is DependenceKind.SCAN)
    assert (found.source, found.target) == ("c.s.scan", "c.s.scan")
    domain = found.relation.domain() | found.relation.range()
    early, late = (domain.fix_val(isl.dim_type.set, 1, isl.Val(t)) for t in (1, 3))
    first, last = (late, early) if word else (early, late)
    for source, target, is_there in ((first, last, True), (last, first, False)):
        pairs = found.relation.intersect_domain(source).intersect_range(target)
        assert pairs.is_empty() is not is_there
