"""Statements in every layout, precedence, recovery after mistakes, and the limits."""

import time

import pytest

from benchmarks.pace import is_kept
from dtpoly.algorithm.expressions import Apply, Expr, Float, Integer, Read, ScalarRead
from dtpoly.algorithm.program import Directive, Program
from dtpoly.checking import check, load
from dtpoly.diagnostics import Diagnostic, Severity
from dtpoly.frontend.diagnostic_limit import MAX_ERRORS
from dtpoly.frontend.parse import MAX_CHARACTERS, parse
from dtpoly.render.diagnostic_text import plain, render_one
from dtpoly.source import Source

HEAD = "Func f; In A; SIn a, b, c, d; Var x, y; "


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def body(expression: str) -> Expr:
    """The meaning of an expression over scalars."""
    return program(f"{HEAD}f[x, y] = where({expression}, A[x, y], 0);").func("f").body


def found(text: str) -> list[str]:
    """Codes of the errors in a text."""
    diagnostics = check(Source("test.dt", text)).diagnostics
    return [d.code for d in diagnostics if d.severity is Severity.ERROR]


def only(text: str) -> Diagnostic:
    """The one error in a text."""
    diagnostics = check(Source("test.dt", text)).diagnostics
    (error,) = [d for d in diagnostics if d.severity is Severity.ERROR]
    return error


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("a + b * c > 0", "(a + (b * c)) > 0"),
        ("a * b + c > 0", "((a * b) + c) > 0"),
        ("a - b - c > 0", "((a - b) - c) > 0"),
        ("a / b * c > 0", "((a / b) * c) > 0"),
        ("a % b / c > 0", "((a % b) / c) > 0"),
        ("a - b % c > 0", "(a - (b % c)) > 0"),
        ("-a * b > 0", "((-a) * b) > 0"),
        ("a * -b > 0", "(a * (-b)) > 0"),
        ("- - a > 0", "(-(-a)) > 0"),
        ("a - -b > 0", "(a - (-b)) > 0"),
        ("-a + b > 0", "((-a) + b) > 0"),
        ("a + b < c + d", "(a + b) < (c + d)"),
        ("a < b and c < d", "(a < b) and (c < d)"),
        ("a < b or c < d and b < d", "(a < b) or ((c < d) and (b < d))"),
        ("a < b and c < d or b < d", "((a < b) and (c < d)) or (b < d)"),
        ("a < b or b < c or c < d", "((a < b) or (b < c)) or (c < d)"),
        ("not a < b", "not (a < b)"),
        ("not a < b and c < d", "(not (a < b)) and (c < d)"),
        ("not a < b or c < d", "(not (a < b)) or (c < d)"),
        ("not not a < b", "not (not (a < b))"),
        ("a < b and not c < d", "(a < b) and (not (c < d))"),
        ("a == b or a != c", "(a == b) or (a != c)"),
        ("a <= b and a >= c", "(a <= b) and (a >= c)"),
    ],
)
def test_precedence(written: str, meant: str) -> None:
    assert body(written) == body(meant)


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("a + b * c > 0", "(a + b) * c > 0"),
        ("a - b - c > 0", "a - (b - c) > 0"),
        ("a / b * c > 0", "a / (b * c) > 0"),
        ("-a * b > 0", "-(a * b) > 0"),
        ("a < b or c < d and b < d", "(a < b or c < d) and b < d"),
        ("not a < b and c < d", "not (a < b and c < d)"),
    ],
)
def test_parentheses_matter(written: str, other: str) -> None:
    assert body(written) != body(other)


def test_a_sign_is_an_operation_and_a_plus_is_nothing() -> None:
    negated = program(f"{HEAD}f[x, y] = A[x, y] + -1;").func("f").body
    assert isinstance(negated, Apply)
    assert negated.operands[1] == Apply("neg", (Integer(1),))
    assert body("+a > 0") == body("a > 0")


@pytest.mark.parametrize(
    ("written", "value"), [("1.5", 1.5), (".5", 0.5), ("2.", 2.0), ("1e-5", 1e-5), ("3E2", 300.0)]
)
def test_fractions(written: str, value: float) -> None:
    assert program(f"Func f; f[] = {written};").func("f").body == Float(value)


def test_words_of_operators_stand_inside_of_names() -> None:
    text = "Func f; SIn android, orange, nothing; f[] = android + orange - nothing;"
    expr = program(text).func("f").body
    assert isinstance(expr, Apply)
    assert expr.operands[1] == ScalarRead("nothing")


