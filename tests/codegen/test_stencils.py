"""Tests random stencils that each block computes again for itself, against the reference."""

from random import Random

import pytest

from dtpoly.algorithm.label_sizes import input_shapes, sizes_of
from dtpoly.checking import check as checked
from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.stencils import SIZES, random_stencil

SEEDS = 40
TWO_STEPS = "Func f, g; In A; Var x; g[x] = A[x] * 2;"
# What such seeds found, by hand: a tile that begins below 0, and a quotient that does.
FOUND = {
    "groups of blocks": f"""{TWO_STEPS} f[x] = pad(g, 0)[x - 1];
        f.block(x:4); f.tensorize(x:4); f.map(x:i/3, i); g.fuse_at(f, x, recompute); f.compile();
        """,
    "a part of a loop": f"""{TWO_STEPS} f[x] = pad(g, 0)[2 * x];
        f.block(x:16); f.tensorize(x:2); f.split(x:q/8); g.fuse_at(f, q, recompute); f.compile();
        """,
}


def check(text: str, seed: int) -> LayerVerdict | None:
    """Run it at some sizes, and verify it; None where the schedule is refused."""
    try:
        program = load(Source("stencil.dt", text))
        made = code_of(judge(program, DIRECTIVES).scheduled)
    except DtpolyError:
        return None
    module, random = imported(made.text), Random(seed)
    for at in range(4):
        wanted = {one.name: random.choice(SIZES[one.name]) for one in program.labels}
        sizes = sizes_of(program, input_shapes(program, wanted), wanted)
        compared(module, program, made.stages.outputs, Recipe(at).inputs(program, sizes), sizes)
    return verify(program, made.text).verdict


FUSED = "c.fuse_at(f, x, recompute); d.fuse_at(f, x, recompute); f.compile();"
BEYOND = "Func c, d, f; In A; Var x; c[x] = A[x] + 1; d[x] = pad(c, 0)[4 - x];"


@pytest.mark.parametrize("read", ["pad(d, 0)[5 - 2 * x] + pad(d, 1)[x]", "pad(d, 0)[2 * x + 1]"])
def test_lanes_that_nobody_needs_read_nothing_outside(read: str) -> None:
    """Every second element of d is needed; masks cannot say so, and c has none for the others."""
    program = load(
        Source("t.dt", f"{BEYOND} f[x] = {read}; f.block(x:4); f.tensorize(x:0); {FUSED}")
    )
    with pytest.raises(DtpolyError, match="DT300"):
        code_of(judge(program, DIRECTIVES).scheduled)


def test_lanes_that_nobody_needs_end_where_an_input_does() -> None:
    """Every second element of g is computed for nobody, the last one of them behind the end."""
    text = """Func f, g; In A; Var x, u; g[u] = A[u] * 2; f[x] = g[2 * x]; g.fuse_at(f, x);
        f.block(x:128); f.tensorize(x:8, u:16); f.compile();"""
    program = load(Source("t.dt", text))
    made = code_of(judge(program, DIRECTIVES).scheduled)
    for u in (1, 15, 16, 17, 33, 257):
        sizes = {"x": (u + 1) // 2, "u": u}
        inputs = Recipe(u).inputs(program, sizes)
        compared(imported(made.text), program, made.stages.outputs, inputs, sizes)
    assert verify(program, made.text).verdict is not LayerVerdict.REFUTED


def test_where_lanes_are_that_go_beyond_a_label() -> None:
    """They go where their reader's go: three times that is what 32 bits must hold."""
    program = load(
        Source(
            "t.dt",
            """Func g, f; In B, C; Var x0, z0, x, y; g[x0, z0] = pad(B, 1)[3 * x0 - 7, z0];
            f[x, y] = pad(g, 1)[y, x - 1] + C[x, y]; f.tensorize(x:2, y:2); f.reorder(y, x);
            g.fuse_at(f, x, recompute); f.compile();""",
        )
    )
    assert (
        verify(program, code_of(judge(program, DIRECTIVES).scheduled).text).verdict
        is LayerVerdict.PROVED
    )


@pytest.mark.long
@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_it_is_right_and_proved(text: str) -> None:
    assert [check(text, seed) for seed in range(4)] == [LayerVerdict.PROVED] * 4


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_is_right_and_never_refuted(seed: int) -> None:
    assert check(random_stencil(seed), seed) is not LayerVerdict.REFUTED


@pytest.mark.long
def test_most_are_done() -> None:
    """Not too many are refused: that would be no test."""
    sources = (Source("stencil.dt", random_stencil(seed)) for seed in range(SEEDS))
    programs = [one.program for one in map(checked, sources)]
    done = [program is not None and judge(program, DIRECTIVES).is_legal for program in programs]
    assert sum(done) > 2 / 3 * SEEDS
