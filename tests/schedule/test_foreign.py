"""A user's primitive when it is used: what it raises is told with its line."""

from collections.abc import Callable

import pytest

from dtpoly.checking import check
from dtpoly.plugins import with_plugins
from dtpoly.source import Source
from tests.plugin_files import HEAD, SKEW, marked, plugin, refused
from tests.schedule.told import SUM

__all__ = ["plugin"]

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


def test_a_primitive_that_needs_others_does_not_stop_the_search_for_the_culprit() -> None:
    text = SUM + "total.split(k:ki/4); total.interchange(x, ki); total.num_warps(4);"
    checked = check(Source("t.dt", text), with_plugins([SKEW]))
    (found,) = checked.diagnostics
    assert (found.code, marked(found)) == ("DT201", "total.interchange(x, ki)")
    assert [note.span.text for note in found.notes if note.span][:1] == ["total.split(k:ki/4)"]


# What an apply leaves in a kernel, and what is said of it.
MISFITS = {
    "options": ("options=None", "'options' of Kernel is nothing"),
    "a label": ("options=replace(k.options, atomic='k')", "'atomic' of Options is a str"),
    "what is asked": (
        "options=replace(k.options, asked=(1, 2))",
        "what is asked of the launch of 'total' is no tuple of primitives",
    ),
    "tiles": ("tiles=(1,)", "'tiles' of Kernel is a tuple with something else in it"),
    "order": ("order=None", "'order' of Kernel is nothing"),
    "a name": ("name=[]", "'name' of Kernel is a list"),
    "a grid": (
        "grid=tuple(replace(axis, step=10**40) for axis in k.grid)",
        "the grid of 'total' is not a tuple of axes",
    ),
    "a statement": (
        "body=rewrite(k.body, lambda n: n if hasattr(n, 'child') else broken(n))",
        "'statement' of Leaf is a list",
    ),
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_is_of_another_type_is_told(name: str, plugin: Callable[[str], str]) -> None:
    change, said = MISFITS[name]
    text = HEAD.replace(
        "        return state\n",
        f"        return state.with_kernels(self.func, lambda k: replace(k, {change}))\n\n"
        "def broken(node):\n"
        "    is_leaf = hasattr(node, 'statement')\n"
        "    return replace(node, statement=[]) if is_leaf else node\n",
    )
    text = f"from dtpoly.primitives import rewrite\n{text}"
    (found,) = check(
        Source("t.dt", SUM + "total.block(x:4); total.turn();"), with_plugins([plugin(text)])
    ).diagnostics
    assert found.code == "DT227"
    assert said in found.title


@pytest.mark.parametrize(
    ("field", "value"),
    [("title", "None"), ("severity", "'error'"), ("span", "'here'"), ("notes", "('so',)")],
)
def test_a_diagnostic_that_is_none_is_told(
    field: str, value: str, plugin: Callable[[str], str]
) -> None:
    text = HEAD.replace(
        "    def apply",
        "    def check(self, view):\n"
        f"        yield replace(self.mistake('no'), {field}={value})\n\n    def apply",
    )
    (found,) = check(
        Source("t.dt", SUM + "total.turn();"), with_plugins([plugin(text)])
    ).diagnostics
    assert found.code == "DT226"
    assert f"check yields a Diagnostic in which '{field}' of Diagnostic is a" in (
        found.title.replace("is nothing", "is a")
    )


def test_a_refusal_that_says_nothing_is_a_failure(plugin: Callable[[str], str]) -> None:
    text = HEAD.replace("return state", "raise DtpolyError(())")
    text = f"from dtpoly.diagnostics import DtpolyError\n{text}"
    (found,) = check(
        Source("t.dt", SUM + "total.turn();"), with_plugins([plugin(text)])
    ).diagnostics
    assert (found.code, marked(found)) == ("DT226", "raise DtpolyError(())")
