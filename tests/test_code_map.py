"""Each line of a kernel, and what of the .dt file it comes from."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from dtpoly.algorithm.show import show_directive
from dtpoly.checking import check
from dtpoly.code_map import MappedLine, code_map
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.reading import read_file
from dtpoly.generate import code_of
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.schedule.tree import AxisKind
from dtpoly.source import Source
from tests.conftest import Golden
from tests.schedule.user_primitives import Backwards

ROOT = Path(__file__).parent.parent
FILES = [
    *sorted((ROOT / "tests" / "data" / "thesis").glob("*.dt")),
    *sorted((ROOT / "examples").glob("*.dt")),
]
SOFTMAX = ROOT / "examples" / "softmax.dt"


@dataclass(frozen=True, slots=True)
class Ordering(Backwards):
    """A directive of one's own that says that it orders loops."""

    name: ClassVar[str] = "ordering"
    makes: ClassVar[frozenset[AxisKind]] = frozenset({AxisKind.ORDER})


def mapped(
    source: Source, primitives: Primitives = DIRECTIVES
) -> tuple[tuple[MappedLine, ...], str]:
    verdict = check(source, primitives).verdict
    assert verdict is not None
    code = code_of(verdict.scheduled, "a header")
    return code_map(verdict.scheduled, code), code.text


def row(line: MappedLine) -> str:
    origin = line.origin
    source = "" if origin.source is None else str(next(origin.source.lines()))
    directive = "" if origin.directive is None else show_directive(origin.directive)
    part = "" if origin.part is None else origin.part.text
    return f"{line.text:90.90} | {source:3} | {directive:35} | {part}".rstrip()


@pytest.mark.parametrize("name", ["softmax", "matmul"])
def test_golden(name: str, golden: Golden) -> None:
    lines, _ = mapped(read_file(str(ROOT / "examples" / f"{name}.dt")))
    golden(f"code_map/{name}.txt", "".join(f"{row(line)}\n" for line in lines))


@pytest.mark.parametrize(("cls", "said"), [(Ordering, "f.ordering(x);"), (Backwards, "")])
def test_a_loop_comes_from_a_directive_of_ones_own(cls: type[Backwards], said: str) -> None:
    text = f"Func f; In A; Var x; f[x] = exp(A[x]); f.{cls.name}(x); f.compile();"
    lines, _ = mapped(Source("t.dt", text), (*DIRECTIVES, cls))
    (origin,) = (line.origin for line in lines if line.text.lstrip().startswith("for "))
    assert ("" if origin.directive is None else show_directive(origin.directive)) == said


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_lines_are_those_of_the_file(path: Path) -> None:
    lines, text = mapped(read_file(str(path)))
    file = text.splitlines()
    assert lines
    assert all(file[line.number - 1] == line.text for line in lines)


@pytest.mark.sampled
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_line_of_a_body_comes_from_somewhere(path: Path) -> None:
    lines, _ = mapped(read_file(str(path)))
    start = {line.kernel: line.number for line in lines if line.text.startswith("):")}
    for line in lines:
        is_directive = line.text.endswith(";")
        is_comment = line.text.lstrip().startswith("#") and not is_directive
        is_own = "tl.program_id" in line.text or "if fours:" in line.text or "// 4 * 4" in line.text
        if line.number > start[line.kernel] and not is_own and not is_comment:
            assert line.origin.source or line.origin.directive, line.text


def test_it_says_who_made_a_loop() -> None:
    text = (
        "Func f; In A; Var x, y;\nf[x, y] = A[x, y];\n"
        "f.split(x:xi/64); f.tensorize(xi:0);\nf.compile();\n"
    )
    lines, _ = mapped(Source("a.dt", text))
    loop = next(line for line in lines if " in tl.range(" in line.text and "64" in line.text)
    assert loop.origin.directive is not None
    assert loop.origin.directive.name == "split"


def test_a_producer_with_tiles_of_its_own() -> None:
    text = (
        "Func g, f; In A; Var x, y;\ng[x, y] = exp(A[x, y]);\nf[x, y] = g[x, y] + 1;\n"
        "f.block(x:1); f.tensorize(y:64, g.y:128); g.fuse_at(f, x); f.compile();\n"
    )
    lines, _ = mapped(Source("a.dt", text))
    parts = {line.origin.part.text for line in lines if line.origin.part and "arange" in line.text}
    assert {"y:64", "g.y:128"} <= parts
