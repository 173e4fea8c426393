"""`dtpoly verify --certificate` and `--check`: a proof that others can check."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.test_compile_verified import here

__all__ = ["here"]

pytest.importorskip("dtpoly.verify.certificate")


@pytest.fixture
def certified(call: Entry, here: Path) -> Path:
    """A file, its kernels, and what is proved of them."""
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
