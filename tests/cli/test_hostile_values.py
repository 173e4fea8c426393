"""Values that no one means, on the command line, in the environment and in files of results."""

import os
import sqlite3
from pathlib import Path

import pytest

from tests.cli.conftest import Entry
from tests.cli.test_compile_verified import here

__all__ = ["here"]

SPACE = """\
Func f;
In A;
Var x;
f[x] = A[x] + 1.0;
f.block(x:{16, 32});
f.tensorize(x:0);
f.compile();
"""
# Each damages a row in another way: wrong JSON, wrong types, words that are none, no numbers.
DAMAGES = (
    *("question set sizes = '[]'", "question set sizes = '{'", "question set sizes = 5"),
    *('question set sizes = \'{"x": "a"}\'', "question set versions = '[]'"),
    *("question set versions = '5'", "question set program = x'ff'", "question set seed = 'x'"),
    *("question set device = x'00'", "result set outcome = 'zz'", "result set outcome = x'00'"),
    *("result set parameters = '[]'", "result set parameters = '{'"),
    *("result set parameters = '{\"x\": 5}'", "result set baselines = '[]'"),
    *('result set baselines = \'{"a": "b"}\'', "result set baselines = '{\"a\": 1e999}'"),
    *("result set baselines = '{\"a\": NaN}'", "result set baselines = '{\"a\": 0}'"),
    *("result set median = 'abc'", "result set median = -1.0", "result set median = 0.0"),
    *("result set median = 9e999", "result set median = null", "result set quarter = 'x'"),
    *("result set samples = 'q'", "result set seconds = 'x'", "result set text_hash = x'00'"),
)


@pytest.mark.sampled
@pytest.mark.parametrize("command", ["check", "verify", "explain", "compile"])
@pytest.mark.parametrize("seconds", ["inf", "1e308", "1e20"])
def test_more_seconds_than_a_clock_counts(
    call: Entry, here: Path, command: str, seconds: str
) -> None:
    code, _, err = call(command, "f.dt", "--seconds", seconds)
    assert code == 0
    assert "error" not in err


@pytest.mark.parametrize("seconds", ["nan", "-nan", "0", "-1", "x"])
def test_seconds_that_are_none(call: Entry, here: Path, seconds: str) -> None:
    for command in ("check", "verify", "space", "explain"):
        assert call(command, "f.dt", "--seconds", seconds)[0] == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("which", [None, "x", "99", "-99"])
def test_a_shell_that_says_nothing(
    call: Entry, monkeypatch: pytest.MonkeyPatch, shell: str, which: str | None
) -> None:
    monkeypatch.setenv("_DTPOLY_COMPLETE", f"{shell}_complete")
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    if which is not None:
        monkeypatch.setenv("COMP_WORDS", "dtpoly ve")
        monkeypatch.setenv("COMP_CWORD", which)
    assert call("check")[0] in (0, 1, 2)


@pytest.mark.sampled
@pytest.mark.parametrize("link", ["itself", "hard", "soft", "around"])
@pytest.mark.parametrize("name", ["f.dt", "f.py"])
def test_a_certificate_takes_the_place_of_no_file_that_it_is_about(
    call: Entry, here: Path, name: str, link: str
) -> None:
    assert call("compile", "f.dt")[0] == 0
    before = (here / name).read_bytes()
    (here / "sub").mkdir()
    other = {"itself": name, "around": f"sub/../{name}"}.get(link, "other")
    if link == "hard":
        os.link(here / name, here / other)
    if link == "soft":
        (here / other).symlink_to(here / name)
    code, out, err = call("verify", "f.dt", "--kernel", "f.py", "--certificate", other)
    assert (code, out) == (2, "")
    assert "is a file to verify" in err
    assert (here / name).read_bytes() == before
    assert call("compile", "f.dt", "-o", other)[0] == (2 if name == "f.dt" else 0)


@pytest.fixture
def results(call: Entry, tmp_path: Path) -> Path:
    """Return a file of results of two points."""
    (tmp_path / "f.dt").write_text(SPACE)
    path = tmp_path / "run.sqlite"
    asked = ("explore", str(tmp_path / "f.dt"), "--size", "x=64", "--simulate", "-o", str(path))
    assert call(*asked)[0] == 0
    return path


@pytest.mark.sampled
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_file_of_results_that_somebody_changed(call: Entry, results: Path, damage: str) -> None:
    connection = sqlite3.connect(results)
    connection.execute(f"update {damage}")
    connection.commit()
    connection.close()
    folder = results.parent
    shipped = ("-o", str(folder / "kept.dts"), "--algorithm", str(folder / "f.dt"))
    for asked in (("report", str(results)), ("ship", str(results), *shipped)):
        code, _, err = call(*asked)
        assert code == 1
        assert "is damaged: " in err
