"""`dtpoly verify --certificate` and `--check`: a proof that others can check."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Entry
from tests.cli.test_compile_verified import TWO, here

__all__ = ["here"]

pytest.importorskip("dtpoly.verify.proof.certificate")


@pytest.fixture
def certified(call: Entry, here: Path) -> Path:
    """Return a file, its kernels, and what is proved of them."""
    assert call("compile", "f.dt")[0] == 0
    code, _, err = call("verify", "f.dt", "--kernel", "f.py", "--certificate", "f.json")
    assert (code, err) == (0, "wrote f.json\n")
    return here


def test_it_is_accepted(call: Entry, certified: Path) -> None:
    code, out, err = call("verify", "f.dt", "--kernel", "f.py", "--check", "f.json")
    assert (code, err) == (0, "")
    assert out.startswith("accepted: ")
    assert out.count("\n") == 1
    assert "; not covered: how the verifier reads Python and Triton, what functions known" in out
    # It is of the text without the verdict, so of the text that compile would write, too.
    assert call("verify", "f.dt", "--check", "f.json")[0] == 0
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py", "--check", "f.json", "--json")
    document = json.loads(out)
    assert code == 0
    assert (document["accepted"], document["complaints"]) == (True, [])
    assert document["decided"] > 0
    assert document["not_covered"][-2:] == ["rounding", "Python, torch, Triton and the GPU"]


@pytest.mark.parametrize("name", ["f.dt", "f.py", "f.json"])
def test_of_other_texts_it_is_rejected(call: Entry, certified: Path, name: str) -> None:
    path = certified / name
    text = path.read_text()
    path.write_text(text.replace("f[x]", "f[ x]") if name == "f.dt" else f"{text} ")
    if name == "f.json":
        path.write_text(text[: len(text) // 2])
    code, out, err = call("verify", "f.dt", "--kernel", "f.py", "--check", "f.json")
    assert (code, err) == (1, "")
    assert out.startswith("rejected: ")


def test_files_that_cannot_be_used(call: Entry, certified: Path) -> None:
    asked = ("verify", "f.dt", "--kernel", "f.py")
    code, out, err = call(*asked, "--check", "missing.json")
    assert (code, out) == (1, "")
    assert err.startswith("error: cannot read 'missing.json': No such file")
    (certified / "bad.json").write_bytes(b"\xff")
    assert "it is not UTF-8 text" in call(*asked, "--check", "bad.json")[2]
    code, _, err = call(*asked, "--certificate", "missing/f.json")
    assert code == 1
    assert "cannot write 'missing/f.json'" in err


SCREEN = "\x1b[2J\x1b[H\naccepted: 9 sets decided, 0 not\u202e"


def with_another_function(document: dict[str, Any]) -> None:
    document["functions"].append(document["functions"][0] | {"name": SCREEN})


def with_another_key(document: dict[str, Any]) -> None:
    document[SCREEN] = 1


def with_another_key_of_a_function(document: dict[str, Any]) -> None:
    document["functions"][0][SCREEN] = 1


@pytest.mark.parametrize(
    "change", [with_another_function, with_another_key, with_another_key_of_a_function]
)
def test_what_it_says_of_itself_is_no_answer(
    call: Entry, certified: Path, change: Callable[[dict[str, Any]], None]
) -> None:
    path = certified / "f.json"
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))
    for more in ((), ("--json",)):
        code, out, err = call("verify", "f.dt", "--kernel", "f.py", "--check", "f.json", *more)
        assert (code, err) == (1, "")
        assert not any(char in out for char in "\x1b\u202e")
        assert not any(line.startswith("accepted") for line in out.splitlines())


def test_no_more_of_it_is_read_than_it_may_have(call: Entry, certified: Path) -> None:
    with (certified / "large.json").open("wb") as file:
        file.truncate(2**40)  # it takes no room on the disk
    for name in ("large.json", "/dev/zero") if Path("/dev/zero").exists() else ("large.json",):
        code, out, err = call("verify", "f.dt", "--kernel", "f.py", "--check", name)
        assert (code, out) == (1, "")
        assert "it has more than" in err


@pytest.mark.sampled
@pytest.mark.parametrize(
    "options",
    [
        ("--check", "f.json", "--fuse-at"),
        ("--check", "f.json", "--ring"),
        ("--check", "f.json", "--certificate", "g.json"),
        ("--fuse-at", "--kernel", "f.py"),
        ("--fuse-at", "--certificate", "g.json"),
        ("--kernel", "f.py", "--check", "f.json", "--fuse-at"),
    ],
)
def test_nothing_that_is_asked_for_is_left_out_in_silence(
    call: Entry, certified: Path, options: tuple[str, ...]
) -> None:
    code, out, err = call("verify", "f.dt", *options)
    assert (code, out) == (2, "")
    assert "ask for different things" in err
    assert not (certified / "g.json").exists()


@pytest.mark.long
def test_it_is_of_every_func_that_is_compiled(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(TWO)
    assert call("compile", "f.dt", "--func", "e")[0] == 0
    asked = ("verify", "f.dt", "--kernel", "f.py")
    assert call(*asked, "--certificate", "f.json")[0] == 1
    code, out, _ = call(*asked, "--check", "f.json")
    assert code == 1
    assert out.startswith("rejected: ")
    assert "'f' is computed by no kernel" in out
    document = json.loads(call(*asked, "--check", "f.json", "--json")[1])
    assert (document["accepted"], len(document["complaints"])) == (False, 1)
    assert call(*asked, "--check", "f.json", "--func", "e")[1].startswith("accepted: ")
