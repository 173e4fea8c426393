"""Colours .dt files wherever Pygments does: in pages, terminals and notebooks."""

from pygments.lexer import RegexLexer, words
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation, String, Whitespace

from dtpoly.algorithm.operations import CALL_NAMES
from dtpoly.editor.grammars import CONSTANTS, DTYPES, NUMBER, OPERATORS, PLACED
from dtpoly.frontend.lexical import DECLARATION_WORDS


class DtpolyLexer(RegexLexer):
    """Divides a file into the parts that get colours of their own."""

    name = "dtpoly"
    aliases = ("dtpoly", "dt")
    filenames = ("*.dt",)
    mimetypes = ("text/x-dtpoly",)
    url = ""
    tokens = {  # noqa: RUF012  # so Pygments declares it
        "root": [
            (r"\s+", Whitespace),
            (r"#[^\n]*", Comment.Single),
            (words(DECLARATION_WORDS, suffix=r"\b"), Keyword.Declaration),
            (words(OPERATORS, suffix=r"\b"), Operator.Word),
            (words(CONSTANTS, suffix=r"\b"), Keyword.Constant),
            (r"(?<=\.)[A-Za-z_]\w*(?=\s*\()", Name.Decorator),
            (words(CALL_NAMES, suffix=r"\b(?=\s*\()"), Name.Builtin),
            (words(DTYPES, suffix=r"\b"), Keyword.Type),
            (words(PLACED, suffix=r"\b"), Keyword),
            (NUMBER, Number),
            (r"\"[^\"\n]*\"|'[^'\n]*'", String),
            (r"\w+", Name),
            (r"\*\*|//|<<|>>|<=|>=|==|!=|->|\.\.|[-+*/%<>&^~|=]", Operator),
            (r"[()\[\]{},:.;]", Punctuation),
        ]
    }
