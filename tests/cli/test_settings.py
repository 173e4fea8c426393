"""Options that a settings file or the environment sets, and which of them comes first."""

import os
from pathlib import Path

import click
import pytest

from dtpoly.cli.main import cli
from dtpoly.cli.settable import settable, variable
from dtpoly.cli.settings_place import SETTINGS, is_foreign, settings_file
from tests.cli.conftest import Entry
from tests.cli.process import ROOT, SOFTMAX

WARNED = "Func f; In A, B; Var x; f[x] = A[x]; f.compile();\n"
NO_SECONDS = "this takes more than 1e-09 seconds"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the present folder, which has a file with a warning and one without."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(SETTINGS, raising=False)
    (tmp_path / "warned.dt").write_text(WARNED)
    (tmp_path / "softmax.dt").write_text(SOFTMAX)
    return tmp_path


def write(place: Path, text: str) -> None:
    place.write_text(text)


def test_without_a_file_nothing_is_set(here: Path, call: Entry) -> None:
    assert here.is_dir()
    assert call("check", "warned.dt")[1].startswith("warning[")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("dtpoly.toml", "quiet = true\n"),
        ("dtpoly.toml", "[check]\nquiet = true\n"),
        ("pyproject.toml", "[tool.dtpoly]\nquiet = true\n"),
        ("pyproject.toml", "[project]\nname = 'x'\n[tool.dtpoly.check]\nquiet = true\n"),
    ],
)
def test_a_file_sets_options(name: str, text: str, here: Path, call: Entry) -> None:
    write(here / name, text)
    assert call("check", "warned.dt") == (0, "", "")


def test_the_nearest_file_holds_below_its_folder(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "dtpoly.toml", "quiet = true\n")
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    assert call("check", "../../warned.dt") == (0, "", "")
    write(here / "a" / "pyproject.toml", "[tool.other]\nquiet = true\n")
    assert call("check", "../../warned.dt") == (0, "", "")
    write(here / "a" / "pyproject.toml", "[tool.dtpoly]\nseconds = 30\n")
    assert call("check", "../../warned.dt")[1].startswith("warning[")


def test_the_table_of_a_command_comes_before_the_top(here: Path, call: Entry) -> None:
    write(here / "dtpoly.toml", "seconds = 1e-9\n[check]\nseconds = 30\n")
    assert call("check", "softmax.dt") == (0, "no errors\n", "")
    assert NO_SECONDS in "".join(map(str, call("legal", "softmax.dt", "softmax")))


def test_command_line_before_environment_before_file(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "dtpoly.toml", "[check]\nseconds = 1e-9\n")
    assert NO_SECONDS in call("check", "softmax.dt")[1]
    monkeypatch.setenv("DTPOLY_CHECK_SECONDS", "30")
    assert call("check", "softmax.dt") == (0, "no errors\n", "")
    assert NO_SECONDS in call("check", "softmax.dt", "--seconds", "1e-9")[1]


def test_the_environment_unsets_a_flag_of_the_file(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "dtpoly.toml", "[check]\nquiet = true\n")
    monkeypatch.setenv("DTPOLY_CHECK_QUIET", "0")
    assert call("check", "warned.dt")[1].startswith("warning[")


