"""The Python API: `dtpoly.parse`, `dtpoly.load` and what they answer."""

import copy
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import dtpoly
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.poly.order import ViolationKind
from dtpoly.schedule.explained_directives import Explanation, explain
from tests.cli.process import environment
from tests.schedule.told import ATTENTION, SUM, TWO

ROOT = Path(__file__).parent.parent
SKEW = ROOT / "examples" / "skew.py"

SOFTMAX = """
Func softmax, total;
In A;
Var x;
RVar y;

total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
"""
SAID = (
    "softmax.block(x:4);",
    "softmax.tensorize(x:0, y:512);",
    "total.fuse_at(softmax, x);",
    "softmax.num_warps(4);",
    "softmax.compile();",
)


def chained() -> dtpoly.Scheduled:
    """The directives, said one by one."""
    k = dtpoly.parse(SOFTMAX)
    k = k.softmax.block(x=4).tensorize(x=0, y=512).total.fuse_at(k.softmax, "x")
    scheduled: dtpoly.Scheduled = k.softmax.num_warps(4).compile()
    return scheduled


def test_three_ways_to_say_a_schedule() -> None:
    at_once = dtpoly.parse(SOFTMAX + "".join(SAID))
    added = dtpoly.parse(SOFTMAX).schedule("\n".join(SAID))
    assert at_once == added == chained()
    assert hash(at_once) == hash(chained())
    assert str(chained()).endswith("\n".join(SAID) + "\n")
    assert dtpoly.parse(str(chained())) == at_once
    assert at_once != dtpoly.parse(SOFTMAX)
    assert at_once != SOFTMAX


def test_a_file() -> None:
    loaded = dtpoly.load(ROOT / "examples" / "softmax.dt")
    assert loaded.check() is loaded
    assert loaded.name.endswith("softmax.dt")
    assert loaded.is_legal
    assert loaded.tree.startswith("kernel softmax\n  grid x by 4\n")


def test_a_step_changes_nothing() -> None:
    k = dtpoly.parse(SOFTMAX)
    before = str(k)
    blocked = k.softmax.block(x=4)
    assert (str(k), k.focus, k.program.directives) == (before, None, ())
    assert blocked.softmax.block(y=8).program.directives != blocked.program.directives
    assert len(blocked.program.directives) == 1
    with pytest.raises(AttributeError):
        k.focus = "softmax"  # type: ignore[misc]
    with pytest.raises(DtpolyError):
        k.softmax.block(z=4)
    assert str(k) == before


def test_a_point_of_a_space(tmp_path: Path) -> None:
    (tmp_path / "two.dt").write_text(TWO)
    space = tmp_path / "two.dts"
    space.write_text('algorithm "two.dt"; f.block(x:{4, 8}); f.compile();')
    with pytest.raises(DtpolyError, match="DT240") as raised:
        dtpoly.load(space)
    assert "dtpoly.load(..., point='block=x:4')" in str(raised.value)
    k = dtpoly.load(space, point="block=x:8")
    assert "f.block(x:8);" in str(k)
    assert k.is_legal
    with pytest.raises(DtpolyError):
        dtpoly.load(space, point="block=x:5")


STEPS: dict[str, tuple[Callable[[Any], dtpoly.Scheduled], str]] = {
    "sizes": (lambda f: f.block(x=16, y=8), "f.block(x:16, y:8);"),
    "texts": (lambda f: f.block("x:16", "y:8"), "f.block(x:16, y:8);"),
    "one text": (lambda f: f.block("x:16, y:8"), "f.block(x:16, y:8);"),
    "a factor": (lambda f: f.split(y="yi/8"), "f.split(y:yi/8);"),
    "a number": (lambda f: f.num_warps(8), "f.num_warps(8);"),
    "names": (lambda f: f.reorder("y", "x"), "f.reorder(y, x);"),
    "a Func": (lambda f: f.g.fuse_at(f, "x"), "g.fuse_at(f, x);"),
    "a word": (lambda f: f.g.fuse_at("f", "x", "recompute"), "g.fuse_at(f, x, recompute);"),
    "a yes": (lambda f: f.g.fuse_at("f", "x", recompute=True), "g.fuse_at(f, x, recompute);"),
    "a no": (lambda f: f.g.fuse_at("f", "x", recompute=False), "g.fuse_at(f, x);"),
    "a qualified label": (
        lambda f: f.g.fuse_at("f", "x").f.tensorize("g.y:4"),
        "f.tensorize(g.y:4);",
    ),
    "no ';'": (lambda f: f.schedule("f.num_warps(8)"), "f.num_warps(8);"),
    "an alias": (lambda f: f.compile_to_kernel(), "f.compile_to_kernel();"),
}


