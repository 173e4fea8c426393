"""The files by which editors colour texts are made from the language, and fit to it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from pygments.lexers import find_lexer_class
from pygments.token import Error, Keyword, Name, Operator

from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.editor.grammars import grammars, textmate
from dtpoly.editor.pygments_lexer import DtpolyLexer
from dtpoly.frontend.lexical import TokenKind, scan
from dtpoly.source import Source

ROOT = Path(__file__).parents[2]
EDITORS = ROOT / "editors"
FILES = sorted((*(ROOT / "examples").rglob("*.dt"), *(ROOT / "dtpoly/nn").glob("*.dt")))


def test_the_committed_grammars_are_those_of_the_language() -> None:
    for place, text in grammars().items():
        assert (EDITORS / place).read_text() == text, "python -m dtpoly.editor.grammars editors"


def words_of(text: str, *kinds: Any) -> list[str]:
    """Return the words to which Pygments gives one of these colours, in order."""
    found: list[tuple[Any, str]] = [*DtpolyLexer().get_tokens(text)]
    return [word for kind, word in found if any(kind in one for one in kinds)]


@pytest.mark.sampled
@pytest.mark.parametrize("file", FILES, ids=[file.stem for file in FILES])
def test_pygments_divides_a_file_as_the_compiler_does(file: Path) -> None:
    text = file.read_text()
    assert not words_of(text, Error)
    names = [one for one in scan(Source(file.name, text)).tokens if one.kind is TokenKind.NAME]
    assert words_of(text, Name, Keyword, Operator.Word) == [one.text for one in names]


def test_pygments_finds_the_lexer_by_its_name() -> None:
    found = find_lexer_class("dtpoly")
    assert found is not None
    assert "dtpoly" in found.aliases
    directives = {one.name for one in DIRECTIVES}
    text = "".join(f"f.{one}(x);\n" for one in sorted(directives))
    assert {*words_of(text, Name.Decorator)} == directives


def coloured(line: str) -> dict[str, str]:
    """Return which colour the first pattern that matches gives to each part of a line."""
    found, at = dict[str, str](), 0
    patterns = [(one["name"], re.compile(one["match"], re.ASCII)) for one in textmate()["patterns"]]
    while at < len(line):
        matches = [(one.start(), name, one) for name, p in patterns if (one := p.search(line, at))]
        if not matches:
            break
        _, name, first = min(matches, key=lambda one: one[0])
        found[first.group().strip(" .")] = name.removesuffix(".dtpoly")
        at = max(first.end(), at + 1)
    return found


def test_the_grammar_of_vs_code() -> None:
    assert coloured("Func mm: f16 into W;  # f32 exp") == {
        "Func": "storage.type",
        "f16": "support.type",
        "into": "keyword.control",
        "# f32 exp": "comment.line.number-sign",
    }
    found = coloured("mm[m] = exp(A[m]) * 1.5e-3 and inf; mm.block(m:64);")
    assert found == {
        "exp": "support.function",
        "1.5e-3": "constant.numeric",
        "and": "keyword.operator.logical",
        "inf": "constant.language",
        "block": "support.function.directive",
        "64": "constant.numeric",
    }


def test_the_snippets_are_right() -> None:
    snippets: dict[str, Any] = json.loads((EDITORS / "vscode/snippets/dtpoly.json").read_text())
    assert snippets
    for one in snippets.values():
        text = "\n".join(one["body"])
        names = {number: name for number, name in re.findall(r"\$\{(\d+):(\w+)\}", text)}
        for number, name in names.items():
            text = text.replace(f"${{{number}:{name}}}", name).replace(f"${number}", name)
        assert check(Source("snippet.dt", text)).diagnostics == ()


def test_the_extension_names_files_that_are_there() -> None:
    package: dict[str, Any] = json.loads((EDITORS / "vscode/package.json").read_text())
    given = package["contributes"]
    for path in (
        given["languages"][0]["configuration"],
        given["grammars"][0]["path"],
        given["snippets"][0]["path"],
    ):
        json.loads((EDITORS / "vscode" / path).read_text())
    commands = {one["command"] for one in given["commands"]}
    code = (EDITORS / "vscode/extension.js").read_text()
    assert all(f'registerCommand("{one}"' in code for one in commands)
    for setting in given["configuration"]["properties"]:
        assert f'get("{setting.partition(".")[2]}")' in code
