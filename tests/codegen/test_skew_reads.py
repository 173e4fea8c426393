"""Reads at sums of which no label has the smallest step: a box around them is computed again."""

from dataclasses import dataclass

import pytest

from dtpoly.algorithm.expressions import reads
from dtpoly.algorithm.label_sizes import input_shapes, sizes_of
from dtpoly.algorithm.program import Program
from dtpoly.budget import within
from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported

SECONDS = 10.0  # of the processor, for finding the kernel
PROVING = 30.0  # and for proving it: four times what the longest proof takes


@dataclass(frozen=True, slots=True)
class Case:
    """A file, and sizes of x and y at which it is run."""

    text: str
    sizes: tuple[tuple[int, int], ...]


def _sizes(program: Program, x: int, y: int) -> dict[str, int]:
    """Return sizes of all labels; those of g's labels are as large as its reader f needs."""
    sizes = {"x": x, "y": y, "k": 5}
    found: dict[str, int] = {}
    for read in reads(program.func("f").body):
        for label, index in zip(program.func("g").labels, read.indices, strict=True):
            last = sum(c * (sizes[one] - 1) for one, c in index.linear if c > 0) + index.constant
            found[label] = max(found.get(label, 0), last + 1)
    return found | sizes


START = "Func f, g; In A; Var x, y, z; g[z] = A[z] * 2.0;"
SUM = "Func f, g; In A; Var x, z; RVar y; g[z] = A[z] * 2.0;"
SAME = "Func f, g; In A; Var x, y; g[x] = A[x] * 2.0;"
UNEVEN = "f.block(x:37, y:41); f.tensorize(x:32, y:32); g.fuse_at(f, y, recompute); f.compile();"
EVEN = """f.block(x:8, y:16); f.tensorize(x:8, y:16, z:64); g.fuse_at(f, y, recompute);
    f.compile();"""

