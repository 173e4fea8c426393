"""`dtpoly legal`: directives that could come next."""

import json
import sys
from pathlib import Path

import pytest

from dtpoly.cli import legal_command as legal
from dtpoly.directives.built_in import DIRECTIVES
from tests.cli.conftest import Entry
from tests.conftest import Golden
from tests.schedule.told import MAP, TWO_PRODUCTS
from tests.test_thesis import DATA

LISTING = "listing_4_03_2mm.dt"


@pytest.mark.long
@pytest.mark.parametrize("func", ["_2mm", "mm"])
def test_as_it_was(func: str, call: Entry, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    code, out, err = call("legal", LISTING, func)
    assert (code, err) == (0, "")
    golden(f"legal/{func}.txt", out)


@pytest.mark.long
def test_what_is_legal_stands_first(call: Entry) -> None:
    code, out, _ = call("legal", "-", "_2mm", stdin=TWO_PRODUCTS.encode())
    answers = [line.split()[0] for line in out.splitlines()[2:]]
    changing = answers.index("refused")
    assert code == 0
    assert set(answers[:changing]) == {"legal"}
    assert answers[changing:] == sorted(answers[changing:], reverse=True)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "refused mm.fuse_at(_2mm, n); recomputes in a loop" in lines


@pytest.mark.long
def test_json(call: Entry) -> None:
    code, out, _ = call("legal", "-", "_2mm", "--json", stdin=TWO_PRODUCTS.encode())
    document = json.loads(out)
    assert (code, document["version"], document["func"]) == (0, 1, "_2mm")
    assert document["computed_inside_of"] == []
    found = {one["directive"]: one for one in document["directives"]}
    assert found["mm.fuse_at(_2mm, n);"] == {
        "directive": "mm.fuse_at(_2mm, n);",
        "is_legal": False,
        "changes": True,
        "reason": "recomputes in a loop",
    }
    assert found["_2mm.block(m:16);"]["reason"] is None


def test_a_func_without_a_kernel_says_where_it_is(call: Entry) -> None:
    text = (TWO_PRODUCTS + "mm.fuse_at(_2mm, m);").encode()
    out = call("legal", "-", "mm", stdin=text)[1]
    assert "'mm' is computed inside of '_2mm'; directives on its loops belong there" in out
    document = json.loads(call("legal", "-", "mm", "--json", stdin=text)[1])
    assert document["computed_inside_of"] == ["_2mm"]


@pytest.mark.parametrize(
    ("func", "said"),
    [("g", "has no Func 'g'"), ("", "has no Func ''"), ("_2m", "did you mean '_2mm'?")],
)
def test_an_unknown_func_is_usage(call: Entry, func: str, said: str) -> None:
    code, out, err = call("legal", "-", func, stdin=TWO_PRODUCTS.encode())
    assert (code, out) == (2, "")
    assert said in err


def test_wrong_and_refused_files_are_only_reported(call: Entry, wrong: Path) -> None:
    code, out, err = call("legal", str(wrong), "f")
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err
    refused = (TWO_PRODUCTS + "mm.fuse_at(_2mm, n);").encode()
    code, out, err = call("legal", "-", "_2mm", stdin=refused)
    assert (code, out) == (1, "")
    assert "DT203" in err


def test_someone_who_waits_is_told_how_far_it_is(
    call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "tried" not in call("legal", "-", "f", stdin=MAP.encode())[2]
    monkeypatch.setattr(legal, "PATIENCE", -1.0)
    assert "tried" not in call("legal", "-", "f", stdin=MAP.encode())[2]
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    out = call("legal", "-", "f", stdin=MAP.encode())[2]
    assert "\r1 directives tried" in out
    assert out.endswith("\r\x1b[K")


def test_help_has_an_example(call: Entry) -> None:
    code, out, _ = call("legal", "--help")
    assert code == 0
    assert "dtpoly legal softmax.dt softmax" in out


def test_every_directive_is_offered_or_said_not_to_be(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "mm.dt"
    path.write_text(
        "Func mm;\nIn A, B;\nVar m, n;\nRVar k;\n"
        "mm[m, n] = rdot(A[m, k], B[k, n], k);\nmm.compile();\n"
    )
    code, out, _ = call("legal", str(path), "mm", "--json")
    assert code == 0
    found = {one["directive"]: one for one in json.loads(out)["directives"]}
    words = {directive.partition("(")[0].rpartition(".")[2] for directive in found}
    # Nothing is blocked here, and no other Func is there.
    assert {one.name for one in DIRECTIVES} - words == {
        *("compile", "fuse_at", "beside", "map", "online")
    }
    assert not found["mm.warp_specialize();"]["changes"]
    assert not found["mm.align(A);"]["changes"]
    assert found["mm.num_warps(4);"]["changes"]
    assert found["mm.precision(tf32);"]["is_legal"]
