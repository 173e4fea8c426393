"""Plugins: what a file or a package brings, what is wrong with it, and what it does when used."""

import sys
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from dtpoly import plugins
from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.program import Directive
from dtpoly.compile import check
from dtpoly.diagnostics import Diagnostic, DtpolyError, has_errors
from dtpoly.plugins import Loaded, completed, load_file, load_installed, with_plugins
from dtpoly.schedule.check import check_schedule
from dtpoly.schedule.foreign import applied
from dtpoly.schedule.primitive import Primitive
from dtpoly.schedule.primitives import PRIMITIVES, Primitives, bind
from dtpoly.schedule.resolve import resolve
from dtpoly.schedule.state import State
from dtpoly.schedule.tree import Leaf, Loop, Node, Sequence, rewrite
from dtpoly.schedule.well_formed import flaw
from dtpoly.source import Source
from tests.generation import schedules
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.schedule.told import SUM, TWO, read
from tests.schedule.user_primitives import USER

ROOT = Path(__file__).parent.parent
SKEW = ROOT / "examples" / "skew.py"

HEAD = """\
from dataclasses import dataclass
from dataclasses import replace
from dtpoly.primitives import *
from dtpoly.schedule.primitive import Stage


@dataclass(frozen=True, slots=True)
class Turn(Primitive):
    name = "turn"

    def apply(self, state):
        return state
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Callable[[str], str]:
    """Write a plugin, and answer with its path."""

    def write(text: str) -> str:
        path = tmp_path / "plugin.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


def refused(path: str) -> Diagnostic:
    """The one thing that is wrong with a plugin."""
    with pytest.raises(DtpolyError) as error:
        with_plugins([path])
    (found,) = error.value.diagnostics
    return found


def marked(found: Diagnostic) -> str:
    return found.span.text if found.span else ""


def test_a_file_brings_its_primitives() -> None:
    found = with_plugins([str(SKEW), SKEW])
    assert found[: len(PRIMITIVES)] == PRIMITIVES
    assert [cls.name for cls in found[len(PRIMITIVES) :]] == ["interchange", "skew"]
    assert check(Source("t.dt", SUM + "total.skew(k, x);"), found).diagnostics == ()


def test_a_file_brings_neither_what_it_imports_nor_what_is_its_own(
    plugin: Callable[[str], str],
) -> None:
    path = plugin("from dtpoly.schedule.block import Block\n" + HEAD + "class _Base(Turn): pass\n")
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
    "a stage": ('"turn"', '"turn"\n    stage = Stage.LOOPS', "a stage of its own"),
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
    found = refused(plugin(HEAD + HEAD.replace("Turn", "Again")))
    assert (found.code, marked(found)) == ("DT224", "Again")
    assert [marked(replace(found, span=note.span)) for note in found.notes] == ["Turn"]


FAILS = {
    "apply": (
        "        return state\n",
        "        return state.program.func('z')\n",
        "state.program.func('z')",
    ),
    "check": (
        "    def apply",
        "    def check(self, view):\n        yield 1 // 0\n\n    def apply",
        "1 // 0",
    ),
    "facts": (
        "    def apply",
        "    def facts(self):\n        return [1][2]\n\n    def apply",
        "[1][2]",
    ),
    # With no error, a check that ends early would look as if all was well.
    "exit": ("return state\n", "raise SystemExit(0)\n", "raise SystemExit(0)"),
    "any exception": ("return state\n", "raise GeneratorExit\n", "raise GeneratorExit"),
    "an exception without words": (
        "return state\n",
        "raise Mute\n\nclass Mute(Exception):\n    def __str__(self):\n        return 1 / 0\n",
        "raise Mute",
    ),
    "equality": (
        "    def apply",
        "    def __eq__(self, other):\n        return other.all\n\n"
        "    def __hash__(self):\n        return 1\n\n    def apply",
        "other.all",
    ),
}


@pytest.mark.parametrize("name", FAILS)
def test_what_a_primitive_raises_is_told_with_its_line(
    name: str, plugin: Callable[[str], str]
) -> None:
    old, new, place = FAILS[name]
    primitives = with_plugins([plugin(HEAD.replace(old, new))])
    checked = check(Source("t.dt", SUM + "total.turn();"), primitives)
    (found,) = checked.diagnostics
    assert (found.code, marked(found), checked.program) == ("DT226", place, None)
    assert found.title.startswith("the primitive 'turn' fails: ")
    assert [note.span.text for note in found.notes if note.span] == ["total.turn()"]


def test_facts_that_are_none(plugin: Callable[[str], str]) -> None:
    text = HEAD.replace("    def apply", "    def facts(self):\n        yield 3\n\n    def apply")
    primitives = with_plugins([plugin(text)])
    (found,) = check(Source("t.dt", SUM + "total.turn();"), primitives).diagnostics
    assert (found.code, found.title[-24:]) == ("DT226", "let it yield NewName(...)"[-24:])


def test_a_check_that_never_ends_is_told_so_often(plugin: Callable[[str], str]) -> None:
    text = HEAD.replace(
        "    def apply",
        "    def check(self, view):\n        while True:\n            yield self.mistake('no')\n\n"
        "    def apply",
    )
    primitives = with_plugins([plugin(text)])
    found = check(Source("t.dt", SUM + "total.turn();"), primitives).diagnostics
    assert 0 < len(found) <= 101


def test_what_an_exception_says_is_cut_short(plugin: Callable[[str], str]) -> None:
    found = refused(plugin("raise ValueError('x' * 100_000)"))
    assert len(found.title) < 1000
    assert found.title.endswith("x…")


def test_a_check_that_yields_no_diagnostic(plugin: Callable[[str], str]) -> None:
    text = HEAD.replace(
        "    def apply", "    def check(self, view):\n        yield 3\n\n    def apply"
    )
    (found,) = check(
        Source("t.dt", SUM + "total.turn();"), with_plugins([plugin(text)])
    ).diagnostics
    assert found.code == "DT226"
    assert "self.mistake" in found.title


def test_a_kind_of_argument_that_fails(plugin: Callable[[str], str]) -> None:
    kind = "class Odd(Label):\n    def read(self, argument):\n        raise KeyError(argument)\n\n"
    text = HEAD.replace("@dataclass", f"{kind}@dataclass").replace(
        '"turn"', '"turn"\n    parameters = (Parameter("x", Odd()),)\n    x: Name'
    )
    (found,) = check(
        Source("t.dt", SUM + "total.turn(x);"), with_plugins([plugin(text)])
    ).diagnostics
    assert (found.code, marked(found)) == ("DT226", "raise KeyError(argument)")


def test_what_nests_deeply_is_judged(plugin: Callable[[str], str]) -> None:
    """Deeper than Python's stack is as a rule."""
    text = HEAD.replace(
        "        return state\n",
        "        return state.with_kernels(self.func, lambda k: replace(k, body=deep(k.body)))\n\n"
        "def deep(node):\n"
        "    for _ in range(900):\n"
        "        node = Sequence((node,))\n"
        "    return node\n",
    )
    checked = check(Source("t.dt", SUM + "total.turn();"), with_plugins([plugin(text)]))
    assert checked.program is not None


