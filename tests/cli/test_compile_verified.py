"""`dtpoly compile` verifies what it writes, says so in the file, and writes nothing wrong."""

import ast
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dtpoly.generate import Code, code_of
from tests.cli.conftest import Entry
from tests.cli.test_startup import loaded

SUM = "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:4); f.compile();\n"
TWO = "Func e, f; In A; Var x; e[x] = exp(A[x]); f[x] = e[x] + 1; e.compile(); f.compile();\n"
PROVED = "# Verdict: PROVED stores, loads, bounds, lanes, order, value, overflow.\n"
NOTHING = "# Verdict: none, for nothing was verified.\n"
ALL_UNKNOWN = "UNKNOWN stores, loads, bounds, lanes, order, value, overflow"


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder to be in, and a cache of its own."""
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    # What is not proved is run; nothing of that is left behind.
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.dt").write_text(SUM)
    return tmp_path


@pytest.fixture
def emit(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    """Let the generator make another text than it does."""

    def emit(old: str, new: str) -> None:
        def changed(*arguments: Any, **named: Any) -> Code:
            code = code_of(*arguments, **named)
            assert old in code.text
            return replace(code, text=code.text.replace(old, new))

        for module in ("dtpoly.remarks", "dtpoly.cli.verify_command", "dtpoly.api"):
            monkeypatch.setattr(f"{module}.code_of", changed)

    return emit


def header_of(path: Path) -> list[str]:
    return [line for line in path.read_text().splitlines(keepends=True) if line.startswith("# ")][
        :3
    ]


def test_the_verdict_stands_in_the_header(call: Entry, here: Path) -> None:
    assert call("compile", "f.dt") == (0, "", "wrote f.py: f, 1 kernel\n")
    assert header_of(here / "f.py")[1] == PROVED


@pytest.mark.long
def test_what_is_written_is_what_was_verified(call: Entry, here: Path) -> None:
    call("compile", "f.dt", "-o", "plain.py", "--no-verify")
    call("compile", "f.dt", "-o", "verified.py")
    plain, verified = (Path(one).read_text() for one in ("plain.py", "verified.py"))
    assert plain.count(NOTHING) == verified.count(PROVED) == 1
    assert verified.replace(PROVED, NOTHING) == plain
    assert ast.dump(ast.parse(plain)) == ast.dump(ast.parse(verified))


def test_standard_output_has_it_too(call: Entry) -> None:
    code, out, err = call("compile", "f.dt", "-o", "-")
    assert (code, out.splitlines(keepends=True)[1], err) == (0, PROVED, "")


@pytest.mark.parametrize("more", [("--test", "x=5,k=7"), ("--func", "f")])
def test_other_files_of_the_same_program(call: Entry, here: Path, more: tuple[str, ...]) -> None:
    assert call("compile", "f.dt", *more)[0] == 0
    assert header_of(here / "f.py")[1] == PROVED


def test_names_that_python_needs(call: Entry, here: Path) -> None:
    text = "Func class; In lambda; Var len; class[len] = lambda[len] * 2; class.compile();"
    (here / "f.dt").write_text(text)
    assert call("compile", "f.dt")[0] == 0
    assert header_of(here / "f.py")[1] == PROVED


def test_what_is_wrong_is_not_written(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    emit("range(0, k_size)", "range(1, k_size)")
    code, out, err = call("compile", "f.dt")
    assert (code, out) == (3, "")
    assert not (here / "f.py").exists()
    assert "error[DT310]: the code of 'f' would be wrong\n  --> f.py:" in err
    assert "something of the algorithm's reduction is left out" in err
    assert "^" in err
    assert "at x = 1, k = 1: program 0, " in err
    assert "stores out[0]" in err
    assert "please report it with this message and 'f.dt'" in err
    assert "--no-verify" in err
    assert call("compile", "f.dt", "-o", "-")[:2] == (3, "")
    assert call("compile", "f.dt", "--emit", "ttir")[:2] == (3, "")


def test_what_is_wrong_leaves_an_older_file(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    call("compile", "f.dt")
    before = (here / "f.py").read_bytes()
    emit("range(0, k_size)", "range(1, k_size)")
    assert call("compile", "f.dt")[0] == 3
    assert (here / "f.py").read_bytes() == before


def test_without_verification_it_is_written(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    emit("range(0, k_size)", "range(1, k_size)")
    assert call("compile", "f.dt", "--no-verify") == (0, "", "wrote f.py: f, 1 kernel\n")
    assert header_of(here / "f.py")[1] == NOTHING


@pytest.mark.long
def test_what_is_not_proved_is_written_with_a_warning(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    emit('    "types":', '    "more": 1,\n    "types":')
    code, out, err = call("compile", "f.dt")
    assert (code, out) == (0, "")
    assert err.startswith("warning[DT311]: 'f' is not proved\n")
    assert '|     "more": 1,\n' in err
    assert "a plan with 'more'" in err
    assert err.endswith("wrote f.py: f, 1 kernel\n")
    assert header_of(here / "f.py")[1] == f"# Verdict: {ALL_UNKNOWN}.\n"


def test_what_is_not_proved_is_run(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    emit('"k_size": "k"}', '"k_size": "k // 2"},\n            "more": 1')
    code, out, err = call("compile", "f.dt")
    assert (code, out) == (3, "")
    assert not (here / "f.py").exists()
    assert "refuted: ring" in err
    assert "at x = " in err


def test_what_cannot_be_run_is_written_with_a_warning_that_says_so(
    call: Entry,
    here: Path,
    emit: Callable[[str, str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The same text as above, where no torch is installed."""
    monkeypatch.setitem(sys.modules, "torch", None)
    emit('"k_size": "k"}', '"k_size": "k // 2"},\n            "more": 1')
    code, out, err = call("compile", "f.dt")
    assert (code, out) == (0, "")
    assert err.startswith("warning[DT311]: 'f' is not proved\n")
    assert "note: ring: it was not run, because torch is not installed: pip install" in err
    assert header_of(here / "f.py")[1] == f"# Verdict: {ALL_UNKNOWN}.\n"


