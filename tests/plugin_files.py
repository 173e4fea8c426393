"""Has plugins as files: a correct one, the head of one that a test writes, and its mistake."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.plugins import with_plugins

ROOT = Path(__file__).parent.parent
SKEW = ROOT / "examples" / "skew.py"

HEAD = """\
from dataclasses import dataclass
from dataclasses import replace
from dtpoly.primitives import *
from dtpoly.schedule import primitive


@dataclass(frozen=True, slots=True)
class Turn(Primitive):
    name = "turn"

    def apply(self, state):
        return state
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], str]:
    """Write a plugin, and return its path."""

    def write(text: str) -> str:
        path = tmp_path / "plugin.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


def refused(path: str) -> Diagnostic:
    """Return the one thing that is wrong with a plugin."""
    with pytest.raises(DtpolyError) as error:
        with_plugins([path])
    (found,) = error.value.diagnostics
    return found


def marked(found: Diagnostic) -> str:
    return found.span.text if found.span else ""
