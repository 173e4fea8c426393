"""The grammar for tree-sitter has the language's words, and reads what the compiler reads.

The second half needs the package tree-sitter and a C compiler, and is skipped without them.
"""

import ctypes
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dtpoly.algorithm.operations import INFIX, NOT, OPERATIONS, SIGN
from dtpoly.editor.grammars import CONSTANTS, OPERATORS, PLACED
from dtpoly.frontend.lexical import DECLARATION_WORDS
from dtpoly.frontend.parse import parse
from dtpoly.source import Source

ROOT = Path(__file__).parents[2]
HOME = ROOT / "editors/tree-sitter"
# Without comments and without regular expressions.
GRAMMAR = re.sub(r"^ *//.*|/.*/(?=,$)", "", (HOME / "grammar.js").read_text(), flags=re.MULTILINE)
RULES = GRAMMAR.partition("rules: {")[2]
FOLDERS = ("examples", "dtpoly/nn", "dtpoly/templates", "tests/data")
FILES = sorted(one for at in FOLDERS for one in (ROOT / at).rglob("*.dt*"))
QUERIES = sorted(one.name for one in (HOME / "queries").glob("*.scm"))

Reader = Callable[[str], Any]


def literals(text: str) -> set[str]:
    return set(re.findall(r'"([^"\n]+)"', text))


def test_the_words_of_the_grammar_are_those_of_the_language() -> None:
    # Rules name the parts of their nodes by words in quotes, too: field("name", ...).
    words = literals(re.sub(r'field\("\w+"', "", GRAMMAR)) - {"dtpoly"}
    known = {*DECLARATION_WORDS, *OPERATORS, *CONSTANTS, *PLACED}
    assert {word for word in words if word.isalpha()} == known


def test_the_operators_of_the_grammar_bind_as_those_of_the_language() -> None:
    levels = re.findall(r"^  \[(\d+), \[(.*)\]\],$", GRAMMAR, re.MULTILINE)
    found = {one: int(level) for level, ones in levels for one in literals(ones)}
    assert found == {symbol: one.precedence for symbol, one in INFIX.items()}
    assert f"const NOT = {NOT};" in GRAMMAR
    assert f"const SIGN = {SIGN};" in GRAMMAR
    unary = RULES[RULES.index("unary:") : RULES.index("binary:")]
    before = {one.symbol for one in OPERATIONS if one.symbol and one.arity == 1} | {"+"}
    assert literals(unary) - {"operator"} == before


def test_the_parser_is_made_of_the_grammar() -> None:
    parser = (HOME / "src/parser.c").read_text()
    names = re.search(r"ts_symbol_names\[\] = \{(.*?)\n\};", parser, re.DOTALL)
    assert names is not None
    made = set(re.findall(r'= "(.*)",', names[1]))
    tokens = literals(re.sub(r'field\("\w+"', "", GRAMMAR)) - {"dtpoly"}
    nodes = set(re.findall(r"^    ([a-z]\w*): \(", RULES, re.MULTILINE))
    assert tokens | nodes <= made, "run tree-sitter generate in editors/tree-sitter"
    helpers = {one for one in made if one.startswith("_") or "_repeat" in one}
    assert made - helpers == tokens | nodes | {"end"}
    fields = set(re.findall(r'field\("(\w+)"', GRAMMAR))
    listed = re.search(r"ts_field_names\[\] = \{(.*?)\n\};", parser, re.DOTALL)
    assert listed is not None
    assert set(re.findall(r'= "(\w+)"', listed[1])) == fields


