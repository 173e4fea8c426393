"""Makes the grammars by which editors colour a file, from the words of the language.

`python -m dtpoly.editor.grammars editors` writes them anew. They colour; what is wrong with a text,
the language server says.
"""

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.editor.highlight_queries import highlights
from dtpoly.frontend.lexical import ALGORITHM, DECLARATION_WORDS, PLACE, RANGE, RESERVED, WHERE
from dtpoly.frontend.symbols import PACKED

OPERATORS = tuple(word for word in RESERVED if word in ("and", "or", "not"))
CONSTANTS = tuple(one for one in RESERVED if one not in (*DECLARATION_WORDS, *OPERATORS))
# Words that mean something at their places alone.
PLACED = (RANGE, PLACE, WHERE, ALGORITHM, "into", "add", "distinct", "packed", "within")
DTYPES = (*DType, *PACKED)
NUMBER = r"\b(?:0[xX][0-9a-fA-F]+|[0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?)\b"


def any_of(words: Iterable[str]) -> str:
    """Return a regular expression for each of these words, alone."""
    return rf"\b(?:{'|'.join(sorted({*words}))})\b"


def textmate() -> Mapping[str, Any]:
    """Return the grammar of VS Code, Sublime Text and GitHub."""
    patterns = [
        ("comment.line.number-sign.dtpoly", r"#.*$"),
        ("storage.type.dtpoly", any_of(DECLARATION_WORDS)),
        ("keyword.operator.logical.dtpoly", any_of(OPERATORS)),
        ("constant.language.dtpoly", any_of(CONSTANTS)),
        ("support.function.directive.dtpoly", r"(?<=\w)\s*\.\s*[A-Za-z_]\w*(?=\s*\()"),
        ("support.function.dtpoly", rf"{any_of(CALL_NAMES)}(?=\s*\()"),
        ("support.type.dtpoly", any_of(DTYPES)),
        ("keyword.control.dtpoly", any_of(PLACED)),
        ("constant.numeric.dtpoly", NUMBER),
        ("string.quoted.dtpoly", r"\"[^\"\n]*\"|'[^'\n]*'"),
    ]
    return {
        "name": "dtpoly",
        "scopeName": "source.dtpoly",
        "fileTypes": ["dt"],
        "patterns": [{"name": name, "match": match} for name, match in patterns],
    }


def vim() -> str:
    """Return the syntax file of Vim and Neovim."""
    functions = r"\|".join(sorted(CALL_NAMES))
    lines = (
        '" Colours .dt files. Made by python -m dtpoly.editor.grammars from the language itself.',
        'if exists("b:current_syntax")',
        "  finish",
        "endif",
        f"syntax keyword dtType {' '.join(DECLARATION_WORDS)}",
        f"syntax keyword dtDtype {' '.join(sorted(DTYPES))}",
        f"syntax keyword dtOperator {' '.join(OPERATORS)}",
        f"syntax keyword dtConstant {' '.join(CONSTANTS)}",
        f"syntax keyword dtPlaced {' '.join(PLACED)}",
        rf"syntax match dtFunction /\<\({functions}\)\ze\s*(/",
        r"syntax match dtDirective /\w\s*\.\s*\zs\h\w*\ze\s*(/",
        r"syntax match dtNumber /\<[0-9][0-9_]*\(\.[0-9_]\+\)\?\([eE][+-]\?[0-9]\+\)\?\>/",
        "syntax match dtComment /#.*$/",
        "highlight default link dtType Type",
        "highlight default link dtDtype Type",
        "highlight default link dtOperator Operator",
        "highlight default link dtConstant Constant",
        "highlight default link dtPlaced Keyword",
        "highlight default link dtFunction Function",
        "highlight default link dtDirective Special",
        "highlight default link dtNumber Number",
        "highlight default link dtComment Comment",
        'let b:current_syntax = "dtpoly"',
    )
    return "".join(f"{line}\n" for line in lines)


def grammars() -> Mapping[str, str]:
    """Return the text of each file, by its place in the folder of editors."""
    return {
        "vscode/syntaxes/dtpoly.tmLanguage.json": json.dumps(textmate(), indent=2) + "\n",
        "vim/syntax/dtpoly.vim": vim(),
        "tree-sitter/queries/highlights.scm": highlights(OPERATORS, CONSTANTS, PLACED),
    }


if __name__ == "__main__":
    for place, text in grammars().items():
        target = Path(sys.argv[1]) / place
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="\n")
