"""Lines that are too long are broken where a formatter would, and mean the same."""

import ast

import pytest

from dtpoly.codegen.breaking import WIDTH, broken
from dtpoly.codegen.python_layout import call, fitted, joined, tuple_of
from dtpoly.generate import code_of
from tests.codegen.cases import random_case, verdict

LONG = "a_name_of_some_length_that_stands_for_a_tile"


def flat(lines: list[str]) -> str:
    """Return what the lines say, however they are laid out."""
    text = "\n".join(lines)
    return ast.dump(ast.parse(f"{text}\n    pass" if text.endswith(":") else text))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x = f(a, b)", ["x = f(a, b)"]),
        (
            f"x = tl.load({LONG} + {LONG} * 2, mask={LONG}, other=0.0)",
            [
                "x = tl.load(",
                f"    {LONG} + {LONG} * 2,",
                f"    mask={LONG},",
                "    other=0.0,",
                ")",
            ],
        ),
        (
            f"x += {LONG} * {LONG} - tl.exp({LONG})",
            ["x += (", f"    {LONG} * {LONG}", f"    - tl.exp({LONG})", ")"],
        ),
        (
            f"if {LONG} >= {LONG} and {LONG} == 0:",
            ["if (", f"    {LONG} >= {LONG}", f"    and {LONG} == 0", "):"],
        ),
        (
            f"x, i = pair(({LONG} + {LONG} + {LONG}).to(tl.int32), {LONG}[:, None])",
            [
                "x, i = pair(",
                "    (",
                f"        {LONG}",
                f"        + {LONG}",
                f"        + {LONG}",
                "    ).to(tl.int32),",
                f"    {LONG}[:, None],",
                ")",
            ],
        ),
        (
            f"x = ~({LONG} * {LONG} - tl.exp({LONG}))",
            [
                "x = ~(",
                f"    {LONG} * {LONG}",
                f"    - tl.exp({LONG})",
                ")",
            ],
        ),
        (
            f"x = types[f({LONG}, {LONG}, {LONG})]",
            ["x = types[", "    f(", *[f"        {LONG},"] * 3, "    )", "]"],
        ),
        (
            f'f({{"a": {LONG}, "b": {LONG}}}, {LONG})',
            [
                "f(",
                "    {",
                f'        "a": {LONG},',
                f'        "b": {LONG},',
                "    },",
                f"    {LONG},",
                ")",
            ],
        ),
        (
            f'f("{LONG} {LONG} {LONG}", {LONG})',
            ["f(", f'    "{LONG} {LONG} "', f'    "{LONG}",', f"    {LONG},", ")"],
        ),
        (
            f'x = f("a, long text (with brackets", {LONG} + {LONG}, float("inf"))',
            [
                "x = f(",
                '    "a, long text (with brackets",',
                f"    {LONG} + {LONG},",
                '    float("inf"),',
                ")",
            ],
        ),
    ],
)
def test_broken(line: str, expected: list[str]) -> None:
    assert broken(line, 0) == expected
    assert flat(broken(line, 0)) == flat([line])


def test_what_cannot_be_broken_stays() -> None:
    line = f"{LONG}_{LONG} = {LONG}_{LONG}"
    assert broken(line, 20) == [line]


def test_each_level_is_indented() -> None:
    lines = fitted([f"        x = f({LONG} + {LONG} + {LONG}, a)"])
    assert lines == [
        "        x = f(",
        f"            {LONG}",
        f"            + {LONG}",
        f"            + {LONG},",
        "            a,",
        "        )",
    ]


def test_calls() -> None:
    assert call("f", ["a", "b"]) == ["f(a, b)"]
    assert call("f", [LONG, LONG], ":", 0) == [f"f({LONG}, {LONG}):"]
    assert call("a_longer_name", [LONG, LONG], "", 6) == [
        "a_longer_name(",
        f"    {LONG}, {LONG}",
        ")",
    ]
    assert call("f", [LONG, LONG, "c"], "", 20) == [
        "f(",
        f"    {LONG},",
        f"    {LONG},",
        "    c,",
        ")",
    ]


def test_sums() -> None:
    assert joined("x =", "*", ["a", "b"]) == ["x = a * b"]
    assert joined("if", "and", [LONG, LONG], ":", 12) == [
        "if (",
        f"    {LONG}",
        f"    and {LONG}",
        "):",
    ]


def test_tuples() -> None:
    assert [tuple_of(parts) for parts in ([], ["a"], ["a", "b"])] == ["()", "(a,)", "(a, b)"]


@pytest.mark.parametrize("seed", [89, 200, 358, 1288, 3190])
def test_no_line_of_a_file_is_too_long(seed: int) -> None:
    text = code_of(verdict(random_case(seed)).scheduled).text
    assert not [line for line in text.splitlines() if len(line) > WIDTH]
