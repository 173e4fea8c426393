"""Directives of one's own that edit launches and rewrite code: they do all that dtpoly's own do."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dtpoly.checking import check
from dtpoly.diagnostics import Diagnostic, DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.plugins import with_plugins
from dtpoly.remarks import remarked
from dtpoly.schedule.aspects import aspects
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from dtpoly.verdict_messages import of_emitted
from dtpoly.verify.proof.report import FunctionReport, Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.cli.process import environment
from tests.plugin_files import marked, plugin

__all__ = ["plugin"]

TURNED = str(Path(__file__).parent.parent / "examples" / "turned.py")
PRODUCT = """\
Func product;
In A: f16, B: f16;
Var m, n;
RVar k;

product[m, n] = rdot(A[m, k], B[k, n], k);
product.compile();
product.block(m:32, n:32);
product.tensorize(m:0, n:0, k:32);
"""
HEAD = """\
from dataclasses import dataclass, replace
from dtpoly.primitives import *


@dataclass(frozen=True, slots=True)
class Edit(LaunchEdit):
    name = "mine"

"""


def emitted(schedule: str, primitives: Primitives = DIRECTIVES) -> str:
    checked = check(Source("t.dt", PRODUCT + schedule), primitives)
    assert checked.program is not None, checked.diagnostics
    assert checked.verdict is not None
    text = code_of(checked.verdict.scheduled).text
    assert verify(checked.program, text).verdict is LayerVerdict.PROVED
    return "".join(line for line in text.splitlines(True) if "product." not in line)


def told(schedule: str, path: str) -> tuple[Diagnostic, ...]:
    """Return what is found in a file, and in the code that is made of it."""
    checked = check(Source("t.dt", PRODUCT + schedule), with_plugins([path]))
    return remarked(checked).diagnostics


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("own", "mine"),
    [
        ("product.swap();", "product.turned();"),
        ("product.stream(A);", "product.last_use(A);"),
        ("product.stream(A, B);", "product.last_use(A, B);"),
        ("product.swap(); product.stream(B);", "product.turned(); product.last_use(B);"),
    ],
)
def test_code_is_that_of_our_own_directives(own: str, mine: str) -> None:
    assert emitted(mine, with_plugins([TURNED])) == emitted(own) != emitted("")


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["check"], "no errors"),
        (["explain"], "last_use of 'product': A"),
        (["verify"], "PROVED"),
        (["why-not", "product.turned();"], "legal for all sizes"),
        (["legal", "product"], "product.warp_specialize();"),
        (["compile", "-o", "-"], 'eviction_policy="evict_first"'),
    ],
)
def test_commands_take_them(command: list[str], said: str, tmp_path: Path) -> None:
    file = tmp_path / "product.dt"
    file.write_text(PRODUCT + "product.turned(); product.last_use(A);")
    word, *rest = command
    done = subprocess.run(
        [sys.executable, "-m", "dtpoly", word, "--plugin", TURNED, file, *rest],
        capture_output=True,
        text=True,
        check=False,
        env=environment(XDG_CACHE_HOME=str(tmp_path)),
    )
    assert (done.returncode, said in done.stdout + done.stderr) == (0, True), done.stderr


def test_a_space_chooses_among_them(tmp_path: Path) -> None:
    file = tmp_path / "space.dt"
    file.write_text(PRODUCT + "{product.turned(), product.last_use(A)};")
    done = subprocess.run(
        [sys.executable, "-m", "dtpoly", "space", "--plugin", TURNED, file],
        capture_output=True,
        text=True,
        check=False,
        env=environment(XDG_CACHE_HOME=str(tmp_path)),
    )
    assert done.returncode == 0, done.stderr
    assert "turned" in done.stdout


def test_one_that_changes_nothing_is_told() -> None:
    text = "Func f; In A; Var x; f[x] = A[x] + 1; f.compile(); f.turned();"
    found = remarked(check(Source("t.dt", text), with_plugins([TURNED]))).diagnostics
    assert [(one.code, marked(one), one.hint) for one in found] == [
        ("DT198", "f.turned()", "remove it")
    ]


# What a directive does, and what is said of it.
WRONG = {
    "no launch": (
        "    def edit(self, launch, kernel):\n        return None\n",
        ("DT227", "the primitive 'mine' makes no launch: edit returns NoneType"),
    ),
    "a wrong field": (
        "    def edit(self, launch, kernel):\n        return replace(launch, num_warps='8')\n",
        ("DT227", "the primitive 'mine' makes no launch: 'num_warps' of Launch is a str"),
    ),
    "no warps": (
        "    def edit(self, launch, kernel):\n        return replace(launch, num_warps=-3)\n",
        ("DT227", "the primitive 'mine' makes no launch: it has -3 warps"),
    ),
    "a truth": (
        "    def edit(self, launch, kernel):\n        return replace(launch, num_stages=True)\n",
        ("DT227", "the primitive 'mine' makes no launch: 'num_stages' of Launch is a bool"),
    ),
    "a wrong pair": (
        "    def edit(self, launch, kernel):\n        return replace(launch, boxes={'m': 'x'})\n",
        ("DT227", "the primitive 'mine' makes no launch: 'boxes' of Launch is a dict"),
    ),
    "an edit that fails": (
        "    def edit(self, launch, kernel):\n        return 1 // 0\n",
        ("DT226", "the primitive 'mine' fails: ZeroDivisionError"),
    ),
    "a rewrite that fails": (
        "    def rewrite(self, body):\n        return body.nothing\n",
        ("DT226", "the primitive 'mine' fails: AttributeError"),
    ),
    "no steps": (
        "    def rewrite(self, body):\n        return [*body.steps]\n",
        ("DT226", "the primitive 'mine' fails: TypeError"),
    ),
    "half of the steps": (
        "    def rewrite(self, body):\n        return body.steps[1:]\n",
        ("DT227", "the primitive 'mine' makes no valid kernel: product: "),
    ),
    "neither": ("", ("DT225", "the class 'Edit' has neither edit nor rewrite")),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_ones_are_told(name: str, plugin: Callable[[str], str]) -> None:
    method, (code, title) = WRONG[name]
    try:
        found = told("product.mine();", plugin(HEAD + method))
    except DtpolyError as error:
        found = error.diagnostics
    assert [one.code for one in found] == [code]
    assert found[0].title.startswith(title)


@pytest.mark.long
def test_a_rewrite_that_computes_something_else_is_refuted(plugin: Callable[[str], str]) -> None:
    swapped = (
        "    def rewrite(self, body):\n"
        "        first, second = sorted({body.variables['A'], body.variables['B']})\n"
        "        other = {first: second, second: first}\n"
        "        return body.with_loads(\n"
        "            lambda load: replace(load, tensor=other.get(load.tensor, load.tensor))\n"
        "        )\n"
    )
    primitives = with_plugins([plugin(HEAD + swapped)])
    checked = check(Source("t.dt", PRODUCT + "product.mine();"), primitives)
    assert checked.program is not None
    assert checked.verdict is not None
    state = checked.verdict.scheduled
    text = code_of(state).text
    report = verify(checked.program, text)
    assert report.verdict is LayerVerdict.REFUTED
    (found,) = of_emitted(report, Source("k.py", text), "t.dt", state)
    assert found.code == "DT310"
    assert found.hint.startswith("the primitive 'mine' (")
    assert "plugin.py:6) rewrites this kernel and has to be mended" in found.hint
    assert "bug in dtpoly" not in found.hint


def test_a_wrong_text_without_a_rewrite_is_a_bug_of_ours(plugin: Callable[[str], str]) -> None:
    rewrites = "    def rewrite(self, body):\n        return body.steps\n"
    primitives = with_plugins([plugin(HEAD + rewrites)])
    for schedule, words in (
        ("", "this is a bug in dtpoly"),
        ("product.mine();", "primitive 'mine'"),
    ):
        checked = check(Source("t.dt", PRODUCT + schedule), primitives)
        assert checked.verdict is not None
        state = checked.verdict.scheduled
        layer = Layer("stores", LayerVerdict.REFUTED, 1, "it is wrong")
        report = Report((FunctionReport("product", (layer,), 0.0),))
        (found,) = of_emitted(report, Source("k.py", "pass\n"), "t.dt", state)
        assert words in found.hint


def test_stages_that_an_edit_takes_are_judged(plugin: Callable[[str], str]) -> None:
    text = (
        "Func f, g; In A; Var x, u; g[u] = A[u]; f[x] = g[x] + g[x + 1]; f.compile();"
        "g.fuse_at(f, x, recompute); f.tensorize(u:2); f.mine();"
    )
    edit = "    def edit(self, launch, kernel):\n        return replace(launch, num_stages=4)\n"
    (found,) = check(Source("t.dt", text), with_plugins([plugin(HEAD + edit)])).diagnostics
    assert (found.code, marked(found)) == ("DT207", "f.mine()")


BRISK = """\
from dataclasses import dataclass, replace
from dtpoly.primitives import *


