"""The Python on the pages about Python runs, and prints what it says that it prints."""

import contextlib
import io
import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

from dtpoly import primitives
from dtpoly.schedule.primitive import Count

DOCS = Path(__file__).parent.parent / "docs"
BLOCK = re.compile(r"^```(python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    "name",
    [
        "kernel-ir",
        "notebook",
        "primitives",
        "python",
        pytest.param("training", marks=pytest.mark.long),
    ],
)
def test_the_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = DOCS / f"{name}.md"
    # A dataclass looks its module up.
    module = ModuleType(f"docs_{name}")
    monkeypatch.setitem(sys.modules, module.__name__, module)
    printed = io.StringIO()
    expected = ""
    for kind, text in BLOCK.findall(page.read_text()):
        if kind == "text":
            expected += text
            continue
        with contextlib.redirect_stdout(printed):
            exec(compile(text, str(page), "exec"), vars(module))
    assert printed.getvalue() == expected


def test_the_page_names_what_the_module_offers() -> None:
    text = (DOCS / "primitives.md").read_text()
    named = set(re.findall(r"\w+", text))
    offered = set(primitives.__all__)
    # What these are is said where they are used.
    plain = {"Affine", "Argument", "Diagnostic", "DtpolyError", "Edit", "Fact", "Func", "Kind"}
    plain |= {"Node", "Note", "Program", "Refusal", "Severity", "View"}
    assert offered - named <= plain
    assert {f"Count.{one.name}" for one in Count} <= set(re.findall(r"Count\.\w+", text))
