"""Plugins: what a file or a package brings, and what is wrong with it."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dtpoly import plugins
from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.plugins import Loaded, completed, load_file, load_installed, with_plugins
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from tests.plugin_files import HEAD, SKEW, marked, plugin, refused
from tests.schedule.told import SUM, read

__all__ = ["plugin"]


def test_a_file_brings_its_primitives() -> None:
    found = with_plugins([str(SKEW), SKEW])
    assert found[: len(DIRECTIVES)] == DIRECTIVES
    assert [cls.name for cls in found[len(DIRECTIVES) :]] == ["interchange", "skew"]
    assert check(Source("t.dt", SUM + "total.skew(k, x);"), found).diagnostics == ()


def test_a_file_brings_neither_what_it_imports_nor_what_is_its_own(
    plugin: Callable[[str], str],
) -> None:
    path = plugin(
        "from dtpoly.directives.block import Block\n" + HEAD + "class _Base(Turn): pass\n"
    )
    assert [cls.name for cls in load_file(path)] == ["turn"]


def test_what_a_file_prints_is_not_output(
    plugin: Callable[[str], str], capsys: pytest.CaptureFixture[str]
) -> None:
    load_file(plugin(HEAD + "print('hello')\n"))
    assert capsys.readouterr() == ("", "hello\n")


WRONG_FILES = {
    "no Python": ("x = (1,\ny =\n", "DT221", ("(", "")),
    "a null character": ("x = 1\0\n", "DT221", ("",)),
    "an exception": ("x = 1\ny = 1 / 0\n", "DT222", ("1 / 0",)),
    "an exception in a library": (
        "import re\nré = re.compile('(')\n",
        "DT222",
        ("re.compile('(')",),
    ),
    "a missing package": (
        "import nothing_of_this_name\n",
        "DT222",
        ("import nothing_of_this_name",),
    ),
    "an exit": ("import sys\nsys.exit(3)\n", "DT222", ("sys.exit(3)",)),
    "nothing": ("x = 1\n", "DT223", ("",)),
    "no Primitive": ("class Turn:\n    def apply(self, state): ...\n", "DT223", ("Turn",)),
}


@pytest.mark.parametrize("name", WRONG_FILES)
def test_wrong_files(name: str, plugin: Callable[[str], str]) -> None:
    text, code, places = WRONG_FILES[name]
    path = plugin(text)
    found = refused(path)
    assert (found.code, marked(found) in places) == (code, True), marked(found)
    assert found.hint
    assert path in found.title or path == (found.span and found.span.source.name)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (str(tmp_path / "missing.py"), str(tmp_path), "null\0"):
        found = refused(path)
        assert found.code == "DT220"
        assert found.notes


def test_a_broken_file_says_the_line_and_the_error(plugin: Callable[[str], str]) -> None:
    found = refused(plugin("x = [1]\nprint(x[3])\n"))
    assert found.title.endswith("fails: IndexError: list index out of range")
    assert found.span is not None
    assert found.span.source.position(found.span.start)[0] == 2


CLASSES = {
    "no name": ('    name = "turn"\n', "", "has no name"),
    "a name that is a field": ('name = "turn"', "name: str", "has a name that is a field"),
    "a name that is no word": ('"turn"', '"turn-round"', "no word"),
    "an alias that is no word": ('"turn"', '"turn"\n    aliases = ("a b",)', "no word"),
    "aliases that are none": ('"turn"', '"turn"\n    aliases = None', "no word"),
    "no dataclass": ("@dataclass(frozen=True, slots=True)\n", "", "no frozen dataclass"),
    "no apply": ("def apply", "def aply", "has no apply"),
    "a stage": ('"turn"', '"turn"\n    stage = Stage.LOOPS', "the stage LOOPS without a turn"),
    "a turn": (
        '"turn"',
        '"turn"\n    turn = primitive.Turn.LANES',
        "is not one of the stage REWRITES",
    ),
    "no stage": ('"turn"', '"turn"\n    stage = "loops"', "a stage or a turn that is none"),
    "code of the stage of functions": (
        '"turn"',
        '"turn"\n    stage = Stage.COMPILE',
        "the stage COMPILE, in which facts alone count",
    ),
    "kernels to edit and no edit": (
        "def apply(self, state)",
        "def edits(self, kernel, state)",
        "has edits, and neither edit nor rewrite",
    ),
    "no parameters": ('"turn"', '"turn"\n    x: Name', "has no parameters, but the fields x"),
    "no field": (
        '"turn"',
        '"turn"\n    parameters = (Parameter("x", Label()),)',
        "has the parameters x, but no fields",
    ),
    "no tuple": ('"turn"', '"turn"\n    parameters = Parameter("x", Label())', "no tuple"),
    "no parameter": ('"turn"', '"turn"\n    parameters = ("x",)', "a parameter that is none"),
    "no kind": ('"turn"', '"turn"\n    parameters = (Parameter("x", int),)', "that is none"),
    "more after all": (
        '"turn"',
        '"turn"\n    parameters = (Parameter("x", Label(), Count.LIST), Parameter("y", Label()))'
        "\n    x: tuple[Name]\n    y: Name",
        "takes arguments after those of 'x'",
    ),
    "a label that may be missing": (
        '"turn"',
        '"turn"\n    parameters = (Parameter("x", Label(), Count.IF_GIVEN),)\n    x: bool',
        "no word",
    ),
}


@pytest.mark.parametrize("name", CLASSES)
def test_wrong_classes(name: str, plugin: Callable[[str], str]) -> None:
    old, new, words = CLASSES[name]
    assert old in HEAD
    found = refused(plugin(HEAD.replace(old, new)))
    assert (found.code, marked(found)) == ("DT225", "Turn")
    assert words in found.title
    assert found.hint


@pytest.mark.parametrize("word", ["block", "compile_to_kernel"])
def test_a_name_that_is_taken(word: str, plugin: Callable[[str], str]) -> None:
    found = refused(plugin(HEAD.replace('"turn"', f'"{word}"')))
    assert (found.code, marked(found)) == ("DT224", "Turn")
    assert found.title == f"the directive '{word}' is there already, by dtpoly itself"


def test_two_plugins_with_one_name(plugin: Callable[[str], str]) -> None:
    found = refused(plugin(HEAD + HEAD[HEAD.index("@dataclass") :].replace("Turn", "Again")))
    assert (found.code, marked(found)) == ("DT224", "Again")
    assert [marked(replace(found, span=note.span)) for note in found.notes] == ["Turn"]


PACKAGES = {
    "good": ("skew_example", "skew = skew_example:Skew\n", None),
    "tuple": ("skew_example", "all = skew_example:ALL\n", None),
    "missing": ("skew_example", "skew = skew_example:Skw\n", "DT222"),
    "broken": ("skew_broken", "skew = skew_broken:Skew\n", "DT222"),
    "no primitive": ("skew_example", "skew = skew_example:Label\n", "DT223"),
    "taken": ("skew_taken", "skew = skew_taken:Block\n", "DT224"),
}


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Install a package, as far as `importlib.metadata` can tell."""
    names = ("skew_example", "skew_broken", "skew_taken")

    def install(points: str) -> None:
        info = tmp_path / "skew_example-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text("Metadata-Version: 2.1\nName: skew-example\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[dtpoly.primitives]\n{points}")
        text = SKEW.read_text()
        (tmp_path / "skew_example.py").write_text(text + "\n\nALL = (Interchange, Skew)\n")
        (tmp_path / "skew_broken.py").write_text("raise RuntimeError('planted')\n")
        (tmp_path / "skew_taken.py").write_text(
            HEAD.replace('"turn"', '"block"').replace("Turn", "Block")
        )
        monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])

    yield install
    for name in names:
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", PACKAGES)
def test_an_installed_package(name: str, installed: Callable[[str], None]) -> None:
    _, points, code = PACKAGES[name]
    installed(points)
    found = load_installed()
    assert [d.code for d in found.found] == ([] if code is None else [code])
    names = [cls.name for cls in found.primitives]
    assert names == {"good": ["skew"], "tuple": ["interchange", "skew"]}.get(name, [])
    source = Source("t.dt", SUM + "total.skew(k, x);")
    codes = {d.code for d in check(source).diagnostics}
    assert codes == (set() if code is None else {code, "DT180"})


def test_a_broken_package_is_in_nobodys_way(installed: Callable[[str], None]) -> None:
    installed("skew = skew_broken:Skew\n")
    assert check(Source("t.dt", SUM + "total.block(x:4);")).diagnostics == ()
    assert "skew_broken" not in sys.modules


def test_packages_are_only_asked_for_what_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Primitives] = []

    def load(known: Primitives) -> Loaded:
        asked.append(known)
        return Loaded(())

    monkeypatch.setattr(plugins, "load_installed", load)
    check(Source("t.dt", SUM + "total.block(x:4);"))
    assert asked == []
    check(Source("t.dt", SUM + "total.blck(x:4);"))
    assert asked == [DIRECTIVES]


def test_a_file_is_preferred_to_a_package(installed: Callable[[str], None]) -> None:
    installed("skew = skew_example:Skew\n")
    mine = with_plugins([SKEW])
    directives = read(SUM + "total.skew(k, x); total.other();").directives
    assert completed(directives, mine).primitives == mine
