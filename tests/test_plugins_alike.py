"""Plugins do all that our own directives do: each of ours works the same as a user's file.

The file of a directive is copied out of the package, under another name, and loaded as a plugin.
The kernels that it makes must be those of the directive that it was copied from.
"""

import ast
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import dtpoly.primitives
from dtpoly.checking import check
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plugins import with_plugins
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from tests.plugin_files import plugin
from tests.same.record import read_record

__all__ = ["plugin"]

ROOT = Path(__file__).parent.parent
OWN = ROOT / "dtpoly/directives"

# What our files take from elsewhere in dtpoly, and why a plugin needs it not, or takes it there.
ELSEWHERE = {
    "dtpoly.frozen": "a dataclass that is quick to define; a plugin takes that of Python",
    "dtpoly.amounts": "words for numbers in messages",
    "dtpoly.schedule.argument_kinds.listed": "words for lists in messages",
    "dtpoly.schedule.argument_values": "words for arguments in messages",
    "dtpoly.schedule.block_parts": "messages about reductions that cannot be cut into parts",
    "dtpoly.schedule.parted_facts": "chains of reductions in parts, for a message",
    "dtpoly.algorithm.parted": "chains of reductions in parts, for a message",
    "dtpoly.algorithm.panel_axes": "what an algorithm reads across panels, for a message",
    "dtpoly.algorithm.expressions.data_of": "what an algorithm reads across panels, for a message",
    "dtpoly.algorithm.dtypes": "types of data, for a message about sums in memory",
    "dtpoly.plan.launch": "the numbers of warps and rows that specialized warps need",
}

# Texts for directives that few files have.
TEXTS = {
    "online": (
        "Func top, total; In A; Var x; RVar y; top[x] = rmax(A[x, y], y);"
        "total[x] = rsum(exp(A[x, y] - reshape(top[x], x, 1)), y);"
        "top.online(total, y); total.compile(); total.block(x:4); total.tensorize(x:0, y:64);"
    ),
    "descending": (
        "Func f; In A; Var x; f[x] = A[x] + 1; f.compile(); f.block(x:64); f.tensorize(x:0);"
        "f.descending(x);"
    ),
    "same_bits": (
        "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.compile(); f.block(x:8);"
        "f.tensorize(x:0, y:32); f.same_bits(x);"
    ),
}


def own_file(cls: type) -> Path:
    return OWN / f"{cls.__module__.rpartition('.')[2]}.py"


def copied(cls: type, path: str) -> Primitives:
    """Load the file of a directive as a plugin, and leave the directive itself out."""
    others = tuple(one for one in DIRECTIVES if one is not cls)
    return with_plugins([path], others)


def text_of(name: str) -> str:
    """Return a text in which the directive changes something."""
    known = TEXTS.get(name)
    if known is not None:
        return known
    found = (one for one in read_record() if name in one.outcome.directives)
    return min((one.text for one in found), key=len)


def emitted(text: str, primitives: Primitives) -> str:
    checked = check(Source("t.dt", text), primitives)
    assert checked.verdict is not None, checked.diagnostics
    assert checked.verdict.is_legal
    return code_of(checked.verdict.scheduled).text


@pytest.mark.sampled
@pytest.mark.parametrize("cls", DIRECTIVES, ids=lambda cls: cls.name)
def test_a_copy_of_our_own_is_a_plugin_that_does_the_same(
    cls: type, plugin: Callable[[str], str]
) -> None:
    primitives = copied(cls, plugin(own_file(cls).read_text()))
    assert len(primitives) == len(DIRECTIVES)
    (found,) = (one for one in primitives if one.__module__.startswith("<plugin"))
    text = text_of(found.name)
    assert emitted(text, primitives) == emitted(text, DIRECTIVES)


def test_what_our_files_import_is_there_for_plugins() -> None:
    there = {id(one) for one in vars(dtpoly.primitives).values()}
    found = set[str]()
    for cls in DIRECTIVES:
        for node in ast.walk(ast.parse(own_file(cls).read_text())):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("dtpoly."):
                module = __import__(str(node.module), fromlist=["*"])
                names = (one.name for one in node.names)
                lacking = {one for one in names if id(getattr(module, one)) not in there}
                found |= {f"{node.module}.{one}" for one in lacking}
    homes = {one if one in ELSEWHERE else one.rpartition(".")[0] for one in found}
    assert homes == ELSEWHERE.keys()


