"""Editors complete what users write: pyright knows the type of each public attribute."""

import json
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cli.process import ROOT

# What a user writes, and the type that an editor has to show.
EXPECTED = {
    "dtpoly.load('a.dt')": "Scheduled",
    "k.verdict": "Verdict",
    "k.verdict.violations": "tuple[Violation, ...]",
    "k.diagnostics": "Messages",
    "k.is_legal": "bool",
    "k.source": "str",
    "k.program": "Program",
    "k.tree": "ShownText",
    "k.report": "ShownText",
    "k.explain(x=4)": "ShownText",
    "k.algorithm": "Scheduled",
    "k.instead('f.block(x:4)')": "Scheduled",
    "k.without('f.block')": "Scheduled",
    "k.schedule('f.block(x:4);')": "Scheduled",
    "k.why_not('f.block(x:4)')": "DirectiveAnswer",
    "k.why_not('f.block(x:4)').instead_of": "tuple[str, ...]",
    "k.legal('f')": "Offered",
    "k.legal('f')[0].directive": "str",
    "k.map(x=4)": "Picture",
    "dtpoly.space('a.dts')": "ScheduleSpace",
    "s.parameters": "dict[str, tuple[str, ...]]",
    "s.sample(3)": "list[str]",
    "s[0]": "Scheduled",
    "s.explore(sizes)": "Results",
    "r.best": "dict[str, Any] | None",
    "r.rows": "list[dict[str, Any]]",
    "r.schedule()": "Scheduled",
    "d.schedule": "Scheduled",
    "d.name": "str",
    "dtpoly.watch()": "LaunchWatch",
    "dtpoly.watch().launches": "tuple[WatchedLaunch, ...]",
}
HEAD = """\
import dtpoly
k = dtpoly.load("a.dt")
s = dtpoly.space("a.dts")
r = dtpoly.results("a.sqlite")
d = dtpoly.differentiable("a.dt")
sizes = {"x": 4}
"""
REVEALED = re.compile(r'^Type of "(.*)" is "(.*)"$', re.DOTALL)

pytestmark = pytest.mark.skipif(find_spec("pyright") is None, reason="pyright is not installed")


def judged(folder: Path, text: str) -> list[str]:
    """Return what pyright says of a user's file, without names of packages and classes."""
    file = folder / "user.py"
    file.write_text(text, encoding="utf-8")
    (folder / "pyrightconfig.json").write_text(
        json.dumps({"extraPaths": [str(ROOT)], "include": ["user.py"]}), encoding="utf-8"
    )
    words = [sys.executable, "-m", "pyright", "--pythonpath", sys.executable, "--outputjson"]
    done = subprocess.run(words, cwd=folder, capture_output=True, check=False, encoding="utf-8")
    return [one["message"] for one in json.loads(done.stdout)["generalDiagnostics"]]


@pytest.mark.long
def test_public_attributes_have_types(tmp_path: Path) -> None:
    lines = "".join(f"reveal_type({one})\n" for one in (*EXPECTED, "d.op"))
    said = judged(tmp_path, HEAD + lines + "dtpoly.lod\n")
    *revealed, wrong = sorted(said, key=lambda one: not one.startswith("Type of"))
    assert '"lod" is not a known attribute' in wrong
    matches = (match for one in revealed if (match := REVEALED.match(one)))
    found: dict[str, str] = {str(match[1]): str(match[2]) for match in matches}
    # What torch makes has no type of its own, but the attribute is there.
    assert found.pop("d.op") == "Any"
    assert found == EXPECTED


def test_the_package_says_that_it_has_types() -> None:
    assert (ROOT / "dtpoly" / "py.typed").is_file()
