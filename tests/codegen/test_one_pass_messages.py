"""Tests whole messages that refuse `online`: title, place, reason and way out."""

import re
from collections.abc import Mapping

import pytest

from dtpoly.checking import check, load
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.mean_programs import REFUSED_MEANS
from tests.codegen.test_online import REFUSED, ROWS, TILES
from tests.codegen.test_parts import IN_PARTS
from tests.codegen.test_parts import REFUSED as REFUSED_PARTS
from tests.conftest import Golden

SUM = "f[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
# Directives that are wrong whatever the formulas are.
DIRECTIVE: Mapping[str, str] = {
    "no such reader": f"Func f, top; {ROWS} {SUM} top.online(g, y); {TILES}",
    "no such label": f"Func f, top; {ROWS} {SUM} top.online(f, z); {TILES}",
    "it reduces nothing": f"Func f, e; {ROWS.replace('top', 'f')} e[x] = 2 * f[x];"
    "f.online(e, y); e.block(x:2); e.compile();",
    "not over this label": f"Func f, top; {ROWS} {SUM} top.online(f, x); {TILES}",
    "the reader first": f"Func f, top; {ROWS} {SUM} f.online(top, y); {TILES}",
    "inlined as well": f"Func f, top; {ROWS} {SUM} top.online(f, y); top.inline(); {TILES}",
    "parts that are added atomically": f"Func f, top; {ROWS} {SUM} f.block(x:2, y:32);"
    "f.tensorize(x:0, y:16); f.atomic(y); top.online(f, y); f.compile();",
}
EACH: Mapping[str, str] = {
    **{f"joined, {name}": given for name, (given, _) in REFUSED.items()},
    **{f"mean, {name}": given for name, (given, _) in REFUSED_MEANS.items()},
    **{f"parts, {name}": given + IN_PARTS for name, (given, _) in REFUSED_PARTS.items()},
    **{f"directive, {name}": given for name, given in DIRECTIVE.items()},
}


def found_in(text: str) -> tuple[Diagnostic, ...]:
    """Return what is said of a file when it is checked, or compiled."""
    source = Source("kernels.dt", text)
    found = tuple(one for one in check(source).diagnostics if one.severity is Severity.ERROR)
    if found:
        return found
    with pytest.raises(DtpolyError) as caught:
        code_of(judge(load(source), DIRECTIVES).scheduled)
    return tuple(caught.value.diagnostics)


@pytest.mark.sampled
@pytest.mark.parametrize("name", EACH)
def test_message(name: str, golden: Golden) -> None:
    found = found_in(re.sub(r"; *(?!$)", ";\n", EACH[name]))
    assert found
    shown = plain(render(found))
    assert "^" in shown, "it has no place"
    assert " = hint: " in shown, "it names no way out"
    path = re.sub(r"[^a-z0-9]+", "_", name)
    golden(f"one_pass/{path}.txt", shown)


def test_there_are_many() -> None:
    assert len(EACH) >= 40
