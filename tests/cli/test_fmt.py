"""`dtpoly fmt`: files are laid out anew, or left exactly as they were."""

import errno
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.process import dtpoly

UGLY = "Func f;In A;Var x;\nf[x]=A[x]+1;\nf.compile();"
PRETTY = "Func f;\nIn A;\nVar x;\nf[x] = A[x] + 1;\nf.compile();\n"
BROKEN = "Func f;;\nf[x = 1"


@pytest.fixture
def ugly(tmp_path: Path) -> Path:
    path = tmp_path / "ugly.dt"
    path.write_text(UGLY)
    return path


def test_in_place(call: Entry, ugly: Path) -> None:
    assert call("fmt", str(ugly)) == (0, "", f"formatted {ugly}\n")
    assert ugly.read_text() == PRETTY


def test_a_formatted_file_is_not_written(call: Entry, ugly: Path) -> None:
    ugly.write_text(PRETTY)
    before = ugly.stat()
    assert call("fmt", str(ugly)) == (0, "", "")
    after = ugly.stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_check_writes_nothing(call: Entry, ugly: Path) -> None:
    assert call("fmt", "--check", str(ugly)) == (1, f"{ugly} is not formatted\n", "")
    assert ugly.read_text() == UGLY
    ugly.write_text(PRETTY)
    assert call("fmt", "--check", str(ugly)) == (0, "", "")


def test_diff_writes_nothing(call: Entry, ugly: Path) -> None:
    code, out, err = call("fmt", "--diff", str(ugly))
    assert (code, err) == (0, "")
    assert out.startswith(f"--- {ugly}\n+++ {ugly} (formatted)\n@@ ")
    assert "-f[x]=A[x]+1;\n" in out
    assert "+f[x] = A[x] + 1;\n" in out
    assert "-f.compile();\n\\ No newline at end of file\n" in out
    assert ugly.read_text() == UGLY
    assert call("fmt", "--diff", "--check", str(ugly))[0] == 1


def test_standard_input_goes_to_standard_output(call: Entry) -> None:
    assert call("fmt", "-", stdin=UGLY.encode()) == (0, PRETTY, "")
    assert call("fmt", "-", stdin=PRETTY.encode()) == (0, PRETTY, "")
    assert call("fmt", "--check", "-", stdin=UGLY.encode())[0] == 1


def test_bytes_of_standard_output_are_utf8() -> None:
    done = dtpoly("fmt", "-", stdin="# ü\n".encode(), env={"PYTHONIOENCODING": "ascii"})
    assert done.stdout == "# ü\n".encode()


def test_what_cannot_be_read_is_left_alone(call: Entry, ugly: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.dt"
    broken.write_text(BROKEN)
    code, out, err = call("fmt", str(broken), str(tmp_path / "no.dt"), str(ugly))
    assert (code, out) == (1, "")
    assert f"{broken}:2:" in err
    assert "error[DT100]" in err
    assert broken.read_text() == BROKEN
    assert ugly.read_text() == PRETTY


def test_a_full_disk(call: Entry, ugly: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    message = f"error: cannot write '{ugly}': no space left on device\n"
    assert call("fmt", str(ugly)) == (1, "", message)
    assert ugly.read_text() == UGLY
    assert list(ugly.parent.iterdir()) == [ugly]
