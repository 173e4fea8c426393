"""Tests `k.why_not` and `k.legal`: they say what the commands say."""

import json
import subprocess
import sys

import pytest

import dtpoly
from dtpoly.asking.directive_answers import DirectiveAnswer
from tests.cli.process import ROOT, environment

SOFTMAX = ROOT / "examples" / "softmax.dt"


def command(*words: str) -> str:
    """Return what a command says."""
    done = subprocess.run(
        [sys.executable, "-m", "dtpoly", *words],
        env=environment(),
        capture_output=True,
        check=False,
        text=True,
        encoding="utf-8",
    )
    return done.stdout


@pytest.mark.parametrize("directive", ["softmax.num_warps(8);", "total.fuse_at(softmax, y);"])
def test_why_not_says_what_the_command_says(directive: str) -> None:
    answer = dtpoly.load(SOFTMAX).why_not(directive)
    said = json.loads(command("why-not", str(SOFTMAX), directive, "--json"))
    assert answer.directive == said["directive"] == directive
    assert answer.is_legal is bool(answer) is said["is_legal"]
    assert [*answer.instead_of] == [one["directive"] for one in said["instead_of"]]
    assert str(answer).strip() == command("why-not", str(SOFTMAX), directive).strip()


def test_an_answer_is_short_at_a_prompt() -> None:
    k = dtpoly.load(SOFTMAX)
    assert repr(k.why_not("softmax.num_warps(8)")) == (
        "<DirectiveAnswer: softmax.num_warps(8); may be added>"
    )
    assert repr(k.why_not("total.fuse_at(softmax, y)")) == (
        "<DirectiveAnswer: total.fuse_at(softmax, y); may not be added: "
        "'total' is computed again in the loop over 'y'>"
    )


def test_an_answer_in_a_notebook_has_its_carets_in_a_fixed_font() -> None:
    k = dtpoly.parse("Func f; In A; Var x; f[x] = A[x]; f.compile();", name="<b>.dt")
    shown = k.why_not("f.block(y:4)")._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert shown.startswith("<pre ")
    assert "font-family:monospace" in shown
    assert "&lt;directive&gt;" in shown
    assert "<directive>" not in shown


def test_what_is_no_directive_is_refused() -> None:
    k = dtpoly.load(SOFTMAX)
    with pytest.raises(dtpoly.DtpolyError, match="DT110"):
        k.why_not("x")
    with pytest.raises(ValueError, match="ask about one at a time"):
        k.why_not("softmax.num_warps(2); softmax.num_stages(2);")
    assert not k.why_not("softmax.blok(x:4)")


def test_a_step_that_may_be_added_is_added_by_instead() -> None:
    k = dtpoly.load(SOFTMAX)
    answer: DirectiveAnswer = k.why_not("softmax.num_warps(8)")
    assert answer.is_legal
    assert k.instead(answer.directive).is_legal
    refused = k.why_not("total.fuse_at(softmax, y)")
    assert not refused.is_legal
    assert not k.instead(refused.directive).is_legal


@pytest.mark.long
def test_legal_says_what_the_command_says() -> None:
    found = dtpoly.load(SOFTMAX).legal("softmax")
    said = json.loads(command("legal", str(SOFTMAX), "softmax", "--json"))["directives"]
    assert [(one.directive, one.is_legal) for one in found] == [
        (one["directive"], one["is_legal"]) for one in said
    ]


def test_legal_lists_what_can_be_added() -> None:
    k = dtpoly.parse("Func f; In A; Var x; f[x] = A[x]; f.compile();")
    found = k.legal("f")
    assert "f.block(x:16);" in found.legal
    assert all(k.schedule(one).is_legal for one in found.legal)
    assert "legal     f.block(x:16);" in str(found)
    assert repr(found).startswith(f"<Offered: {len(found)} directives, ")
    assert "<td" in found._repr_html_()  # pyright: ignore[reportPrivateUsage]
    with pytest.raises(KeyError, match="there is no Func 'g'"):
        k.legal("g")
