"""Printing is the last step: no file changes lines that another one has printed, but for one room.

That room is `breaking.py`, which breaks lines that are too long.
"""

import ast
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.always

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "codegen").glob("*.py"))
METHODS = {
    *("replace", "translate", "strip", "lstrip", "rstrip", "removeprefix", "removesuffix"),
    *("split", "rsplit", "splitlines", "partition", "rpartition", "expandtabs"),
}
ROOM = "breaking.py"
# Calls of methods of texts, and what the texts are: none is a line of a kernel.
NAMES = "the name of a variable, a size or a statement, before anything is printed"
NUMBER = "the digits of a number: Python writes 1e+30, and kernels 1e30"
KNOWN = {
    "building.py": (1, NAMES),
    "counters.py": (2, NAMES),
    "data_rounds.py": (1, NAMES),
    "hoisting.py": (1, NAMES),
    "kept_lists.py": (1, NAMES),
    "lower.py": (1, NAMES),
    "lower_moments.py": (1, NAMES),
    "motions.py": (2, NAMES),
    "one_pass.py": (1, NAMES),
    "statements.py": (1, NAMES),
    "reference_terms.py": (1, "the digits of a divisor, which must not be zero"),
    "reference_text.py": (2, f"{NAMES}; {NUMBER}"),
    "value_text.py": (1, NUMBER),
    "file_parts.py": (1, "the imports of a file, to which a test adds one; they are a constant"),
    "header.py": (4, "the comment at the top, which is read back from a file"),
    "python_layout.py": (1, "where a line begins, so that a list that follows it is indented"),
}
# The words of regular expressions, apart from those of the comment at the top and of names.
WITH_PATTERNS = {ROOM, "header.py", "python_names.py"}


def called(path: Path) -> Counter[str]:
    """Return the methods of texts that a file calls on something else than a module."""
    calls = (one.func for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.Call))
    return Counter(
        one.attr
        for one in calls
        if isinstance(one, ast.Attribute)
        and one.attr in METHODS
        and not (isinstance(one.value, ast.Name) and one.value.id == "tl")
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_printed_line_is_changed(path: Path) -> None:
    if path.name == ROOM:
        return
    known, _ = KNOWN.get(path.name, (0, ""))
    assert called(path).total() == known, f"{path.name}: {dict(called(path))}"
    imports = {
        alias.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert "re" not in imports or path.name in WITH_PATTERNS, f"{path.name} has patterns"


def test_the_room_is_only_given_whole_statements() -> None:
    """Only what lays out the lines of a file calls it."""
    users = {
        path.name
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "breaking"
    }
    assert users == {"python_layout.py"}