SAME = """\
Func f;
In A: bf16, B;
RVar k;
Var x;
f[x] = rsum(A[x, k] * B[k], k);
f.block(x:16);
f.tensorize(x:4, k:0);
f.compile();
"""


@pytest.mark.parametrize(
    "text",
    [
        SAME.replace("\n", ""),
        SAME.replace("\n", "\r\n"),
        SAME.replace("\n", "\f\n").replace(" ", "\v"),
        SAME.replace(" ", " \t "),
        SAME.replace(";", "\n;\n;"),
        SAME.replace(",", "\n,\n").replace("(", "\n(\n").replace("[", "\n[\n"),
        SAME.replace("*", "# times\n* # it is\n"),
        SAME.replace(";", "; # ; f[x] = 1;").replace("f.block(", "f.block( # 16\n"),
        SAME.replace("f.block", "f # the Func\n. block"),
        SAME.replace("In A: bf16, B;", "In A:bf16;In B;"),
        SAME.replace("In A: bf16, B;", "In\nA # left\n: # as stored\nbf16,\nB\n;"),
        "f.compile(); f.tensorize(x:4, k:0); f.block(x:16); " + SAME.partition("f.block")[0],
        "# first\n" + SAME + "# last, without a line end",
    ],
)
def test_layout_has_no_meaning(text: str) -> None:
    same, other = program(SAME), program(text)
    assert (other.labels, other.inputs, other.funcs) == (same.labels, same.inputs, same.funcs)
    assert set(other.directives) == set(same.directives)


def test_directives_keep_their_order() -> None:
    text = "f.compile(); f.num_warps(8); " + SAME.partition("f.block")[0]
    directives = program(text).directives
    assert [directive.name for directive in directives] == ["compile", "num_warps"]
    assert isinstance(directives[0], Directive)


def test_spans_are_what_was_written() -> None:
    text = f"{HEAD}f[x, y] = ( A[x, y] # it\n + 1 ) * 2;"
    func = program(text).func("f")
    assert func.span is not None
    assert func.span.text == text[len(HEAD) :].removesuffix(";")
    assert isinstance(func.body, Apply)
    inner = func.body.operands[0]
    assert isinstance(inner, Apply)
    assert inner.span is not None
    assert inner.span.text == "( A[x, y] # it\n + 1 )"
    read = inner.operands[0]
    assert isinstance(read, Read)
    assert read.span is not None
    assert read.span.text == "A[x, y]"


@pytest.mark.parametrize(
    ("before", "cells"),
    [
        ("", 7),
        ("\t", 11),
        ("\t\t", 15),
        ("# 宽字符\n", 7),
        ("# e\u0301\n\t", 11),
    ],
)
def test_caret_behind_a_tab(before: str, cells: int) -> None:
    error = only(f"Func f; In A; Var x;\n{before}f[x] = B[x];")
    assert error.span is not None
    assert error.span.text == "B"
    *_, shown, carets, _ = plain(render_one(error)).splitlines()
    gutter = shown.index("|") + 2
    assert carets.index("^") - gutter == cells
    assert shown[carets.index("^")] == "B"


@pytest.mark.parametrize(
    ("statement", "cell"),
    [
        ("f[x] = A[x] \u00d7 B[x]", 12),
        ("f[x] = 宽[x] + $", 15),
        ("f[x] = e\u0301t\u00e9[x] + $", 16),
        ("\tf[x] = 宽 + \t$", 20),
    ],
)
def test_caret_behind_wide_and_combining_characters(statement: str, cell: int) -> None:
    parsed = parse(Source("test.dt", f"{statement};"))
    last = next(d for d in parsed.found if d.code in ("DT103", "DT104"))
    _, _, shown, carets, _ = plain(render_one(last)).splitlines()
    assert carets.index("^") - (shown.index("|") + 2) == cell


@pytest.mark.parametrize(
    ("lines", "missing_after"),
    [
        (("In A", "Var x;", "f[x] = A[x];"), ("A",)),
        (("In A", "Var x", "f[x] = A[x];"), ("A", "x")),
        (("In A; Var x;", "f[x] = A[x]", "f.compile();"), ("]",)),
        (("In A; Var x;", "f[x] = A[x]", "f.compile()"), ("]", ")")),
        (("In A; Var x;", "f[x] = 2", "f.compile();"), ("2",)),
        (("In A Var x", "f[x] = A[x];"), ("A", "x")),
        (("In A: f32", "Var x;", "f[x] = A[x]"), ("f32", "]")),
    ],
)
def test_missing_semicolons(lines: tuple[str, ...], missing_after: tuple[str, ...]) -> None:
    text = "\n".join(("Func f;", *lines))
    errors = [d for d in check(Source("test.dt", text)).diagnostics if d.code.startswith("DT1")]
    errors = [d for d in errors if d.severity is Severity.ERROR]
    assert {d.code for d in errors} == {"DT109"}
    assert tuple(d.span.text for d in errors if d.span) == missing_after


