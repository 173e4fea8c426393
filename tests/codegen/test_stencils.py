"""What a block computes again for itself: random stencils beside the reference."""

from random import Random

import pytest

from dtpoly.algorithm.sizes import input_shapes, sizes_of
from dtpoly.compile import check as checked
from dtpoly.compile import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.verify import Verdict, verify
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


def check(text: str, seed: int) -> Verdict | None:
    """Run it at some sizes, and verify it; None where the schedule is refused."""
    try:
        program = load(Source("stencil.dt", text))
        made = code_of(judge(program).scheduled)
    except DtpolyError:
        return None
    module, random = imported(made.text), Random(seed)
    for at in range(4):
        wanted = {one.name: random.choice(SIZES[one.name]) for one in program.labels}
        sizes = sizes_of(program, input_shapes(program, wanted), wanted)
        compared(module, program, made.stages.outputs, Recipe(at).inputs(program, sizes), sizes)
    return verify(program, made.text).verdict


@pytest.mark.parametrize("text", FOUND.values(), ids=FOUND)
def test_it_is_right_and_proved(text: str) -> None:
    assert [check(text, seed) for seed in range(4)] == [Verdict.PROVED] * 4


@pytest.mark.parametrize("seed", range(SEEDS))
def test_it_is_right_and_never_refuted(seed: int) -> None:
    assert check(random_stencil(seed), seed) is not Verdict.REFUTED


def test_most_are_done() -> None:
    """Not too many are refused: that would be no test."""
    sources = (Source("stencil.dt", random_stencil(seed)) for seed in range(SEEDS))
    programs = [one.program for one in map(checked, sources)]
    done = [program is not None and judge(program).is_legal for program in programs]
    assert sum(done) > 2 / 3 * SEEDS
