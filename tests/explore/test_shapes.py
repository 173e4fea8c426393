"""Texts that share their loops, against each by itself."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.explore.prune import shapes as module
from dtpoly.explore.prune.emit import emitted
from dtpoly.explore.prune.shapes import Shapes
from dtpoly.explore.store.results import Text
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve as named
from dtpoly.schedule.primitives import bind
from dtpoly.schedule.resolve import begun, finished, resolve
from dtpoly.source import Source

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
    assert isinstance(made, Text), made
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
    chosen = bind(other.directives).primitives
    done = finished(begun(first, bind(first.directives).primitives), other, chosen)
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
    state = resolve(parsed, bind(parsed.directives).primitives)
    assert [func.name for func in state.program.funcs] == ["f"]
    assert state.sized == parsed