CASES = {
    "one label of both, so that one element is all there is": Case(
        f"{SAME} f[x, y] = g[997*x + 1009*y] + g[1013*x + 991*y] + g[983*x + 977*y]; {UNEVEN}",
        ((1, 1),),
    ),
    "two reads of that kind": Case(
        f"{SAME} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; {UNEVEN}", ((1, 1),)
    ),
    "one read": Case(
        f"{START} f[x, y] = g[3*x + 5*y]; {EVEN}",
        (
            (9, 17),
            (1, 1),
        ),
    ),
    "one read, blocks that tiles do not divide": Case(
        f"{START} f[x, y] = g[3*x + 5*y]; f.block(x:5, y:3); f.tensorize(x:4, y:2, z:16);"
        "g.fuse_at(f, y, recompute); f.compile();",
        (
            (7, 4),
            (11, 9),
        ),
    ),
    "two reads": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; {EVEN}",
        (
            (9, 17),
            (3, 20),
        ),
    ),
    "three reads of coprime numbers": Case(
        f"{START} f[x, y] = g[97*x + 101*y] + g[103*x + 89*y] + g[83*x + 79*y]; {EVEN}",
        (
            (3, 2),
            (9, 17),
        ),
    ),
    "three reads of large coprime numbers": Case(
        f"{START} f[x, y] = g[997*x + 1009*y] + g[1013*x + 991*y] + g[983*x + 977*y];"
        "f.block(x:4, y:4); f.tensorize(x:4, y:4, z:1024); g.fuse_at(f, y, recompute);"
        "f.compile();",
        ((5, 3),),
    ),
    "numbers below 0": Case(
        f"{START} f[x, y] = g[7*x - 3*y + 60] + g[5*y - 2*x + 40]; {EVEN}",
        (
            (9, 17),
            (17, 1),
        ),
    ),
    "offsets": Case(
        f"{START} f[x, y] = g[31*x + 17*y + 5] + g[29*x + 19*y + 3] + g[31*x + 17*y + 101]; {EVEN}",
        (
            (9, 5),
            (2, 18),
        ),
    ),
    "two labels of g": Case(
        """Func f, g; In A; Var x, y, z, w; g[z, w] = A[z, w] * 2.0;
        f[x, y] = g[3*x + 2*y, 5*x + 3*y] + g[2*x + 5*y, 7*x + 2*y];
        f.block(x:4, y:4); f.tensorize(x:4, y:4, z:16, w:16); g.fuse_at(f, y, recompute);
        f.compile();""",
        ((5, 3), (2, 9)),
    ),
    "one of two labels of g is plain": Case(
        """Func f, g; In A; Var x, y, z, w; g[z, w] = A[z, w] * 2.0;
        f[x, y] = g[3*x + 2*y, y] + g[2*x + 5*y, y];
        f.block(x:4, y:4); f.tensorize(x:4, y:4, z:16, w:4); g.fuse_at(f, y, recompute);
        f.compile();""",
        ((5, 7), (2, 9)),
    ),
    "a read that is not skew beside one that is": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[x + 2*y]; {EVEN}",
        (
            (9, 17),
            (10, 3),
        ),
    ),
    "groups of blocks": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.map(x:i/2, y, i); {EVEN}",
        ((17, 18),),
    ),
    "in each block": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.block(x:8, y:8);"
        "f.tensorize(x:8, y:8, z:32); g.fuse_at(f, x, recompute); f.compile();",
        ((9, 10),),
    ),
    "without blocks": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.tensorize(x:8, y:8, z:32);"
        "g.fuse_at(f, y, recompute); f.compile();",
        ((9, 10),),
    ),
    "no lanes of g": Case(
        f"{START} f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.block(x:8, y:8); f.tensorize(x:8, y:8);"
        "g.fuse_at(f, y, recompute); f.compile();",
        ((9, 3),),
    ),
    "a sum": Case(
        f"{SUM} f[x] = rsum(g[3*x + 5*y] * g[7*x + 2*y], y); {EVEN}".replace(
            "f.block(x:8, y:16);", "f.block(x:8);"
        ),
        ((9, 17),),
    ),
    "a sum in parts": Case(
        f"{SUM} f[x] = rsum(g[3*x + 5*y] * g[7*x + 2*y], y); {EVEN}", ((9, 17),)
    ),
    "a sum by atomic operations": Case(
        f"{SUM} f[x] = rsum(g[3*x + 5*y] * g[7*x + 2*y], y); f.atomic(y); {EVEN}",
        ((9, 17),),
    ),
    "g is a sum": Case(
        """Func f, g; In A; Var x, y, z; RVar k; g[z] = rsum(A[z, k], k);
        f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.block(x:8, y:8);
        f.tensorize(x:8, y:8, z:32, k:4); g.fuse_at(f, y, recompute); f.compile();""",
        ((9, 3),),
    ),
    "what g reads is in the same kernel": Case(
        """Func f, g, h; In A; Var x, y, z; h[z] = A[z] + 1.0; g[z] = h[z] * 2.0;
        f[x, y] = g[3*x + 5*y] + g[7*x + 2*y]; f.block(x:8, y:8); f.tensorize(x:8, y:8, z:32);
        g.fuse_at(f, y, recompute); h.fuse_at(f, y, recompute); f.compile();""",
        ((9, 3),),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", CASES)
def test_it_is_found_soon_and_is_right(name: str) -> None:
    """A kernel comes out, is proved, and computes what the reference does."""
    case = CASES[name]
    with within(SECONDS):
        found = check(Source("skew.dt", case.text))
        assert found.verdict is not None
        assert found.program is not None, found.diagnostics
        made = code_of(found.verdict.scheduled)
    program, module = found.program, imported(made.text)
    for at, (x, y) in enumerate(case.sizes):
        wanted = _sizes(program, x, y)
        # As a caller has it who passes what must be: y is as large as the tensors let it be.
        sizes = sizes_of(program, input_shapes(program, wanted), {"x": x})
        inputs = Recipe(at).inputs(program, sizes)
        compared(module, program, made.stages.outputs, inputs, sizes)
    report = verify(program, made.text, PROVING)
    assert report.verdict is LayerVerdict.PROVED, report