# A plugin that is written by hand, for what `flatten`, `beside` and `online` do: `apply` changes
# the tree, `edit` the launch, and `edits` says of which kernels.
BY_HAND = """\
from collections.abc import Iterator
from dataclasses import dataclass, replace

from dtpoly.primitives import (
    Count,
    Fact,
    FuncName,
    Fused,
    Kernel,
    Label,
    Launch,
    Loop,
    Name,
    Parameter,
    Primitive,
    ReducedAlong,
    Stage,
    State,
    Turn,
    fuse_around,
    loops,
    statements,
)


@dataclass(frozen=True, slots=True)
class OneLoop(Primitive):
    name = "one_loop"
    parameters = (Parameter("outer", Label()), Parameter("inner", Label()))

    outer: Name
    inner: Name

    def edits(self, kernel: Kernel, state: State) -> bool:
        return any(
            loop.axis.label == self.outer.text
            and isinstance(loop.child, Loop)
            and loop.child.axis.label == self.inner.text
            for *_, loop in loops(kernel.body)
        )

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        return replace(launch, flat=(*launch.flat, (self.outer.text, self.inner.text)))


@dataclass(frozen=True, slots=True)
class Together(Primitive):
    name = "joined"
    parameters = (Parameter("other", FuncName()),)

    other: Name

    def apply(self, state: State) -> State:
        (other,), (own,) = state.kernels_of(self.other.text), state.kernels_of(self.func)
        left = [one for one in state.kernels if one is not own]
        left.insert(left.index(other) + 1, own)
        return replace(state, kernels=tuple(left))

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        return replace(launch, beside=self.other.text)


@dataclass(frozen=True, slots=True)
class OnePass(Primitive):
    name = "one_pass"
    stage = Stage.FUSIONS
    turn = Turn.FUSIONS
    needs_kernel = False
    parameters = (
        Parameter("consumer", FuncName(), is_key=True),
        Parameter("label", Label(anywhere=True)),
    )

    consumer: Name
    label: Name

    def facts(self) -> Iterator[Fact]:
        yield Fused(self.func, self.consumer.text, self.label.text, self.span)
        yield ReducedAlong(self.func, self.consumer.text, self.label.text, self.span)

    def apply(self, state: State) -> State:
        where = (self.func, self.consumer.text, self.label.text)
        for kernel in state.kernels:
            if kernel.func == self.consumer.text:
                state = fuse_around(state, kernel.name, *where)
        return state

    def edits(self, kernel: Kernel, state: State) -> bool:
        return kernel.func == self.consumer.text

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        return replace(launch, running=(*launch.running, (self.func, self.consumer.text)))
"""


HAND_TEXTS = {
    "flatten": (
        "Func f; In A; Var x; RVar r, s; f[x] = rsum(A[x, r, s], r, s); f.compile();"
        "f.block(x:16); f.tensorize(x:0, s:64); f.num_stages(3); f.flatten(r, s);"
    ),
    "beside": (
        "Func f, g, h; In A, B; Var x, y; RVar k; g[x] = rsum(A[x, k], k); h[y] = B[y] + 1;"
        "f[x, y] = reshape(g[x], x, 1) * h[y]; g.block(x:4); g.tensorize(x:0, k:256);"
        "h.block(y:512); h.tensorize(y:0); h.beside(g); f.compile();"
    ),
    "online": TEXTS["online"],
}


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("own", "mine"), [("flatten", "one_loop"), ("beside", "joined"), ("online", "one_pass")]
)
def test_a_plugin_by_hand_changes_tree_and_launch(
    own: str, mine: str, plugin: Callable[[str], str]
) -> None:
    def body(text: str, primitives: Primitives) -> str:
        lines = emitted(text, primitives).splitlines()
        return "\n".join(one for one in lines if f".{own}(" not in one and f".{mine}(" not in one)

    text = HAND_TEXTS[own]
    changed = text.replace(f".{own}(", f".{mine}(")
    without = re.sub(rf"\w+\.{own}\([^)]*\);", "", text)
    result = body(changed, with_plugins([plugin(BY_HAND)]))
    assert result == body(text, DIRECTIVES)
    assert result != body(without, DIRECTIVES)


FUSES_WRONGLY = {
    "states nothing": (
        "yield Fused(self.func, self.consumer.text, self.label.text, self.span)\n"
        "        yield ReducedAlong(self.func, self.consumer.text, self.label.text, self.span)",
        "yield from ()",
        "does more than its facts state",
    ),
    "statements of its own": (
        "        return state\n\n    def edits(self, kernel: Kernel, state: State) -> bool:\n"
        "        return kernel.func == self.consumer.text",
        "        model = replace(state.model, statements=state.model.statements[1:])\n"
        "        return replace(state, model=model)\n",
        "leaves no schedule tree: it changes the 'model' of the State",
    ),
    "a field that is filled in": (
        "running=(*launch.running, (self.func, self.consumer.text))",
        "passes=(print,)",
        "makes no launch: the compiler fills in 'passes' of Launch by itself",
    ),
}


@pytest.mark.parametrize("name", FUSES_WRONGLY)
def test_statements_of_a_fusion_are_those_that_dtpoly_makes(
    name: str, plugin: Callable[[str], str]
) -> None:
    old, new, words = FUSES_WRONGLY[name]
    assert old in BY_HAND
    code = BY_HAND.replace(old, new)
    text = TEXTS["online"].replace(".online(", ".one_pass(")
    primitives = with_plugins([plugin(code)])
    (found,) = check(Source("t.dt", text), primitives).diagnostics
    assert (found.code, words in found.title) == ("DT227", True), found.title


def test_directives_are_carried_out_in_one_place() -> None:
    """A directive that is only applied would not edit the launches that it should."""
    rooms = [*(ROOT / "dtpoly/schedule").glob("*.py"), *(ROOT / "dtpoly/explore").rglob("*.py")]
    found = {
        path.name
        for path in rooms
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "apply"
    }
    assert found == {"foreign.py"}
