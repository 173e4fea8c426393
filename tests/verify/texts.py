"""Programs and their emitted texts, for tests of the verifier."""

from functools import cache
from pathlib import Path

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source

ROOT = Path(__file__).parent.parent.parent
FILES = (*sorted((ROOT / "tests/data/thesis").glob("*.dt")), ROOT / "examples/matmul.dt")


@cache
def program_of(path: Path) -> Program:
    return load(read_file(str(path)))


@cache
def text_of(program: Program) -> str:
    return code_of(judge(program, DIRECTIVES).scheduled).text


def written(text: str) -> Program:
    """Return a Program from its text."""
    return load(Source("test.dt", text))


def changed(text: str, old: str, new: str, count: int = 1) -> str:
    """Return the text with a mistake in it; what is replaced must be there."""
    assert old in text, old
    return text.replace(old, new, count)


# A product whose sides are copied first, by one launch.
COPIES = written(
    "Func f, lines, turned; In A, B; Var m, n; RVar k;"
    "lines[m, k] = A[m, k]; turned[n, k] = B[k, n];"
    "f[m, n] = rdot(lines[m, k], turned[n, k], k);"
    "lines.block(m:4, k:16); lines.tensorize(m:0, k:0);"
    "turned.block(n:8, k:8); turned.tensorize(n:0, k:0); turned.beside(lines);"
    "f.block(m:16, n:16); f.tensorize(m:0, n:0, k:16); f.num_warps(4); f.compile();"
)