@dataclass(frozen=True, slots=True)
class Brisk(LaunchEdit):
    name = "brisk"
    parameters = (Parameter("input", TensorName()), Parameter("warps", Integer(1, 16)))

    input: Name
    warps: int

    def check(self, view):
        if self.warps == 3:
            yield self.mistake("three warps are odd")
        if self.warps == 5:
            yield self.mistake("five warps are odd", self.input.span)

    def edit(self, launch, kernel):
        return replace(launch, num_warps=self.warps)
"""


def test_arguments_are_explained_in_their_order(plugin: Callable[[str], str]) -> None:
    primitives = with_plugins([plugin(BRISK)])
    checked = check(Source("t.dt", PRODUCT + "product.brisk(A, 8);"), primitives)
    assert checked.verdict is not None
    said = [one.value for one in aspects(checked.verdict.scheduled) if one.label == "brisk"]
    assert said == ["A, 8"]


@pytest.mark.parametrize(
    ("warps", "hint"),
    [
        (3, "change its arguments, or remove it"),
        (5, "write something else instead of 'A', or remove the directive"),
    ],
)
def test_a_mistake_offers_no_form_that_was_written(
    warps: int, hint: str, plugin: Callable[[str], str]
) -> None:
    (found,) = told(f"product.brisk(A, {warps});", plugin(BRISK))
    assert (found.code, found.hint) == ("DT228", hint)