def test_an_apply_that_refuses(plugin: Callable[[str], str]) -> None:
    text = HEAD.replace("return state", "raise self.refusal('not here', hint='elsewhere')")
    (found,) = check(
        Source("t.dt", SUM + "total.turn();"), with_plugins([plugin(text)])
    ).diagnostics
    assert (found.code, found.title, marked(found)) == ("DT228", "not here", "total.turn()")


def scheduled(directives: str) -> State:
    """The tree of two fused Funcs."""
    program = read(TWO + "g.fuse_at(f, x);" + directives)
    state = check(Source("t.dt", TWO + "g.fuse_at(f, x);" + directives)).verdict
    assert program
    assert state is not None
    return state.scheduled


def body(state: State, change: Callable[[Any], Any]) -> State:
    """With every node of the tree changed."""
    return state.with_kernels("f", lambda k: replace(k, body=rewrite(k.body, change)))


def axis(state: State, **changes: Any) -> State:
    """With a loop over y that has another axis."""
    return state.with_loops(
        "f", "y", lambda loop: replace(loop, axis=replace(loop.axis, **changes))
    )


def nested(node: Node, depth: int) -> Node:
    """The node within so many sequences of one."""
    for _ in range(depth):
        node = Sequence((node,))
    return node


NONSENSE: dict[str, tuple[Callable[[Any], object], str]] = {
    "nothing": (lambda s: None, "it returns nothing, not a State"),
    "a kernel": (lambda s: s.kernels[0], "it returns a Kernel, not a State"),
    "another model": (
        lambda s: replace(s, model=s.model.with_statements(s.model.statements[1:])),
        "it changes the 'model' of the State",
    ),
    "no fusions": (lambda s: replace(s, fusions=()), "it changes the 'fusions'"),
    "a list": (lambda s: replace(s, kernels=list(s.kernels)), "the kernels are a list"),
    "no kernel": (lambda s: replace(s, kernels=(1,)), "among the kernels is a int"),
    "a kernel less": (lambda s: replace(s, kernels=()), "the kernel 'f' is left out"),
    "a kernel more": (
        lambda s: replace(s, kernels=(*s.kernels, replace(s.kernels[0], name="h"))),
        "the kernel 'h' of 'f' is new or there twice",
    ),
    "no node": (lambda s: body(s, lambda node: None), "is nothing instead of a Loop"),
    "an empty sequence": (lambda s: body(s, lambda node: Sequence(())), "no tuple of nodes"),
    "a list of nodes": (
        lambda s: body(s, lambda n: Sequence(cast(Any, [n])) if isinstance(n, Leaf) else n),
        "no tuple of nodes",
    ),
    "an unknown statement": (
        lambda s: body(s, lambda n: Leaf("z") if isinstance(n, Leaf) else n),
        "a statement 'z', which is not in the program",
    ),
    "a statement twice": (
        lambda s: body(s, lambda n: Sequence((n, n)) if isinstance(n, Leaf) else n),
        "the statement 'g@f' stands in the tree twice",
    ),
    "lanes that are none": (
        lambda s: body(
            s, lambda n: replace(n, lanes=cast(Any, ("x",))) if isinstance(n, Leaf) else n
        ),
        "the lanes of 'f' are not a tuple of axes",
    ),
    "a step of 0": (lambda s: axis(s, step=0), "a Loop without an axis"),
    "an unknown label": (
        lambda s: axis(s, index=Affine((("z", 1),))),
        "the axis 'f.y' walks 'z', which is no label of a statement",
    ),
    "an unknown origin": (
        lambda s: axis(s, origin=Affine((("z", 1),))),
        "the axis 'f.y' starts at 'z', which is no axis of the kernel",
    ),
    "an unknown time": (
        lambda s: axis(s, time=Affine((("f.z", 1),))),
        "the axis 'f.y' counts 'f.z', which is no axis of the kernel",
    ),
    "a circle": (
        lambda s: axis(s, origin=Affine((("f.y", 1),))),
        "the axis 'f.y' starts at itself",
    ),
    "a name that is none": (lambda s: axis(s, label="y = 1\n"), "a Loop without an axis"),
    "a loop of another Func": (
        lambda s: body(s, lambda n: replace(n, func="h") if isinstance(n, Loop) else n),
        "is one of 'h', which is not there",
    ),
    "a tree without an end": (
        lambda s: body(s, lambda n: nested(n, 5_000) if isinstance(n, Leaf) else n),
        "nodes nest more than 1000 deep",
    ),
    "half a name": (
        lambda s: axis(s, origin=Affine(cast(Any, (("f.x", 0.5),)))),
        "a Loop without an axis",
    ),
    "two axes of one name": (lambda s: axis(s, name="f.x"), "one statement are called 'f.x'"),
    "a grid that is none": (
        lambda s: replace(s, kernels=(replace(s.kernels[0], grid=cast(Any, None)),)),
        "the grid of 'f' is not a tuple of axes",
    ),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused(name: str) -> None:
    change, words = NONSENSE[name]

    class Odd(Primitive):
        name = "odd"

        def apply(self, state: State) -> State:
            return cast(State, change(state))

    before = scheduled("")
    with pytest.raises(DtpolyError) as error:
        applied(Odd("f"), before)
    (found,) = error.value.diagnostics
    assert found.code == "DT227"
    assert words in found.title
    assert marked(found) == "def apply(self, state: State) -> State:"
    assert before == scheduled("")


@pytest.mark.parametrize("name", ["upside_down", "forget", "flatten"])
def test_what_is_only_wrong_is_left_to_the_legality_check(name: str) -> None:
    (primitive,) = bind((Directive("f", name),), USER).primitives
    assert isinstance(applied(primitive, scheduled("")), State)


def test_a_primitive_that_needs_others_does_not_stop_the_search_for_the_culprit() -> None:
    text = SUM + "total.split(k:ki/4); total.interchange(x, ki); total.num_warps(4);"
    checked = check(Source("t.dt", text), with_plugins([SKEW]))
    (found,) = checked.diagnostics
    assert (found.code, marked(found)) == ("DT201", "total.interchange(x, ki)")
    assert [note.span.text for note in found.notes if note.span][:1] == ["total.split(k:ki/4)"]


@pytest.mark.parametrize("seed", range(40))
def test_what_dtpoly_makes_is_well_formed(seed: int) -> None:
    program = schedules.program(seeded(seed), Limits())
    assert not has_errors(check_schedule(program))
    state = resolve(program, bind(program.directives).primitives)
    assert flaw(state, state) is None


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
    assert asked == [PRIMITIVES]


def test_a_file_is_preferred_to_a_package(installed: Callable[[str], None]) -> None:
    installed("skew = skew_example:Skew\n")
    mine = with_plugins([SKEW])
    directives = read(SUM + "total.skew(k, x); total.other();").directives
    assert completed(directives, mine).primitives == mine
