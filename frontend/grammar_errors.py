"""Explains in the writer's words why the grammar refuses a statement.

The parser calls it with the place where the grammar stopped. The messages of pyparsing itself are
never shown.
"""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span
from dtpoly.suggest import near

from . import elsewhere
from .brackets import open_brackets, opening_ranges
from .characters import shortened
from .lexical import (
    CLOSING,
    DECLARATION_WORDS,
    OPENING,
    RANGE,
    RESERVED,
    StatementPiece,
    Token,
    TokenKind,
)


def foreign_operator(piece: StatementPiece) -> Diagnostic | None:
    """Report the first operator of a statement that only another language has."""
    equals = 0
    inside: list[str] = []
    before: Token | None = None
    for token in piece.tokens:
        equals += token.text == "="
        if token.text in OPENING:
            inside.append(token.text)
        elif token.text in CLOSING:
            inside.pop()
        if token.text == "//" and not (before is not None and before.ends_operand):
            return _comment(token)
        before = token
        if token.text in elsewhere.OPERATORS:
            meant = elsewhere.OPERATORS[token.text]
            return Diagnostic(
                "DT116",
                Severity.ERROR,
                f"'{token.text}' is not an operator of this language",
                token.span,
                "unknown operator",
                hint=f"write {meant}" if meant else "remove it",
                edits=(Edit(token.span, _apart(token.span, meant)),) if meant.isalpha() else (),
            )
        if token.text == "=" and equals > 1 and piece.is_definition:
            return Diagnostic(
                "DT116",
                Severity.ERROR,
                "'=' inside an expression",
                token.span,
                "a definition has one '='",
                hint="compare with ==",
                edits=(Edit(token.span, "=="),),
            )
    return None


def _comment(slashes: Token) -> Diagnostic:
    return Diagnostic(
        "DT116",
        Severity.ERROR,
        "'//' has nothing on its left to divide",
        slashes.span,
        "no comment begins like this",
        hint="a comment starts with #",
        edits=(Edit(slashes.span, "#"),),
    )


def curly(piece: StatementPiece) -> Diagnostic | None:
    """Report the first curly bracket of a declaration or a definition."""
    found = [token for token in piece.tokens if token.text in ("{", "}")]
    if not found:
        return None
    return Diagnostic(
        "DT104",
        Severity.ERROR,
        f"'{found[0].text}' is no bracket of an expression",
        found[0].span,
        "curly",
        (Note("curly brackets hold what there is to choose from in directives"),),
        f"write {'(' if found[0].text == '{' else ')'}",
        tuple(Edit(token.span, "(" if token.text == "{" else ")") for token in found),
    )


def _apart(span: Span, word: str) -> str:
    """Return the word, with a space wherever it would touch the text beside the span."""
    text = span.source.text
    before = text[max(span.start - 1, 0) : span.start]
    after = text[span.end : span.end + 1]
    left = "" if before.isspace() or before in "([" else " "
    return f"{left}{word}{'' if after.isspace() else ' '}"


def reserved_name(piece: StatementPiece) -> Diagnostic | None:
    """Report the first reserved word that stands where a declaration needs a name.

    In brackets there are expressions, as `[where(m < n and m < 9, a, b)]`.
    """
    depth = 0
    for token in piece.tokens[1:]:
        depth += (token.text in ("(", "[")) - (token.text in (")", "]"))
        if token.text in RESERVED and not (depth > 0 and token.text in ("and", "or", "not")):
            is_number = token.text in ("inf", "nan")
            return Diagnostic(
                "DT115",
                Severity.ERROR,
                f"'{token.text}' is a word of the language and cannot be a name",
                token.span,
                "reserved",
                hint="it is a number: use it without declaring it"
                if is_number
                else f"call it {token.text}_ or otherwise",
            )
    return None


def no_statement(piece: StatementPiece) -> Diagnostic:
    """Report a statement whose first tokens begin no kind of statement."""
    first = piece.tokens[0]
    second = piece.tokens[1] if len(piece.tokens) > 1 else None
    if first.kind is TokenKind.NAME and second is not None and second.text == "(":
        closing = next(i for i in range(2, len(piece.tokens) + 1) if _is_closed(piece, i))
        if [token.text for token in piece.tokens[closing : closing + 1]] == ["="]:
            return _parentheses_on_the_left(first, second, piece.tokens[closing - 1])
    if first.text == "(" and "=" in [token.text for token in piece.tokens]:
        several = _several_on_the_left(piece)
        if several is not None:
            return several
    shown = Diagnostic(
        "DT110",
        Severity.ERROR,
        "this is not a statement",
        piece.span,
        "neither a declaration, nor a definition, nor a directive",
        hint="statements look like: Func f;  f[x] = A[x];  f.block(x:16);  where block.x > 8;",
    )
    if first.kind is TokenKind.NAME and (second is None or second.kind is TokenKind.NAME):
        word = elsewhere.DECLARATIONS.get(first.text.lower()) or near(first.text, DECLARATION_WORDS)
        if word is not None:
            return replace(
                shown,
                span=first.span,
                label="starts no statement",
                hint=f"did you mean {word}?",
                edits=(Edit(first.span, word),),
            )
    return shown


