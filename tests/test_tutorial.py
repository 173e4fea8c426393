"""The tutorial runs and says what it says; what it builds is the plugin that it speaks of."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.process import environment
from tests.conftest import Golden

EXAMPLES = Path(__file__).parent.parent / "examples"
TUTORIAL = EXAMPLES / "new_primitive.py"
PLUGINS = {"Interchange": "skew", "Skew": "skew", "Turned": "turned", "LastUse": "turned"}
MOST_LINES = 22  # of a primitive's own code


def classes(path: Path) -> dict[str, ast.ClassDef]:
    """The classes of a file by name."""
    tree = ast.parse(path.read_text())
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


@pytest.mark.long
def test_it_runs(golden: Golden) -> None:
    done = subprocess.run(
        [sys.executable, TUTORIAL],
        capture_output=True,
        text=True,
        check=True,
        env=environment(PYTHONWARNINGS="error"),
    )
    assert done.stderr == ""
    golden("tutorial.txt", done.stdout.replace(str(EXAMPLES), "examples"))


@pytest.mark.parametrize("name", PLUGINS)
def test_the_plugin_is_what_the_tutorial_builds(name: str) -> None:
    built, kept = classes(TUTORIAL)[name], classes(EXAMPLES / f"{PLUGINS[name]}.py")[name]
    assert ast.dump(built) == ast.dump(kept)


@pytest.mark.parametrize("name", [*PLUGINS, "Forget", "Hurry", "Twice"])
def test_a_primitive_takes_about_twenty_lines(name: str) -> None:
    found = classes(TUTORIAL)[name]
    texts = [n for n in ast.walk(found) if isinstance(n, ast.ClassDef | ast.FunctionDef)]
    documented = {
        line
        for node in texts
        if ast.get_docstring(node) is not None
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines = TUTORIAL.read_text().splitlines()[found.lineno - 1 : found.end_lineno]
    numbered = enumerate(lines, found.lineno)
    code = [line for number, line in numbered if line.strip() and number not in documented]
    assert len(code) <= MOST_LINES
