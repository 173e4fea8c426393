"""`dtpoly directives`: what each directive means, as its own file says it."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import dtpoly.plugins
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.schedule.explained_directives import meaning
from dtpoly.schedule.primitive import signatures
from tests.cli.conftest import Entry
from tests.cli.process import ROOT

SKEW = str(ROOT / "examples" / "skew.py")
TOLD = """\
from dataclasses import dataclass
from typing import ClassVar
from dtpoly.primitives import Primitive, Reference, Row, State

@dataclass(frozen=True, slots=True)
class Rest(Primitive):
    name = "rest"
    aliases = ("pause",)
    elsewhere = ("sleep",)
    reference = Reference((Row(("f.rest();",), "do **nothing**"),), "Nothing", "**It** rests.")
    def apply(self, state: State) -> State:
        return state
"""


@pytest.fixture
def told(tmp_path: Path) -> str:
    """A plugin with a part of the reference, and without a docstring."""
    path = tmp_path / "rest.py"
    path.write_text(TOLD)
    return str(path)


def test_all_are_listed(call: Entry) -> None:
    code, out, err = call("directives")
    assert (code, err) == (0, "")
    _, _, *rows = out.splitlines()
    shown = [re.split(r"  +", row.rstrip(), maxsplit=1) for row in rows]
    assert shown == [[signatures(cls)[-1], meaning(cls)] for cls in DIRECTIVES]


@pytest.mark.parametrize("cls", DIRECTIVES, ids=lambda cls: cls.name)
def test_each_says_all_that_its_file_says(cls: Any, call: Entry) -> None:
    code, out, err = call("directives", cls.name)
    assert (code, err) == (0, "")
    words = " ".join(out.split())
    for one in (*signatures(cls), meaning(cls)):
        assert one in words
    for row in cls.reference.rows:
        assert all(example in words for example in row.examples)
    assert cls.reference.paragraph.replace("**", "") in words
    assert all(other in words for other in (*cls.aliases, *cls.elsewhere))
    assert "**" not in out
    assert max(map(len, out.splitlines())) <= 100


@pytest.mark.parametrize("word", ["fuse_at", "compute_at", "fuse"])
def test_other_names_lead_to_it(word: str, call: Entry) -> None:
    assert call("directives", word) == call("directives", "fuse_at")
    assert call("directives", "compile_to_kernel") == call("directives", "compile")


@pytest.mark.parametrize(
    ("word", "hint"),
    [("blok", "did you mean 'block'?"), ("xyzzy", "`dtpoly directives` lists all")],
)
def test_an_unknown_name_is_usage(word: str, hint: str, call: Entry) -> None:
    code, out, err = call("directives", word)
    assert (code, out) == (2, "")
    assert f"there is no directive '{word}'; {hint}" in " ".join(err.split())


def test_a_document(call: Entry) -> None:
    code, out, err = call("directives", "--json")
    assert (code, err) == (0, "")
    document = json.loads(out)
    assert document["version"] == 1
    assert [one["name"] for one in document["directives"]] == [cls.name for cls in DIRECTIVES]
    (early,) = json.loads(call("directives", "early", "--json")[1])["directives"]
    assert early in document["directives"]
    assert early["forms"] == ["f.early()"]
    assert early["paragraph"].startswith("**`f.early()`** places")
    assert early["examples"][0]["texts"] == ["f.early();"]
    assert early["defined_in"] is None


def test_those_of_plugins(call: Entry, told: str) -> None:
    code, out, err = call("directives", "--plugin", SKEW, "--plugin", told)
    assert (code, err) == (0, "")
    assert re.search(r"^f\.skew\(label, label\)  +Go through a loop in the order of", out, re.M)
    assert re.search(r"^f\.rest\(\)  +do nothing$", out, re.MULTILINE)
    code, out, _ = call("directives", "sleep", "--plugin", told)
    assert out.split("\n\n") == [
        "f.rest()",
        "do nothing",
        "Examples:\n  f.rest();\n      do nothing",
        "It rests.",
        f"Also written: pause.\nCalled in other languages: sleep.\nDefined in: {told}.\n",
    ]
    (skew,) = json.loads(call("directives", "skew", "--json", "--plugin", SKEW)[1])["directives"]
    assert skew["defined_in"] == SKEW
    assert skew["rule"].startswith("for x: for y: S(x, y)  -->")
    assert call("directives", "skew")[0] == 2
    assert "DT220" in call("directives", "--plugin", "missing.py")[2]


def test_a_reference_of_another_form_is_a_mistake(call: Entry, told: str) -> None:
    path = Path(told)
    path.write_text(re.sub(r"reference = .*", 'reference = "do nothing"', TOLD))
    code, _, err = call("directives", "--plugin", told)
    assert code == 1
    assert "error[DT225]: the class 'Rest' has a reference that is none" in err
    assert "Reference(rows=(Row(" in err


def test_those_of_installed_packages(
    call: Entry, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (rest,) = dtpoly.plugins.load_file(told)

    def fail() -> None:
        raise ImportError("it is broken")

    def point(name: str, load: Callable[[], object]) -> SimpleNamespace:
        dist = SimpleNamespace(name="package", version="1.0")
        return SimpleNamespace(name=name, value=f"m:{name}", module="m", load=load, dist=dist)

    points = [point("bad", fail), point("rest", lambda: rest)]

    def entry_points(*, group: str) -> list[SimpleNamespace]:
        assert group == dtpoly.plugins.GROUP
        return points

    monkeypatch.setattr("importlib.metadata.entry_points", entry_points)
    code, out, err = call("directives")
    assert code == 0
    assert "f.rest()" in out
    assert "it is broken" in err