def _is_closed(piece: StatementPiece, count: int) -> bool:
    return not open_brackets(piece.tokens[:count])


def _parentheses_on_the_left(func: Token, opening: Token, closing: Token) -> Diagnostic:
    return Diagnostic(
        "DT112",
        Severity.ERROR,
        "the left side of a definition is indexed with brackets",
        opening.span,
        "'[' expected here",
        hint=f"write {shortened(func.text)}[...] = ...",
        edits=(Edit(opening.span, "["), Edit(closing.span, "]")),
    )


def _several_on_the_left(piece: StatementPiece) -> Diagnostic | None:
    """Report a definition of several Funcs at once, as in (f[x], g[x]) = ..., if this is one."""
    equals = next(i for i, token in enumerate(piece.tokens) if token.text == "=")
    left = piece.tokens[:equals]
    funcs = [
        shortened(token.text)
        for before, token, after in zip(("", *(t.text for t in left)), left, left[1:], strict=False)
        if token.kind is TokenKind.NAME and before in ("", "(", ",") and after.text == "["
    ]
    if len(funcs) < 2 or open_brackets(left):
        return None
    first, *others = funcs
    return Diagnostic(
        "DT110",
        Severity.ERROR,
        "a definition has one Func on its left side",
        left[0].span.to(left[-1].span),
        f"has {len(funcs)}",
        hint=f"define each of them by itself, {first}[...] = ...; and return all of them from one "
        f"function: {first}.compile({', '.join(others)});",
    )


def explain(piece: StatementPiece, offset: int) -> Diagnostic:
    """Say why a declaration, definition or directive stops being one at this offset."""
    at = next((i for i, t in enumerate(piece.tokens) if t.span.end > offset), len(piece.tokens))
    if piece.is_declaration:
        return _wrong_declaration(piece, at)
    if piece.is_directive:
        return _wrong_choice(piece, at) or _wrong_directive(piece, at)
    if piece.is_alternatives:
        return _wrong_choice(piece, at) or _wrong_alternatives(piece, at)
    if piece.is_constraint:
        return _wrong_constraint(piece, at)
    if piece.is_algorithm:
        expected = "the name of a file, in quotes," if at < 2 else "';'"
        return _expected("DT113", piece, at, expected, 'it looks like: algorithm "softmax.dt";')
    equals = next((i for i, t in enumerate(piece.tokens) if t.text == "="), len(piece.tokens))
    return _wrong_left_side(piece, at) if at <= equals else _wrong_expression(piece, at)


def _expected(code: str, piece: StatementPiece, at: int, expected: str, hint: str) -> Diagnostic:
    """Report that something else is expected at a token, or after the last one."""
    end = at >= len(piece.tokens)
    token = piece.tokens[min(at, len(piece.tokens) - 1)]
    found = "the statement ends" if end else f"'{shortened(token.text)}' stands"
    return Diagnostic(
        code,
        Severity.ERROR,
        f"{found} where {expected} is expected",
        token.span,
        f"{expected} expected {'after this' if end else 'here'}",
        hint=hint,
    )


def _inserted(token: Token, text: str) -> tuple[Edit, ...]:
    """Return the edit that puts a text before a token."""
    return (Edit(Span(token.span.source, token.span.start, token.span.start), text),)


def _appended(token: Token, text: str) -> tuple[Edit, ...]:
    """Return the edit that puts a text right after a token."""
    return (Edit(Span(token.span.source, token.span.end, token.span.end), text),)


def _is_name(token: Token | None) -> bool:
    return token is not None and token.kind is TokenKind.NAME


def _is_word(token: Token | None) -> bool:
    return token is not None and token.kind in (TokenKind.NAME, TokenKind.NUMBER)


def _text(piece: StatementPiece, at: int) -> str:
    return piece.tokens[at].text if at < len(piece.tokens) else ""