@pytest.fixture(scope="module")
def language(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Compile the parser, and return it as tree-sitter wants it."""
    tree_sitter: Any = pytest.importorskip("tree_sitter", reason="tree-sitter is not installed")
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("there is no C compiler: cc")
    library = tmp_path_factory.mktemp("grammar") / "dtpoly.so"
    sources = ["-I", str(HOME / "src"), "-o", str(library), str(HOME / "src/parser.c")]
    subprocess.run([compiler, "-shared", "-fPIC", *sources], check=True)
    found: Any = ctypes.CDLL(str(library)).tree_sitter_dtpoly
    found.restype = ctypes.c_void_p
    capsule: Any = ctypes.pythonapi.PyCapsule_New
    capsule.restype = ctypes.py_object
    capsule.argtypes = (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return tree_sitter.Language(capsule(found(), b"tree_sitter.Language", None))


@pytest.fixture(scope="module")
def read(language: Any) -> Reader:
    """Return the function that reads a text, and gives the root of its tree."""
    tree_sitter: Any = pytest.importorskip("tree_sitter")
    parser = tree_sitter.Parser(language)
    return lambda text: parser.parse(text.encode()).root_node


def test_examples_and_operators_have_no_error(read: Reader) -> None:
    shown = [one for one in FILES if not one.is_relative_to(ROOT / "tests")]
    assert len(shown) > 100
    for file in shown:
        assert not read(file.read_text(encoding="utf-8")).has_error, file.relative_to(ROOT)


@pytest.mark.long
def test_what_the_compiler_reads_the_grammar_reads(read: Reader) -> None:
    assert len(FILES) > 500
    right = wrong = 0
    for file in FILES:
        source = Source(file.name, file.read_text(encoding="utf-8"))
        found = {one.code for one in parse(source).found}
        has_error = bool(read(source.text).has_error)
        assert found or not has_error, file.relative_to(ROOT)
        right, wrong = right + (not found), wrong + has_error
    assert right > 500
    assert wrong > 50


@pytest.mark.parametrize(
    "text",
    [
        "where[x] = where(A[x] > 0, 1, add[x]); where.block(x:4); add.compile();",
        "algorithm[x] = at[in]; algorithm.compile(); Func into into at at [T[x]] add;",
        "where (block.x + 1) * 2 <= f.tensorize.y; f.block(x:{1..4 *2, 0.5}); ;",
        "RVar k in [0, len(m) // 2); In W: i4 packed k, T: i64 within len(n); Var c: 4;",
        "{ f.map(x, y) | f.num_warps(4), { f.num_stages(2) | } | };",
        "f[x] = not A[x] < 1. and -.5e3 ** 1;",
    ],
)
def test_the_grammar_and_the_compiler_agree(read: Reader, text: str) -> None:
    found = [one.code for one in parse(Source("text", text)).found]
    assert bool(read(text).has_error) == bool(found), found


def test_operators_are_grouped_as_the_compiler_groups_them(read: Reader) -> None:
    body = read("f[x] = not a + b * -c[x] == d or e;").named_children[0].child_by_field_name("body")

    def shown(node: Any) -> str:
        if node.type not in ("unary", "binary"):
            return str(node.text.decode())
        return f"({' '.join(shown(one) for one in node.children)})"

    assert shown(body) == "((not ((a + (b * (- c[x]))) == d)) or e)"


def captures(language: Any, root: Any, query: str) -> dict[str, set[str]]:
    tree_sitter: Any = pytest.importorskip("tree_sitter")
    text = (HOME / "queries" / query).read_text()
    found = tree_sitter.QueryCursor(tree_sitter.Query(language, text)).captures(root)
    return {name: {one.text.decode() for one in nodes} for name, nodes in found.items()}


def test_the_colours(language: Any, read: Reader) -> None:
    text = 'algorithm "a.dt"; Func f: f32;  # it\nf[x] = exp(A[x]) + inf; f.block(x:4); f.own(1);'
    assert captures(language, read(text), "highlights.scm") == {
        "comment": {"# it"},
        "string": {'"a.dt"'},
        "number": {"4", "1"},
        "constant.builtin": {"inf"},
        "keyword": {"algorithm"},
        "keyword.type": {"Func"},
        "operator": {"+", "="},
        "punctuation.bracket": {"(", ")", "[", "]"},
        "punctuation.delimiter": {";", ":", "."},
        "type.builtin": {"f32"},
        "function.builtin": {"exp"},
        "function.method.builtin": {"block"},
        "function.method": {"own"},
    }


def test_folds_names_and_indents(language: Any, read: Reader) -> None:
    schedule = "f.map(x:xi/8);\nwhere block.x > 1;\nf.compile();"
    root = read(f"Func f;\nIn A; Var x;\nf[x] = A[\n  x];\n{schedule}\n")
    assert schedule in captures(language, root, "folds.scm")["fold"]
    names = captures(language, root, "locals.scm")
    assert names["local.definition.function"] == {"f"}
    assert names["local.definition.parameter"] == {"A"}
    assert names["local.definition.var"] == {"x", "xi"}
    assert {"f", "A", "x"} <= names["local.reference"]
    assert "A[\n  x]" in captures(language, root, "indents.scm")["indent.begin"]


def test_each_query_is_one_that_editors_know() -> None:
    assert QUERIES == ["folds.scm", "highlights.scm", "indents.scm", "locals.scm"]
