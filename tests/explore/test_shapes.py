"""Texts that share their loops, against each by itself."""

from functools import cache
from pathlib import Path

import pytest

from dtpoly import __version__
from dtpoly.algorithm.program import Program
from dtpoly.codegen.header import header
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.prune import code_sharing as module
from dtpoly.explore.prune.code_sharing import Shapes
from dtpoly.explore.prune.emit import emitted
from dtpoly.explore.store.results import EmittedText
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve as named
from dtpoly.generate import code_of
from dtpoly.schedule.applied_directives import begun, finished, resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.source import Source

ATTENTION = Path(__file__).parents[2] / "examples" / "attention.dt"
SOFTMAX = """Func top, e, f; In A; Var x; RVar k; Var y;
top[x] = rmax(A[x, k], k);
e[x, y] = exp(A[x, y] - reshape(top[x], x, 1));
f[x, y] = e[x, y] / reshape(rsum(e[x, k], k), x, 1);
f.block(x:{block}); f.tensorize(x:0, y:0, k:0); top.fuse_at(f, x); e.fuse_at(f, x);
{options} f.compile();
"""
OPTIONS = (
    "",
    "f.num_warps(8);",
    "f.num_stages(3); f.num_warps(2);",
    "f.persistent(2);",
    "f.unroll(y:2);",
)


def text_of(block: int, options: str, shapes: Shapes | None = None) -> str:
    made = emitted("f.dt", SOFTMAX.format(block=block, options=options), None, True, shapes).made
    assert isinstance(made, EmittedText), made
    return made.text


def program(block: int, options: str) -> Program:
    made = named(parse(Source("f.dt", SOFTMAX.format(block=block, options=options))).file).program
    assert made is not None
    return made


def test_a_text_is_the_same_with_others_before_it() -> None:
    shapes = Shapes()
    points = [(block, options) for options in OPTIONS for block in (1, 4)]
    shared = [text_of(*point, shapes) for point in points]
    assert shared == [text_of(*point) for point in points]
    assert len(shapes.layouts) == 2


def test_options_have_no_part_in_loops() -> None:
    shapes = Shapes()
    text_of(4, OPTIONS[0], shapes)
    (first,) = shapes.layouts.values()
    text_of(4, OPTIONS[2], shapes)
    assert [one is first for one in shapes.layouts.values()] == [True]


# Legal schedules of attention: another k, another n, other blocks, and fused elsewhere.
SCHEDULES = (
    "attention.block(m:64, n:32); attention.tensorize(m:32, n:0, k:64, l:128); FUSED",
    "attention.block(m:64, n:32); attention.tensorize(m:32, n:0, k:32, l:128); FUSED",
    "attention.block(m:16); attention.tensorize(m:0, n:32, k:64, l:128); FUSED",
    "attention.block(m:16); attention.tensorize(m:0, n:64, k:64, l:128); FUSED",
    "attention.block(m:128, n:32); attention.tensorize(m:16, n:0, k:64, l:32); FUSED",
    "attention.block(m:64, n:64); attention.tensorize(m:32, n:32, k:32, l:64); "
    + "scores.fuse_at(attention, n); top.fuse_at(attention, m); e.fuse_at(attention, m); "
    + "total.fuse_at(attention, m);",
)
FUSED = " ".join(f"{func}.fuse_at(attention, m);" for func in ("scores", "top", "e", "total"))


def attention(schedule: str) -> str:
    algorithm, _, _ = ATTENTION.read_text().partition("attention.precision")
    return f"{algorithm}{schedule.replace('FUSED', FUSED)} attention.compile();"


@cache
def apart(text: str) -> str:
    """Each question asked of isl, also where it was asked before."""
    made = named(parse(Source("f.dt", text)).file).program
    assert made is not None
    state = resolve(made, bind(made.directives, DIRECTIVES).primitives)
    return code_of(state, header(__version__, "f.dt")).text


@pytest.mark.long
@pytest.mark.parametrize("schedules", [SCHEDULES, SCHEDULES[::-1]])
def test_what_one_shape_asks_of_isl_others_need_not(schedules: tuple[str, ...]) -> None:
    shapes = Shapes()
    for schedule in schedules:
        asked, known = shapes.answers.asked, shapes.answers.found
        made = emitted("f.dt", attention(schedule), None, True, shapes).made
        assert isinstance(made, EmittedText)
        assert made.text == apart(attention(schedule))
        # Its own statements ask the same, too.
        assert shapes.answers.found - known > (shapes.answers.asked - asked) / 4
    assert len(shapes.layouts) == len(SCHEDULES)


@pytest.mark.long
def test_another_product_leaves_most_answers_as_they_are() -> None:
    first, other = (attention(one) for one in SCHEDULES[:2])
    shapes = Shapes()
    emitted("f.dt", first, None, True, shapes)
    before = shapes.answers.asked - shapes.answers.found
    emitted("f.dt", other, None, True, shapes)
    assert shapes.answers.asked - shapes.answers.found < 1.5 * before


def test_the_last_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST", 2)
    shapes = Shapes()
    for block in (1, 2, 1, 4):
        text_of(block, "", shapes)
    blocks = {1, 4}
    expected = {program(block, "") for block in blocks}
    assert len(shapes.begun) == len(shapes.layouts) == len(expected) == 2
    before = dict(shapes.layouts)
    for block in blocks:
        text_of(block, OPTIONS[1], shapes)
    assert shapes.layouts.keys() == before.keys()


@pytest.mark.parametrize("options", OPTIONS)
def test_what_one_schedule_began_another_finishes(options: str) -> None:
    first, other = program(4, OPTIONS[1]), program(4, options)
    chosen = bind(other.directives, DIRECTIVES).primitives
    done = finished(begun(first, bind(first.directives, DIRECTIVES).primitives), other, chosen)
    alone = resolve(other, chosen)
    assert (done.program, done.sized, done.kernels) == (other, other, alone.kernels)
    assert done.fusions == alone.fusions
    assert [str(one.domain) for one in done.model.statements] == [
        str(one.domain) for one in alone.model.statements
    ]


def test_what_is_inlined_stays_so() -> None:
    text = """Func h, f; In A: i64; SIn x: f32; Var i; h[i] = 0.1 / A[i]; f[i] = h[i] <= x;
h.inline(); f.block(i:16); f.tensorize(i:0); {options} f.compile();"""
    shapes = Shapes()
    made = [
        emitted("f.dt", text.format(options=options), None, True, shapes).made
        for options in ("", "f.num_warps(8);")
    ]
    alone = emitted("f.dt", text.format(options="f.num_warps(8);"), None, True).made
    assert made[1] == alone
    (kept,) = shapes.begun.values()
    assert [func.name for func in kept.state.program.funcs] == ["f"]
    parsed = named(parse(Source("f.dt", text.format(options=""))).file).program
    assert parsed is not None
    state = resolve(parsed, bind(parsed.directives, DIRECTIVES).primitives)
    assert [func.name for func in state.program.funcs] == ["f"]
    assert state.sized == parsed