def test_a_variable_that_is_wrong_is_named(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert here.is_dir()
    monkeypatch.setenv("DTPOLY_CHECK_SECONDS", "soon")
    code, _, err = call("check", "softmax.dt")
    assert code == 2
    assert "Invalid value for DTPOLY_CHECK_SECONDS in the environment: 'soon'" in err


def test_what_an_option_refuses_is_shown_in_the_file(here: Path, call: Entry) -> None:
    """The option itself refuses the value, after the file was read."""
    write(here / "dtpoly.toml", '[compile]\ntarget = "cuda:17"\n')
    code, out, err = call("compile", "softmax.dt")
    assert (code, out) == (1, "")
    assert err.startswith("error[DT333]: the setting 'target' has a wrong value\n")
    assert '2 | target = "cuda:17"\n  | ^^^^^^ ' in err
    # What is said on the command line does not come from the file.
    code, _, err = call("compile", "softmax.dt", "--target", "cuda:18")
    assert (code, "Invalid value for '--target'" in err) == (2, True)


def test_a_wrong_name_stops_each_command_but_its_help(here: Path, call: Entry) -> None:
    write(here / "dtpoly.toml", "[verify]\nrnig = true\n[explor]\nseed = 1\n")
    code, out, err = call("check", "softmax.dt")
    assert (code, out) == (1, "")
    assert "there is no setting 'explor'" in err
    assert "did you mean 'explore'?" in err
    assert call("check", "--help")[0] == 0
    assert call("--help")[0] == 0


def test_a_plugin_lies_beside_the_file(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "skew.py").write_text((ROOT / "examples" / "skew.py").read_text())
    text = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.skew(x, y); f.compile();\n"
    (here / "skewed.dt").write_text(text)
    assert call("check", "skewed.dt")[0] == 1
    write(here / "dtpoly.toml", 'plugin = ["skew.py"]\n')
    inner = here / "inner"
    inner.mkdir()
    monkeypatch.chdir(inner)
    assert call("check", "../skewed.dt") == (0, "no errors\n", "")


def test_another_file_is_named_in_the_environment(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(here / "dtpoly.toml", "quiet = true\n")
    monkeypatch.setenv(SETTINGS, "")
    assert call("check", "warned.dt")[1].startswith("warning[")
    write(here / "quiet.toml", "[tool.dtpoly]\nquiet = true\n")
    monkeypatch.setenv(SETTINGS, "quiet.toml")
    assert call("check", "warned.dt") == (0, "", "")


def test_a_file_of_another_user_is_not_trusted(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = here / "dtpoly.toml"
    write(place, "quiet = true\n")
    assert not is_foreign(place)
    if os.geteuid() == 0:
        os.chown(place, 12345, -1)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: place.stat().st_uid + 1)
    assert is_foreign(place)
    code, _, err = call("check", "warned.dt")
    assert code == 1
    assert "it belongs to another user" in err
    assert f"{SETTINGS}=dtpoly.toml reads it all the same" in err


def test_a_folder_that_is_gone_has_no_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.chdir(folder)
    folder.rmdir()
    assert settings_file({}) is None
    monkeypatch.chdir(tmp_path)


def commands() -> dict[str, click.Command]:
    return {name: cli.named(click.Context(cli), name) for name in cli.names}


def test_no_two_options_share_a_variable() -> None:
    """Nor does one share it with what the environment says besides."""
    names = [variable(name, key) for name, one in commands().items() for key, _ in settable(one)]
    assert len(names) == len(set(names)) > 100
    assert not {"DTPOLY_CACHE_DIR", "DTPOLY_CHECK", "DTPOLY_DEVICE", SETTINGS} & {*names}


def test_what_names_one_file_of_one_call_cannot_be_set() -> None:
    keys = {name: {key for key, _ in settable(one)} for name, one in commands().items()}
    assert "runtime" in keys["compile"]
    assert {"plugin", "seconds", "ring"} <= keys["verify"]
    assert not {"kernel", "certificate", "check", "extract"} & keys["verify"]
    assert not any("output" in found or "o" in found or "help" in found for found in keys.values())


def test_what_makes_a_proof_weaker_is_said_at_each_call(
    here: Path, call: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DTPOLY_COMPILE_NO_VERIFY", "1")
    assert call("compile", "softmax.dt", "-o", "a.py")[0] == 0
    assert "# Verdict: PROVED " in (here / "a.py").read_text()
    write(here / "dtpoly.toml", "[compile]\nno-verify = true\n")
    code, _, err = call("compile", "softmax.dt", "-o", "b.py")
    assert (code, (here / "b.py").exists()) == (1, False)
    assert "there is no setting 'no-verify'" in err
    for name, lesser in (("verify", {"func", "fuse-at"}), ("explore", {"verify"})):
        keys = {key for key, _ in settable(commands()[name])}
        assert keys
        assert not lesser & keys


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("seconds = " + "[" * 100_000, "its brackets nest too deep"),
        ("seconds = {a = 1}\n", "it takes a text or a number"),
        ("seconds = 2026-11-28\n", "it takes a text or a number"),
        ("seconds = nan\n", "'nan' is not a number of seconds"),
        ("plugin = [true]\n", "it takes a text or a number"),
        ("[[check]]\nquiet = true\n", "a command has a table"),
        ("\0", "error[DT331]: a settings file is not TOML"),
    ],
    ids=["deep", "table", "date", "nan", "list", "tables", "null"],
)
def test_whatever_the_file_has_is_a_message(
    text: str, message: str, here: Path, call: Entry
) -> None:
    write(here / "dtpoly.toml", text)
    code, out, err = call("check", "softmax.dt")
    assert (code, out) == (1, "")
    assert message in err


def test_a_pipe_is_no_settings_file(here: Path, call: Entry) -> None:
    """Reading it would never end."""
    os.mkfifo(here / "dtpoly.toml")
    os.mkfifo(here / "pyproject.toml")
    assert call("check", "softmax.dt") == (0, "no errors\n", "")
