"""Tests that the verifier finds the end of a kernel as Python's `inspect` does for Triton."""

import ast
import inspect
from pathlib import Path

import pytest

from dtpoly.verify.triton.unit.extraction import block_of, compiled_text, interpreted_text
from tests.verify.handwritten import FOLDER
from tests.verify.test_unit_texts import RIGHT, TEXT

FILES = sorted(FOLDER.glob("*.py.txt"))
# Bodies whose ends are easily missed.
BODIES = {
    "a comment in column 0": "    x = 1\n# one\n    y = 2\n",
    "a comment below": "    x = 1\n    # one\n# two\n",
    "a comment further out": "    if x:\n        y = 1\n  # one\n    z = 1\n",
    "brackets in column 0": "    x = (\n1,\n)\n    y = 2\n",
    "a string in column 0": '    x = """\none\n"""\n    y = 2\n',
    "a docstring": '    """One.\n\n    Two.\n    """\n    return 1\n',
    "blank lines": "    x = 1\n\n\n    \n    y = 2\n",
    "a lambda": "    x = lambda: 1\n    return x\n",
    "a function inside": "    def f():\n        pass\n\n    return f\n",
    "two in a line": "    x = 1; y = 2\n",
    "a body behind a colon": "    if x: y = 1\n    z = 1\n",
}
BELOW = {
    "nothing": "",
    "a function": "\n\ndef other():\n    pass\n",
    "a statement": "other = 1\n",
    "a decorator": "\n\n@triton.jit\ndef other():\n    pass\n",
    "a comment": "# one\n\nother = (\n1)\n",
    "a string": '"""one\ntwo"""\n',
}


def same(text: str) -> None:
    lines = text.split("\n")
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            first = node.decorator_list[0].lineno - 1
            ended = [f"{line}\n" for line in lines[first:]]
            assert block_of(lines[first:]) == inspect.getblock(ended)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_of_files(path: Path) -> None:
    same(path.read_text())


@pytest.mark.parametrize("name", RIGHT)
def test_of_changed_files(name: str) -> None:
    same(TEXT.replace(*RIGHT[name]))


@pytest.mark.parametrize("below", BELOW)
@pytest.mark.parametrize("body", BODIES)
def test_of_bodies(body: str, below: str) -> None:
    same(f"x = 1\n\n\n@triton.jit\ndef f(\n    a, b\n):\n{BODIES[body]}{BELOW[below]}")


def test_what_the_compiler_and_the_interpreter_take() -> None:
    """The one begins at the first line with a definition, the other at the last."""
    block = ["@triton.jit\n", "def f(a):\n", '    """\n', "    def g(b):\n", '    """\n', "    a\n"]
    assert compiled_text(block) == "".join(block[1:])
    assert interpreted_text(block) == 'def g(b):\n"""\na\n'