def _wrong_declaration(piece: StatementPiece, at: int) -> Diagnostic:
    word, before = piece.tokens[0].text, piece.tokens[max(at - 1, 0)]
    token = piece.tokens[at] if at < len(piece.tokens) else None
    names = {"Func": "f, g", "In": "A, B", "SIn": "alpha, beta", "Var": "x, y"}.get(word, "k, l")
    hint = f"a declaration looks like: {word} {names};"
    if word not in ("Var", "RVar"):
        hint += f"  or, with a dtype: {word} {names.split(',')[0]}: bf16;"
    in_range = _wrong_range(piece, at, before)
    if in_range is not None:
        return in_range
    if at > 1 and before.kind is TokenKind.NAME:
        if token is not None and token.text == "=" and word in ("Var", "RVar"):
            hint = "declare the name only: the tensors that a label indexes give it its size"
        elif token is not None and token.text == "[":
            hint = f"declare the name only: {word} {before.text};"
        found = _expected("DT111", piece, at, "',' or ';'", hint)
        return replace(found, edits=_appended(before, ",")) if _is_name(token) else found
    return _expected("DT111", piece, at, "a dtype" if before.text == ":" else "a name", hint)


def _wrong_range(piece: StatementPiece, at: int, before: Token) -> Diagnostic | None:
    """Say what is wrong in the range of a label, if the mistake is there."""
    hint = "a range looks like: RVar k in [0, m + 1);"
    if before.text == RANGE and at > 2:
        return _expected("DT111", piece, at, "'['", hint)
    inside = open_brackets(piece.tokens[:at])
    if not inside or inside[0] not in opening_ranges(piece):
        return None
    if _text(piece, at) == "]":
        found = _expected("DT111", piece, at, "')'", f"{hint} its stop, m + 1, is not in it")
        return replace(found, edits=(Edit(piece.tokens[at].span, ")"),))
    wanted = "a label, a size or a number" if before.text in ("[", ",") else "',' or ')'"
    return _expected("DT111", piece, at, wanted, hint)


def _wrong_directive(piece: StatementPiece, at: int) -> Diagnostic:
    before = piece.tokens[at - 1]
    token = piece.tokens[at] if at < len(piece.tokens) else None
    text = _text(piece, at)
    hint = "directives look like: f.block(x:16, y:64);  f.map(y:yi/8, x, yi);"
    if before.text == ".":
        return _expected("DT113", piece, at, "the name of a directive", hint)
    if at == 3:
        call = f"{piece.tokens[0].text}.{before.text}()"
        found = _expected("DT113", piece, at, "'('", hint if token else f"write {call}")
        return found if token else replace(found, edits=_appended(before, "()"))
    if before.text == ")":
        func = piece.tokens[0].text
        if text != ".":
            return _expected("DT113", piece, at, "';'", hint)
        found = _expected("DT113", piece, at, "';'", "write each directive as its own statement")
        return replace(found, edits=_inserted(piece.tokens[at], f";\n{func}"))
    if before.text == "/":
        return _expected("DT113", piece, at, "a whole number", hint)
    if not _is_word(before):
        return _expected("DT113", piece, at, "a name or a number", hint)
    if token is not None and text == "=":
        found = _expected("DT113", piece, at, "':'", f"write {before.text}:{_text(piece, at + 1)}")
        return replace(found, edits=tuple(_colons(piece)))
    found = _expected("DT113", piece, at, "',' or ')'", hint)
    return replace(found, edits=_appended(before, ",")) if _is_name(token) else found


def _wrong_choice(piece: StatementPiece, at: int) -> Diagnostic | None:
    """Say what is wrong between the curly brackets of an argument, if the mistake is there."""
    inside = open_brackets(piece.tokens[:at])
    if [token.text for token in inside[-2:]] != ["(", "{"]:
        return None
    hint = "a choice looks like: {1, 2, 4}  or  {16..128 *2}  or  {16..128 +16}"
    before = piece.tokens[at - 1]
    if before.kind is TokenKind.NUMBER:
        found = _expected("DT113", piece, at, "',' or '}'", hint)
        missing = at < len(piece.tokens) and piece.tokens[at].kind is TokenKind.NUMBER
        return replace(found, edits=_appended(before, ",")) if missing else found
    if before.kind is TokenKind.NAME:
        return _expected("DT113", piece, at, "',' or '}'", hint)
    expected = "a name or a number" if before.text in ("{", ",") else "a number"
    return _expected("DT113", piece, at, expected, hint)


def _wrong_alternatives(piece: StatementPiece, at: int) -> Diagnostic:
    hint = "alternatives look like: { f.map(x, y) | f.num_warps(4), f.num_stages(2) | };"
    inside = open_brackets(piece.tokens[:at])
    before = piece.tokens[at - 1]
    if not inside:
        return _expected("DT113", piece, at, "';'", hint)
    if inside[-1].text == "(":
        expected = "',' or ')'" if _is_word(before) else "a name or a number"
        return _expected("DT113", piece, at, expected, hint)
    if before.text in (")", "}"):
        return _expected("DT113", piece, at, "',', '|' or '}'", hint)
    return _expected("DT113", piece, at, "a directive", hint)


