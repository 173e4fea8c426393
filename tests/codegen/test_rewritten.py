"""Trees that a user's primitives rewrote: kernels are right, and code generation knows nothing."""

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.legality import judge
from tests.codegen.inputs import Recipe
from tests.codegen.running import Checked, compared, imported
from tests.codegen.shuffle import Shuffle
from tests.schedule.told import MAP, SUM, TWO, TWO_PRODUCTS, read
from tests.schedule.user_primitives import USER

SIZES = {"x": 7, "y": 5, "k": 6, "m": 7, "n": 5, "l": 4}
ALL: Primitives = (*USER, Shuffle)
STENCIL = """
Func f, g; In A; Var x, y; RVar r;
g[x, y] = A[x, y] * 2;
f[x] = rsum(pad(g, 0)[x - 1, r] + pad(g, 0)[x + 1, r], r);
f.compile();
"""


def run(text: str) -> Checked | None:
    """Run a Program with its user's primitives; None where its schedule is refused."""
    program: Program = read(text)
    verdict = judge(program, ALL)
    if not verdict.is_legal:
        return None
    made = code_of(verdict.scheduled)
    sizes = {
        label.name: SIZES["y" if label.name == "r" else label.name] for label in program.labels
    }
    inputs = Recipe(3).inputs(program, sizes)
    return compared(imported(made.text), program, made.stages.outputs, inputs, sizes)


REWRITTEN = {
    "skew": MAP + "f.skew(x, y);",
    "skew in tiles": MAP + "f.tensorize(y:4); f.skew(x, y);",
    "skew in a block": MAP + "f.block(x:4); f.skew(x, y);",
    "skew of a reduction": SUM + "total.skew(x, k);",
    "skew of a reduction in tiles": SUM + "total.tensorize(k:4); total.skew(x, k);",
    "skew of two Funcs": TWO + "g.fuse_at(f, x); f.skew(x, y);",
    "skew of a product": TWO_PRODUCTS + "mm.compile(); mm.skew(m, l);",
    "interchange": MAP + "f.interchange(x);",
    "interchange of a reduction": SUM + "total.interchange(x);",
    "interchange in tiles": TWO + "f.interchange(x); f.tensorize(y:16);",
    "interchange of tiles and loops": MAP + "f.tensorize(x:2, y:4); f.interchange(x);",
    "backwards": MAP + "f.backwards(x);",
    "backwards in tiles": MAP + "f.tensorize(y:2); f.backwards(y); f.backwards(x);",
    "backwards, a reduction": SUM + "total.backwards(k); total.tensorize(k:4);",
    "backwards, fused": TWO + "f.backwards(x); g.fuse_at(f, y);",
    "backwards and skewed": MAP + "f.skew(x, y); f.backwards(x);",
    "interchanged and skewed": MAP + "f.skew(y, x); f.split(x:xi/3);",
    "merged": TWO + "g.fuse_at(f, x); f.merge(y);",
    "distributed": SUM + "total.distribute(x);",
    "spread over programs": MAP + "f.spread(x:2, y:4);",
    "spread over programs, fused": TWO + "g.fuse_at(f, x); f.spread(x:2);",
    "leaning": MAP + "f.lean(x, y);",
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", REWRITTEN)
def test_a_rewritten_tree(name: str) -> None:
    checked = run(REWRITTEN[name])
    assert checked is not None
    assert checked.tight == checked.elements > 0


def test_a_copy_is_read_in_the_iteration_that_wrote_it() -> None:
    """There is memory for the copy of one iteration; of others nothing would be left."""
    assert run(TWO + "g.fuse_at(f, x);") is not None
    with pytest.raises(DtpolyError) as caught:
        run(TWO + "g.fuse_at(f, x); f.distribute(x);")
    (told,) = caught.value.diagnostics
    assert told.code == "DT300"
    assert "the loop over 'x' would overwrite private copies" in told.notes[0].text


# Each with schedules under which its loops are shuffled.
SHUFFLED = {
    "map": (MAP, "f", ("", "f.tensorize(y:4);", "f.tensorize(x:2, y:0);", "f.block(x:2);")),
    "split": (MAP, "f", ("f.split(x:xi/3, y:yi/2);", "f.split(x:xi/2); f.tensorize(y:2);")),
    "sum": (
        SUM,
        "total",
        ("", "total.tensorize(k:4);", "total.split(k:ki/4);", "total.block(k:4);"),
    ),
    "two": (
        TWO,
        "f",
        ("g.fuse_at(f, x);", "g.fuse_at(f, x); f.tensorize(y:2);", "g.fuse_at(f, y);"),
    ),
    "products": (
        TWO_PRODUCTS,
        "_2mm",
        ("", "mm.fuse_at(_2mm, m);", "mm.fuse_at(_2mm, m); _2mm.tensorize(l:0, n:4);"),
    ),
    "stencil": (STENCIL, "f", ("", "f.tensorize(x:4);", "g.fuse_at(f, x);", "f.split(x:xi/2);")),
}


@pytest.mark.long
@pytest.mark.parametrize(
    "seeds", [range(6), pytest.param(range(6, 60), marks=pytest.mark.long)], ids=str
)
@pytest.mark.parametrize("name", SHUFFLED)
def test_shuffled_loops(name: str, seeds: range) -> None:
    text, func, schedules = SHUFFLED[name]
    total, legal = Checked(), 0
    for seed in seeds:
        schedule = schedules[seed % len(schedules)]
        checked = run(f"{text} {schedule} {func}.shuffle({seed});")
        if checked is not None:
            total, legal = total + checked, legal + 1
    assert total.tight == total.elements > 0
    assert legal >= len(seeds) // 2
