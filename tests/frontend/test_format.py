"""One canonical layout: the same tokens, the same Program, and nothing to do the second time."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.checking import load, understand
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.format import format_source
from dtpoly.frontend.lexical import TokenKind, scan
from dtpoly.frontend.line_layout import MAX_COLUMNS
from dtpoly.frontend.parse import parse
from dtpoly.source import Source
from tests.generation.algorithms import Limits
from tests.generation.layouts import relaid, respaced
from tests.strategies import drawn, programs

DATA = Path(__file__).parents[1] / "data" / "thesis"
LIMITS = Limits(funcs=2)


def formatted(text: str) -> str:
    return format_source(Source("layout.dt", text))


def meaning(text: str) -> Program:
    """The Program, whether its schedule is legal or not."""
    parsed = parse(Source("layout.dt", text))
    program = understand(parsed.file, parsed.found).program
    assert program is not None
    return program


def tokens(text: str) -> list[tuple[TokenKind, str]]:
    """The tokens; of a comment, what it says."""
    return [
        (t.kind, "".join(t.text.split()) if t.kind is TokenKind.COMMENT else t.text)
        for t in scan(Source("layout.dt", text)).tokens
    ]


@st.composite
def texts(draw: st.DrawFn) -> tuple[str, str]:
    """A Program as shown, and its tokens in another layout with comments."""
    text = show(draw(programs(LIMITS)))
    return text, relaid(drawn(draw), text)


@st.composite
def respaced_texts(draw: st.DrawFn) -> tuple[str, str]:
    """A Program as shown, and the same with other spaces."""
    text = show(draw(programs(LIMITS)))
    return text, respaced(drawn(draw), text)


LAYOUTS = {
    "a place, and a tensor named at": (
        "Func f into A  at[ p,x ];In at,A:f16 ;",
        "Func f into A at [p, x];\nIn at, A: f16;\n",
    ),
    "spaces": (
        "Func   f;In A :bf16 ,B;SIn alpha;Var x,y;\nf [x,y]=alpha*( A[x , y]+B[ x,y ] ) ;",
        "Func f;\nIn A: bf16, B;\nSIn alpha;\nVar x, y;\nf[x, y] = alpha * (A[x, y] + B[x, y]);\n",
    ),
    "directives": (
        "f . block( x : 16,y:64 );f.map(y : yi / 8,x,yi);_2mm.tensorize(mm . l:16);f.compile( );",
        "f.block(x:16, y:64);\nf.map(y:yi/8, x, yi);\n_2mm.tensorize(mm.l:16);\nf.compile();\n",
    ),
    "signs": (
        "f[]=- a-- b*+ c%- ( d )<A [- x+1];f[] = not-a or not ( b )and pad( A,-inf )[x- 1];",
        "f[] = -a - -b * +c % -(d) < A[-x + 1];\n"
        "f[] = not -a or not (b) and pad(A, -inf)[x - 1];\n",
    ),
    "comments": (
        "#!shebang\n#a\n#\n##b\n#  c\n   # d\t\nFunc f;#e\nVar x;  #  f\t\n\n#g",
        "#!shebang\n# a\n#\n##b\n#  c\n# d\nFunc f;  # e\nVar x;   #  f\n\n# g\n",
    ),
    "a comment after several statements": (
        "Func f;Var x;# of both\n",
        "Func f;\nVar x;  # of both\n",
    ),
    "comments that trail neighbours": (
        "Func f; # a\nIn A, B; # b\nVar x;\nRVar k; # c\n\nSIn long_name; # d\n",
        "Func f;   # a\nIn A, B;  # b\nVar x;\nRVar k;  # c\n\nSIn long_name;  # d\n",
    ),
    "comments inside of a statement": (
        "f[x] = A[x] # first\n   # own\n\n + exp( # open\nB[x]\n# last\n) # close\n; # end",
        "f[x] = A[x]  # first\n    # own\n    + exp(  # open\n        B[x]\n        # last\n"
        "    )  # close\n;      # end\n",
    ),
    "blank lines": (
        "\n\n \nFunc f;\n\n\n\nVar x;\n\t\n# a\n\n\n# b\n\n",
        "Func f;\n\nVar x;\n\n# a\n\n# b\n",
    ),
    "the author's line breaks": (
        "In\nA,\n   B;\nf[x, y] =\n  A[x, y]\n  * (\nB[x, y]\n+\nC[x, y]\n)\n;",
        "In\n    A,\n    B;\nf[x, y] =\n    A[x, y]\n    * (\n        B[x, y]\n        +\n"
        "        C[x, y]\n    );\n",
    ),
    "a closing bracket of the first line": (
        "f.block(\n    x:16,\n    y:64\n  );",
        "f.block(\n    x:16,\n    y:64\n);\n",
    ),
    "line ends": ("Func f;\r\nVar x;\r\r\n# a\r# b\r\n", "Func f;\nVar x;\n\n# a\n# b\n"),
    "empty statements": ("Func f;;\n;", "Func f;\n;\n;\n"),
    "nothing": ("", ""),
    "spaces only": (" \n\t\r\n", ""),
}


@pytest.mark.parametrize(("before", "after"), LAYOUTS.values(), ids=LAYOUTS)
def test_layout(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after


WRAPPED = {
    "at the loosest operator": (
        f"f[x, y] = {'A[x, y] * ' * 8}2 + {'B[x, y] * ' * 8}3;",
        f"f[x, y] = {'A[x, y] * ' * 8}2\n    + {'B[x, y] * ' * 8}3;\n",
    ),
    "as late as fits": (
        f"f[x] = {' + '.join(['A[x]'] * 30)};",
        f"f[x] = {' + '.join(['A[x]'] * 13)}\n    + {' + '.join(['A[x]'] * 13)}\n"
        f"    + {' + '.join(['A[x]'] * 4)};\n",
    ),
    "inside of brackets": (
        f"f[x] = rsum({'A[x, k] * ' * 9}2, k) - rsum(B[x, k], k);",
        f"f[x] = rsum({'A[x, k] * ' * 8}A[x, k]\n        * 2,\n        k)\n"
        "    - rsum(B[x, k], k);\n",
    ),
    "a declaration": (
        f"In {', '.join(f'input_{i}' for i in range(12))};",
        f"In {', '.join(f'input_{i}' for i in range(10))},\n"
        f"    {', '.join(f'input_{i}' for i in range(10, 12))};\n",
    ),
    "a line of the author": (
        f"f[x] = A[x]\n + {' + '.join(['A[x]'] * 16)};",
        f"f[x] = A[x]\n    + {' + '.join(['A[x]'] * 13)}\n    + {' + '.join(['A[x]'] * 3)};\n",
    ),
    "no place to break": (f"Func {'f' * 120};", f"Func {'f' * 120};\n"),
}


@pytest.mark.parametrize(("before", "after"), WRAPPED.values(), ids=WRAPPED)
def test_long_lines(before: str, after: str) -> None:
    assert formatted(before) == after
    assert formatted(after) == after


@pytest.mark.parametrize("path", sorted(DATA.glob("*.dt")), ids=lambda path: path.stem)
def test_thesis(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert load(Source("layout.dt", formatted(text))) == load(Source("layout.dt", text))
    assert formatted(formatted(text)) == formatted(text)


@pytest.mark.parametrize("text", ["f[x] = ;", "Func f", "f[x] = (1;", "In A; ?", "é"])
def test_wrong_syntax_is_refused(text: str) -> None:
    source = Source("layout.dt", text)
    with pytest.raises(DtpolyError) as caught:
        format_source(source)
    assert caught.value.diagnostics == parse(source).found


def test_what_only_resolution_refuses_is_formatted() -> None:
    assert formatted("f[x]=B[q];") == "f[x] = B[q];\n"


@pytest.mark.long
@given(texts())
def test_meaning_and_tokens_stay(both: tuple[str, str]) -> None:
    text, layout = both
    assert meaning(formatted(layout)) == meaning(text)
    assert tokens(formatted(layout)) == tokens(layout)


@pytest.mark.long
@given(texts())
def test_idempotent(both: tuple[str, str]) -> None:
    for text in both:
        once = formatted(text)
        assert formatted(once) == once


@given(respaced_texts())
def test_canonical(both: tuple[str, str]) -> None:
    text, layout = both
    assert formatted(layout) == formatted(text)


BREAKABLE = re.compile(r", | (?:[-+*/%<>]|[<>=!]=|and|or) ")


@pytest.mark.long
@given(texts())
def test_lines(both: tuple[str, str]) -> None:
    """Lines end as they should, and a line that can be broken is not too long."""
    text = formatted(both[1])
    assert not text.startswith("\n")
    assert not text.endswith("\n\n")
    for wrong in ("\n\n\n", " \n", "\t", "\r"):
        assert wrong not in text
    *lines, last = text.split("\n")
    assert not last
    for line in lines:
        code = line.partition("#")[0].rstrip()
        assert len(code) <= MAX_COLUMNS or not BREAKABLE.search(code.strip())