def _wrong_constraint(piece: StatementPiece, at: int) -> Diagnostic:
    hint = "a constraint looks like: where tensorize.y <= block.y and num_warps < 8;"
    before = piece.tokens[at - 1]
    if before.ends_operand and at > 1:
        return _expected("DT113", piece, at, "an operator", hint)
    return _expected("DT113", piece, at, "a value", hint)


def _colons(piece: StatementPiece) -> Iterator[Edit]:
    return (Edit(token.span, ":") for token in piece.tokens if token.text == "=")


def _wrong_left_side(piece: StatementPiece, at: int) -> Diagnostic:
    func = shortened(piece.tokens[0].text)
    hint = f"a definition looks like: {func}[x, y] = A[x, y];"
    if at >= len(piece.tokens):
        return _expected("DT112", piece, at, "'='", hint)
    before, token, following = piece.tokens[at - 1], piece.tokens[at], _text(piece, at + 1)
    if at == 1 and token.text == "=":
        return Diagnostic(
            "DT112",
            Severity.ERROR,
            f"the left side of a definition names its labels, and '{func}' has none",
            piece.tokens[0].span,
            "labels expected after this",
            hint=f"write {func}[x, y] = ...; a single value is {func}[] = ...",
        )
    inside = open_brackets(piece.tokens[:at])
    if inside:
        expected = "',' or ']'" if before.ends_operand else "a label"
        found = _expected("DT112", piece, at, expected, hint)
        missing = before.ends_operand and _is_word(token)
        return replace(found, edits=_appended(before, ",")) if missing else found
    if token.text in ("+", "-", "*", "/") and following == "=":
        return _update(piece, at)
    if token.text == "," and "=" in [one.text for one in piece.tokens]:
        several = _several_on_the_left(piece)
        if several is not None:
            return several
    found = _expected("DT112", piece, at, "'='", hint)
    if token.text == "==":
        return replace(found, hint="write =", edits=(Edit(token.span, "="),))
    if token.text == ":":
        return replace(found, hint=f"a dtype stands in the declaration: Func {func}: f32;")
    return replace(found, edits=_inserted(token, "= ")) if _is_word(token) else found


def _update(piece: StatementPiece, at: int) -> Diagnostic:
    """Report `f[x] += e`. What is added at places that are data has a form of its own."""
    func, sign = shortened(piece.tokens[0].text), piece.tokens[at].text
    text = piece.span.source.text
    place = text[piece.tokens[1].span.start : piece.tokens[at - 1].span.end]
    hint = "to add up over a label use a reduction: rsum(e, label)"
    if "[" in place[1:] and sign in ("+", "-"):
        hint = (
            f"to add elements at places of a tensor O, declare Func {func} into O at {place} add; "
            f"and define {func} over plain labels"
        )
    elif sign in ("+", "-"):
        hint += f"; to add to a tensor O of the caller, declare Func {func} into O; and write "
        hint += f"{func}{place} = O{place} {sign} ..."
    return Diagnostic(
        "DT112",
        Severity.ERROR,
        "a definition gives a Func its value once and cannot update it",
        piece.tokens[at].span.to(piece.tokens[at + 1].span),
        "'=' expected here",
        hint=hint,
    )


def _wrong_expression(piece: StatementPiece, at: int) -> Diagnostic:
    token = piece.tokens[at] if at < len(piece.tokens) else None
    if not piece.tokens[at - 1].ends_operand or token is None:
        hint = "a value is a number, a name, f[x, y], a call such as exp(e), or (e)"
        return _expected("DT114", piece, at, "a value", hint)
    if _is_word(token) or token.text in OPENING:
        hint = elsewhere.JOINED.get(token.text, "write * to multiply")
        touching = piece.tokens[at - 1].span.end == token.span.start
        return Diagnostic(
            "DT114",
            Severity.ERROR,
            f"an operator is missing before '{shortened(token.text)}'",
            token.span,
            "an operator expected before this",
            hint=hint,
            edits=()
            if token.text in elsewhere.JOINED
            else _inserted(token, " * " if touching else "* "),
        )
    inside = open_brackets(piece.tokens[:at])
    follows = f", ',' or '{OPENING[inside[-1].text]}'" if inside else " or ';'"
    return Diagnostic(
        "DT114",
        Severity.ERROR,
        f"'{token.text}' does not belong here",
        token.span,
        f"an operator{follows} expected here",
        hint="there are no attributes: write rsum(e, label), len(label)"
        if token.text == "."
        else "an element is read as A[x, y], a function called as exp(e)",
    )
