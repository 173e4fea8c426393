"""`dtpoly why-not`: a directive that is not in the file."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import dtpoly
from tests.conftest import Golden
from tests.schedule.told import TWO_PRODUCTS
from tests.test_thesis import DATA

LISTING = "listing_4_03_2mm.dt"
ASKED = {
    "refused": "mm.fuse_at(_2mm, n)",
    "legal": "_2mm.block(n:64)",
    "replaced": "_2mm.block(m:32);",
    "static": "_2mm.block(q:16)",
    "there": "_2mm.block(m:16)",
}


@pytest.fixture
def file() -> str:
    return str(DATA / LISTING)


@pytest.mark.parametrize("name", ASKED)
def test_as_it_was(name: str, call: Entry, golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(DATA)
    code, out, err = call("why-not", LISTING, ASKED[name])
    assert (code, err) == (1 if name in ("refused", "static") else 0, "")
    golden(f"why_not/{name}.txt", out)


def test_json_of_a_refusal(call: Entry, file: str) -> None:
    code, out, _ = call("why-not", file, "mm.fuse_at(_2mm, n)", "--json")
    document = json.loads(out)
    assert (code, document["version"], document["is_legal"]) == (1, 1, False)
    assert document["directive"] == "mm.fuse_at(_2mm, n);"
    (old,) = document["instead_of"]
    assert (old["directive"], old["left"]) == ("mm.fuse_at(_2mm, m);", None)
    assert old["place"]["start"]["line"] == 17
    (error,) = document["diagnostics"]
    assert (error["code"], error["place"]["file"]) == ("DT203", "<directive>")
    files = {note["place"]["file"] for note in error["notes"] if note["place"]}
    assert files == {file}
    assert document["explanation"] is None


def test_json_of_what_is_legal(call: Entry, file: str) -> None:
    code, out, _ = call("why-not", file, "_2mm.tensorize(n:128)", "--json")
    document = json.loads(out)
    assert (code, document["is_legal"], document["diagnostics"]) == (0, True, [])
    assert document["explanation"]["changes"][0]["after"] == "all of n in steps of 128 lanes"
    assert document["explanation"]["changes"][0]["before"] == "all of n in steps of 64 lanes"


def test_of_several_arguments_the_others_stay(call: Entry) -> None:
    text = TWO_PRODUCTS + "_2mm.tensorize(m:16, n:64);"
    out = call("why-not", "-", "_2mm.tensorize(n:128)", stdin=text.encode())[1]
    assert "_2mm.tensorize(m:16, n:64); (<stdin>:6), of which _2mm.tensorize(m:16); is left" in out


def test_the_file_stays_as_it_is(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "two.dt"
    path.write_text(TWO_PRODUCTS)
    assert call("why-not", str(path), "_2mm.block(m:16)")[0] == 0
    assert path.read_text() == TWO_PRODUCTS


USAGE = {
    "empty": ("", "it is empty"),
    "spaces": ("  \n", "it is empty"),
    "a comment": ("# f.block(x:4)", "it is empty"),
    "several": ("_2mm.block(m:4); _2mm.block(n:4)", "there are 2; ask about one at a time"),
    "a declaration": ("Func f", "'Func f' is no directive"),
    "a definition": (f"_2mm[m, n] = {'A[m, n] + ' * 30}B[m, n]", "…' is no directive"),
}


@pytest.mark.parametrize("name", USAGE)
def test_what_is_not_one_directive_is_usage(call: Entry, file: str, name: str) -> None:
    text, said = USAGE[name]
    code, out, err = call("why-not", file, text)
    assert (code, out) == (2, "")
    assert said in err
    assert "write one such as 'f.block(x:16)'" in err


UNREADABLE = {
    "no end": ("_2mm.block(", "DT107"),
    "no dot": ("block", "DT110"),
    "unknown Func": ("_3mm.block(m:16)", "DT120"),
    "an input": ("A.block(m:16)", "DT155"),
    "a strange character": ("_2mm.block(m:16)€", "DT103"),
    "huge": ("_2mm.block(m:16);" * 20_000, "DT119"),
    "deep": ("_2mm.block(" + "(" * 500, "DT1"),
    "a large number": ("_2mm.block(m:99999999999999999999)", "DT1"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_told_and_is_usage(call: Entry, file: str, name: str) -> None:
    text, code_said = UNREADABLE[name]
    code, out, err = call("why-not", file, text)
    assert (code, out) == (2, "")
    assert f"[{code_said}" in err
    assert len(err) < 3_000


def test_unknown_directives_and_labels_are_refused(call: Entry, file: str) -> None:
    for text, said in (("mm.blok(m:1)", "did you mean block?"), ("_2mm.block(q:1)", "DT185")):
        code, out, _ = call("why-not", file, text)
        assert code == 1
        assert said in out


def test_a_wrong_file_is_only_reported(call: Entry, wrong: Path) -> None:
    code, out, err = call("why-not", str(wrong), "f.block(x:4)")
    assert (code, out) == (1, "")
    assert f"{wrong}:4:15" in err


def test_a_schedule_that_is_refused_as_it_stands(call: Entry) -> None:
    text = (TWO_PRODUCTS + "mm.fuse_at(_2mm, n);").encode()
    code, out, _ = call("why-not", "-", "_2mm.num_warps(4)", stdin=text)
    assert code == 1
    assert "the schedule in the file is refused as it stands" in out
    code, out, _ = call("why-not", "-", "mm.fuse_at(_2mm, m)", stdin=text)
    assert code == 0
    assert "legal for all sizes" in out


def test_a_file_without_funcs(call: Entry) -> None:
    assert call("why-not", "-", "f.block(x:4)", stdin=b"Var x;")[0] == 2


def test_help_has_an_example(call: Entry) -> None:
    code, out, _ = call("why-not", "--help")
    assert code == 0
    assert "dtpoly why-not softmax.dt 'total.fuse_at(softmax, y)'" in out


def test_as_a_process_and_for_the_shell(file: str) -> None:
    done = dtpoly("why-not", file, "mm.fuse_at(_2mm, n)")
    assert done.returncode == 1
    assert b"recomputes in a loop" in done.stdout
    env = {"_DTPOLY_COMPLETE": "bash_complete", "COMP_WORDS": "dtpoly w", "COMP_CWORD": "1"}
    assert dtpoly(env=env).stdout.decode().splitlines() == ["plain,why-not"]


def test_the_order_of_what_is_named_says_nothing(call: Entry) -> None:
    text = (
        b"Func f; In A; Var x; f[x] = A[x]; f.block(x:64); f.tensorize(x:0); f.descriptor(f, A);"
        b"f.compile();"
    )
    out = call("why-not", "-", "f.descriptor(A)", stdin=text)[1]
    assert "the file says so already" in out
    assert "changes  nothing" in out
