"""Lines that a backslash continues are put into brackets in the text that is taken out."""

import ast

import pytest

from dtpoly.extract.broken_lines import in_brackets, rewritten
from dtpoly.extract.python_modules import read_module
from dtpoly.extract.taking_out import take_out
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.extract.test_taking_out import DOUBLED, LINES
from tests.verify.texts import written

MODULE = """\
import triton as t
import triton.language as lang


@t.jit
def doubled(x_ptr, y_ptr, n, BLOCK: lang.constexpr):
    at = \\
        lang.program_id(0) * BLOCK \\
        + lang.arange(0, BLOCK)
    x = lang.load(x_ptr + at, \\
                  mask=at < n)
    lang.store(y_ptr + at, x * 2, mask=at < n)
"""
# Statements, and how they are written; nothing where they stay as they are.
BROKEN = {
    "in the middle": ("x = a + \\\n    b", "x = (a + \n    b)"),
    "before the value": ("x = \\\n    a + b", "x = (\n    a + b)"),
    "twice": ("x = a + \\\n    b + \\\n    c", "x = (a + \n    b + \n    c)"),
    "before and in the middle": ("x = \\\n    a + \\\n    b", "x = (\n    a + \n    b)"),
    "brackets of its own": ("x = (a) + \\\n    (b)", "x = ((a) + \n    (b))"),
    "a result": ("return a, \\\n    b", "return (a, \n    b)"),
    "a condition": ("if a and \\\n        b:\n    pass", "if (a and \n        b):\n    pass"),
    "a sum in place": ("x += a * \\\n    b", "x += (a * \n    b)"),
    "in a text": ("x = 'a\\\nb'", None),
    "no expression": ("assert a, \\\n    b", None),
}


def test_a_kernel_is_proved_without_its_backslashes() -> None:
    found = take_out(read_module(Source("module.py", MODULE)), "doubled")
    assert "\\" not in found.text
    assert (
        "at = (\n        tl.program_id(0) * BLOCK \n        + tl.arange(0, BLOCK))\n" in found.text
    )
    assert verify(written(DOUBLED), found.text + LINES).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("case", BROKEN)
def test_a_statement_stays_the_same(case: str) -> None:
    before, after = BROKEN[case]
    text = "def f(a, b, c, x):\n" + "".join(f"    {line}\n" for line in before.splitlines())
    (function,) = ast.parse(text).body
    assert isinstance(function, ast.FunctionDef)
    edits = in_brackets(text.splitlines(), function)
    found = "\n".join(rewritten(text.splitlines(), edits))
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
    wanted = before if after is None else after
    assert [line.strip() for line in found.splitlines()[1:]] == [
        line.strip() for line in wanted.splitlines()
    ]