@pytest.mark.parametrize("name", STEPS)
def test_arguments(name: str) -> None:
    step, directive = STEPS[name]
    assert str(step(dtpoly.parse(TWO).f)).splitlines()[-1] == directive


WRONG: dict[str, tuple[Callable[[Any], object], type[Exception], str]] = {
    "a fraction": (lambda k: k.f.block(x=1.5), TypeError, "not a float"),
    "a list": (lambda k: k.f.reorder(["x", "y"]), TypeError, "not a list"),
    "yes": (lambda k: k.f.num_warps(True), TypeError, "not a bool"),
    "an object without a Func": (lambda k: k.g.fuse_at(k, "x"), TypeError, "not a Scheduled"),
    "two directives": (
        lambda k: k.f.block("x:4); f.num_warps(8"),
        ValueError,
        "not those of one directive",
    ),
    "no directive of a Func": (lambda k: k.block(x=4), AttributeError, "say of which Func"),
    "a misspelt directive": (lambda k: k.f.blok(x=4), AttributeError, "did you mean 'block'?"),
    "an unknown Func": (lambda k: k["h"], KeyError, "there is no Func 'h'"),
    "a syntax error": (lambda k: k.f.block("x:"), DtpolyError, "error[DT1"),
    "an unknown directive": (
        lambda k: k.schedule("f.blok(x:4);"),
        DtpolyError,
        "error[DT180]: unknown directive 'blok'\n --> <schedule>:1:3\n1 | f.blok(x:4);\n",
    ),
    "an unknown label": (lambda k: k.f.block(z=4), DtpolyError, "error[DT185]: 'z' is not a label"),
    "a definition": (
        lambda k: k.schedule("f.block(x:4); f[x, y] = 1;"),
        DtpolyError,
        "error[DT229]: only directives can be added to a schedule\n --> <schedule>:1:15",
    ),
    "no file": (lambda k: dtpoly.load("missing.dt"), DtpolyError, "cannot read 'missing.dt'"),
    "a wrong text": (lambda k: dtpoly.parse("Func f;"), DtpolyError, " --> <text>:1:6"),
    "a label that is not there": (
        lambda k: k.explain(z=4),
        ValueError,
        "there is no label 'z'",
    ),
    "a plugin that is missing": (
        lambda k: dtpoly.parse(TWO, plugins=["missing.py"]),
        DtpolyError,
        "cannot read the plugin 'missing.py'",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_at_once(name: str) -> None:
    wrong, error, words = WRONG[name]
    with pytest.raises(error) as raised:
        wrong(dtpoly.parse(TWO))
    assert words in str(raised.value)


def test_legality_waits_until_it_is_asked() -> None:
    k = dtpoly.parse(SOFTMAX).total.fuse_at("softmax", "y").softmax.compile()
    assert not k.is_legal
    assert k.verdict.violations[0].kind is ViolationKind.RECOMPUTES
    assert [d.code for d in k.diagnostics] == ["DT203"]
    assert "kernel softmax" in k.tree
    with pytest.raises(DtpolyError) as raised:
        k.check()
    assert raised.value.diagnostics == k.diagnostics
    assert str(raised.value).startswith("error[DT203]: 'total' is computed again")
    assert "total.fuse_at(softmax, y);" in str(raised.value)


def test_an_explanation() -> None:
    text = chained().explain(x=10)
    assert "total.fuse_at(softmax, x);" in text
    assert "ceil(x / 4) = 3" in text
    refused = dtpoly.parse(SOFTMAX).total.fuse_at("softmax", "y").explain()
    assert "'total' is computed y times in 'softmax'" in refused
    plugged = dtpoly.parse(SUM, plugins=[SKEW]).total.skew("k", "x").explain()
    assert "Go through a loop in the order of its sum with another one" in plugged


def test_a_plugin_brings_methods() -> None:
    k = dtpoly.parse(SUM, plugins=[SKEW])
    assert k.total.skew("k", "x").is_legal
    assert not k.total.skew("x", "k").is_legal
    assert "skew" in dir(k.total)
    assert k.total.skew.__doc__.startswith("total.skew(label, label)\n\nGo through a loop")
    with pytest.raises(AttributeError):
        dtpoly.parse(SUM).total.skew("k", "x")


def test_a_primitive_that_fails_is_told(tmp_path: Path) -> None:
    path = tmp_path / "bad.py"
    path.write_text(SKEW.read_text().replace("by = loop_value(", "by = lop_value("))
    k = dtpoly.parse(SUM, plugins=[path]).total.skew("x", "k")
    assert not k.is_legal
    assert [d.code for d in k.diagnostics] == ["DT226"]
    for ask in (lambda: k.verdict, lambda: k.tree, k.check):
        with pytest.raises(DtpolyError, match="lop_value"):
            ask()
    assert "lop_value" in shown(k)[1]


def test_names_that_mean_something_else() -> None:
    text = "Func verdict, block; In A; Var x; block[x] = A[x]; verdict[x] = block[x];"
    k = dtpoly.parse(text)
    assert k.block.focus == "block"
    assert k["verdict"].block(x=4).program.directives[0].func == "verdict"
    assert k.block["block"].num_warps(2).program.directives[0].func == "block"


def test_what_there_is() -> None:
    k = dtpoly.parse(SOFTMAX)
    assert {"softmax", "total", "check"} <= set(dir(k))
    assert "fuse_at" not in dir(k)
    assert {cls.name for cls in DIRECTIVES} <= set(dir(k.softmax))
    assert repr(k) == "<Scheduled <text>: total, softmax; 0 directives>"
    assert (
        repr(k.softmax.block(x=4)) == "<Scheduled <text> at softmax: total, softmax; 1 directive>"
    )
    assert not hasattr(k, "_repr_svg_")
    assert copy.copy(chained()) == chained()


def test_a_program_without_a_func() -> None:
    k = dtpoly.parse("In A;")
    assert k.is_legal
    assert k.tree == ""
    assert not hasattr(k, "f")
    assert "legal" in shown(k)[1]
    with pytest.raises(ValueError, match="no Func"):
        _ = k.verdict


class Balanced(HTMLParser):
    """Fails on tags that are not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        pass

    def handle_data(self, data: str) -> None:
        self.words += data


def shown(k: Any) -> tuple[str, str]:
    """Return what a notebook shows: HTML, and its text."""
    html: str = k._repr_html_()
    parser = Balanced()
    parser.feed(html)
    assert parser.open == []
    return html, parser.words


def test_a_notebook_shows_a_legal_schedule() -> None:
    k = dtpoly.parse(SOFTMAX).softmax.block(x=2).tensorize(x=0, y=4).total.fuse_at("softmax", "x")
    html, words = shown(k)
    assert "legal for all sizes" in words
    assert k.tree.strip() in words
    assert str(k).strip() in words
    assert html.count("<svg ") == 1
    assert "at x = 4, y = 8" in words


def test_a_notebook_shows_why_a_schedule_is_refused() -> None:
    html, words = shown(dtpoly.parse(SOFTMAX).total.fuse_at("softmax", "y"))
    assert "refused" in words
    assert "error[DT203]" in words
    assert "<svg" not in html


def test_a_page_is_escaped_and_has_no_colours_of_its_own() -> None:
    k = dtpoly.parse(TWO, name="<script>alert(1)</script>")
    html, _ = shown(k)
    assert "<script" not in html
    own = html.partition("<svg")[0]
    assert re.findall(r"background:(?!transparent)|[^-]color:(?!inherit|#2da44e)", own) == []


@pytest.mark.parametrize("name", ["softmax", "attention", "matmul"])
def test_what_a_prompt_shows_is_one_short_line(name: str) -> None:
    k = dtpoly.load(ROOT / "examples" / f"{name}.dt")
    for one in (k, k.verdict, k.checked, explained(k)):
        assert len(repr(one).splitlines()) == 1
        assert len(repr(one)) < 300


def explained(k: Any) -> Explanation:
    return explain(k.verdict.scheduled.sized, k.verdict, k.primitives)


def test_a_verdict_says_what_is_wrong() -> None:
    assert repr(dtpoly.parse(SOFTMAX).verdict) == "<Verdict: legal for all sizes>"
    verdict = dtpoly.parse(SOFTMAX, name="<b>").total.fuse_at("softmax", "y").verdict
    assert repr(verdict) == "<Verdict: refused, 1 violation>"
    assert str(verdict) == f"refused\n{verdict.violations[0]}"
    assert repr(verdict.violations) == f"(<Violation: {verdict.violations[0]}>,)"
    _, words = shown(verdict)
    assert words == str(verdict)


def test_texts_are_shown_as_lines() -> None:
    k = dtpoly.parse(SOFTMAX)
    for one in (k.tree, k.report, k.explain(), k.diagnostics):
        assert repr(one) == str(one).rstrip()


def test_a_note_of_a_verdict_is_shown_short() -> None:
    (note,) = dtpoly.load(ROOT / "examples" / "attention.dt").verdict.notes[:1]
    assert repr(note) == f"<Note: {note}>"


def test_of_many_violations_a_verdict_shows_the_first() -> None:
    verdict = dtpoly.parse(SOFTMAX).total.fuse_at("softmax", "y").verdict
    many = replace(verdict, violations=verdict.violations * 40)
    assert repr(many) == "<Verdict: refused, 40 violations>"
    assert len(str(many).splitlines()) == 14
    assert str(many).endswith("\nand 28 more")


def test_large_schedules_have_no_picture() -> None:
    attention = dtpoly.parse(ATTENTION)
    assert "<svg" not in shown(attention)[0]
    big = dtpoly.load(ROOT / "examples" / "matmul.dt")
    assert "<svg" not in shown(big)[0]


def test_an_import_is_cheap() -> None:
    heavy = "{'torch', 'triton', 'numpy', 'rich', 'pyparsing', 'islpy', 'dtpoly.api', 'pathlib'}"
    code = f"import dtpoly, sys; print(sorted({heavy} & sys.modules.keys() - before))"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; before = set(sys.modules); {code}"],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    assert done.stdout.strip() == "[]"


def test_a_schedule_needs_no_torch() -> None:
    code = (
        "import dtpoly, sys; "
        f"k = dtpoly.parse({SOFTMAX!r}); k.softmax.block(x=4).compile().check()._repr_html_(); "
        "print(sorted({'torch', 'triton', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stdout.strip() == "[]"


def test_what_the_package_offers() -> None:
    assert set(dtpoly.__all__) <= set(dir(dtpoly))
    for name in dtpoly.__all__:
        assert getattr(dtpoly, name) is not None
    with pytest.raises(AttributeError):
        getattr(dtpoly, "nothing")  # noqa: B009 (checkers of types know that it is not there)


def test_a_verdict_in_a_notebook_is_readable_on_any_page() -> None:
    verdict = dtpoly.parse(SOFTMAX).total.fuse_at("softmax", "y").softmax.compile().verdict
    html: str = verdict._repr_html_()
    assert html.startswith("<pre ")
    for style in ("font-family:monospace", "white-space:pre-wrap", "color:inherit"):
        assert style in html
    assert "recomputes in a loop" in html


def test_the_map_has_the_blocks_of_the_schedule() -> None:
    k = dtpoly.parse(SOFTMAX).softmax.block(x=64).compile()
    shown = k.map(y=1)
    assert shown.startswith("<svg")
    assert repr(shown) == f"<Picture: {len(shown):,} characters of SVG>"
    assert "at x = 128, y = 1" in shown  # two blocks of x
    assert "2 programs; what is alike is shown once" in shown
    assert "at x = 40, y = 1" in k.map(x=40, y=1)
    with pytest.raises(ValueError, match="there is no label 'z'"):
        k.map(z=1)
    with pytest.raises(ValueError, match="choose smaller sizes"):
        k.map(x=10**6, y=10**6)