def test_a_missing_semicolon_spoils_no_statement() -> None:
    read = parse(Source("test.dt", "In A\nVar x\nf[x] = A[x]\nf.compile()")).file
    assert len(read.statements) == 4


def test_syntax_errors_come_in_source_order_and_alone() -> None:
    text = """\
Func f, g h;
In A; Var x; SIn 2b;
f[x] = A[x] + * 2;
f[x] = exp(A[x];
g[x] = 3 A[x];
g[x] = A[x] ** 2;
f.block(x=16);
f.tensorize(x:4;
whatever;
g[x] := 1;
"""
    assert found(text) == [
        "DT111",  # g h
        "DT111",  # 2b
        "DT114",  # + *
        "DT107",
        "DT114",  # 3 A
        "DT116",
        "DT113",
        "DT107",
        "DT110",
        "DT112",
    ]


def test_strange_characters_spoil_one_statement_only() -> None:
    text = "Func f, g; In A, B; Var x;\nf[x] = A[x] \u00d7 B[x;\ng[x] = A[x] + Q[x];"
    assert found(text) == ["DT104", "DT120"]


@pytest.mark.parametrize(("depth", "codes"), [(64, []), (65, ["DT106"]), (10_000, ["DT106"])])
def test_brackets_nest_so_deep(depth: int, codes: list[str]) -> None:
    text = f"{HEAD}f[x, y] = {'(' * depth}1{')' * depth} + A[x, y];"
    assert found(text) == codes


@pytest.mark.long
@pytest.mark.parametrize(("count", "codes"), [(199, []), (200, ["DT106"]), (20_000, ["DT106"])])
@pytest.mark.parametrize("template", [" + 1", " * a"])
def test_operators_nest_so_deep(count: int, codes: list[str], template: str) -> None:
    # The read is one level itself.
    assert found(f"{HEAD}f[x, y] = A[x, y]{template * count};") == codes


@pytest.mark.parametrize(("count", "codes"), [(199, []), (200, ["DT106"]), (20_000, ["DT106"])])
def test_signs_nest_so_deep(count: int, codes: list[str]) -> None:
    assert found(f"{HEAD}f[x, y] = {'-' * count}A[x, y];") == codes


def test_deep_brackets_of_all_kinds_together() -> None:
    calls = "exp(" * 32 + "(" * 31
    assert found(f"{HEAD}f[x, y] = {calls}A[x, y]{')' * 63};") == []


@pytest.mark.parametrize("count", [MAX_ERRORS, MAX_ERRORS + 1, 10 * MAX_ERRORS])
def test_so_many_errors_are_told(count: int) -> None:
    codes = found("f[x] = ;\n" * count)
    assert codes.count("DT114") == min(count, MAX_ERRORS)
    assert codes.count("DT118") == (count > MAX_ERRORS)
    assert len(codes) <= MAX_ERRORS + 1


@pytest.mark.sampled
@pytest.mark.parametrize(
    "unit", ["$", "$ ", "\u00d7 ", "1_0 ", "\u03b1 ", "\u03b1;", "{", "Var x\n"]
)
def test_so_many_errors_are_told_quickly(unit: str) -> None:
    start = time.process_time()
    codes = found(unit * (MAX_CHARACTERS // len(unit) // 10))
    assert len(codes) <= MAX_ERRORS + 1
    assert is_kept(5, time.process_time() - start)


def test_what_was_not_read_is_no_mistake() -> None:
    text = f"Func g; In A; Var x;{'f[x] = ;' * 101} g[x] = A[x]; g.compile();"
    assert set(found(text)) == {"DT114", "DT118"}


@pytest.mark.parametrize(
    ("length", "codes"), [(MAX_CHARACTERS, []), (5 * MAX_CHARACTERS, ["DT119"])]
)
def test_so_long_is_a_file(length: int, codes: list[str]) -> None:
    text = f"{HEAD}f[x, y] = A[x, y]; "
    assert found(text + "#" * (length - len(text))) == codes