def test_functions_that_differ_have_a_line_each(
    call: Entry, here: Path, emit: Callable[[str, str], None]
) -> None:
    (here / "f.dt").write_text(TWO)
    emit('"function": "f"', '"more": 1,\n    "function": "f"')
    code, _, err = call("compile", "f.dt")
    assert code == 0
    proved = PROVED.removeprefix("# Verdict: ")
    assert header_of(here / "f.py")[1:] == [
        f"# Verdict of e: {proved}",
        f"# Verdict of f: {ALL_UNKNOWN}.\n",
    ]
    # The line is that of the file as it is written.
    (number,) = (int(line.split(":")[1]) for line in err.splitlines() if "--> f.py:" in line)
    assert (here / "f.py").read_text().splitlines()[number - 1] == '    "more": 1,'


@pytest.mark.long
def test_a_proof_is_kept(call: Entry, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("compile", "f.dt")[0] == 0
    before = (here / "f.py").read_bytes()

    def never(*_: object) -> object:
        raise AssertionError

    monkeypatch.setattr("dtpoly.verify.proof.verify.verify", never)
    assert call("compile", "f.dt")[0] == 0
    assert (here / "f.py").read_bytes() == before
    (here / "f.dt").write_text(SUM.replace("x:4", "x:8"))
    assert call("compile", "f.dt")[0] == 3


def test_without_a_place_for_proofs(
    call: Entry, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "file").write_text("")
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(here / "file"))
    assert call("compile", "f.dt")[0] == 0
    assert header_of(here / "f.py")[1] == PROVED


@pytest.mark.long
def test_nothing_heavy_is_loaded(here: Path) -> None:
    for _ in range(2):
        assert loaded("compile", "f.dt", "-o", os.devnull) == {"islpy._isl"}
