"""`dtpoly doctor`: what it looks at, what it says, and its exit code."""

import json
import tomllib
from pathlib import Path

import pytest

from dtpoly.cli import health
from dtpoly.cli.health import HealthState, Requirement, gpus_of, package_check, requirements
from tests.cli.conftest import Entry

ROOT = Path(__file__).parents[2]
LINES = (
    "click>=8.1",
    'numpy>=1.26; extra == "torch"',
    "triton>=3.6; sys_platform == 'linux' and extra == 'torch'",
    'pytest>=8.3; extra == "dev"',
    'numpy>=1.26; extra == "dev"',
    "rich",
)


@pytest.fixture
def torch_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let torch not be asked, which takes seconds."""
    found: dict[str, object] = {"version": "2.13.0", "triton": "3.9.0", "cuda": None, "gpus": []}
    monkeypatch.setattr(health, "ask_torch", lambda: found)


def checks(call: Entry) -> tuple[int, dict[str, dict[str, str]]]:
    code, out, _ = call("doctor", "--json")
    return code, {one["name"]: one for one in json.loads(out)["checks"]}


@pytest.mark.usefixtures("torch_says")
def test_all_is_well_here(call: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, found = checks(call)
    assert code == 0
    assert {"dtpoly", "cache", "plugins", "settings", "GPU"} <= {*found}
    assert not [one for one in found.values() if one["state"] == "wrong"]
    code, out, err = call("doctor")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()[2:]] == list(found)


@pytest.mark.usefixtures("torch_says")
def test_what_is_wrong_has_a_way_out(
    call: Entry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dtpoly.toml").write_text("[verify]\nrnig = true\n")
    place = tmp_path / "open"
    place.mkdir(mode=0o777)
    place.chmod(0o777)
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(place))
    monkeypatch.setenv("DTPOLY_VERIFY_RNIG", "1")
    code, found = checks(call)
    assert code == 1
    assert found["settings"]["state"] == found["cache"]["state"] == "wrong"
    assert found["settings"]["found"] == "dtpoly.toml:2:1: there is no setting 'rnig'"
    assert found["settings"]["way"] == "did you mean 'ring'?"
    assert "DTPOLY_CACHE_DIR" in found["cache"]["way"]
    assert found["variable"]["state"] == "note"
    assert found["variable"]["way"] == "did you mean DTPOLY_VERIFY_RING?"


def test_requirements_are_read_once() -> None:
    assert [*requirements(LINES)] == [
        Requirement("click", "8.1", ""),
        Requirement("numpy", "1.26", "torch"),
        Requirement("triton", "3.6", "torch"),
        Requirement("rich", "", ""),
    ]


@pytest.mark.parametrize(
    ("wanted", "state", "way"),
    [
        (Requirement("click", "1.0", ""), HealthState.OK, ""),
        (Requirement("click", "999.0", ""), HealthState.WRONG, "pip install dtpoly --upgrade"),
        (Requirement("no-such-package", "1", ""), HealthState.WRONG, "pip install dtpoly"),
        (
            Requirement("no-such-package", "1", "plots"),
            HealthState.NOTE,
            "pip install 'dtpoly[plots]'",
        ),
    ],
)
def test_packages(wanted: Requirement, state: HealthState, way: str) -> None:
    found = package_check(wanted)
    assert (found.state, found.way) == (state, way)


def test_versions_are_compared_by_numbers() -> None:
    assert health.is_older("2.9.1+cpu", "2.10")
    assert not health.is_older("2.13.0+cpu", "2.6")
    assert not health.is_older("3.9.0", "3.9")


@pytest.mark.parametrize(
    ("gpus", "cuda", "is_driven", "state", "said"),
    [
        (["NVIDIA H200"], "13.0", True, HealthState.OK, "NVIDIA H200"),
        (["NVIDIA T4"], "13.0", True, HealthState.NOTE, "the cost model knows only"),
        ([], None, True, HealthState.WRONG, "this torch is made for CPUs"),
        ([], "13.0", True, HealthState.WRONG, "though there is a driver"),
        ([], None, False, HealthState.NOTE, "none was found"),
    ],
)
def test_gpus(
    gpus: list[str], cuda: str | None, is_driven: bool, state: HealthState, said: str
) -> None:
    (found,) = gpus_of({"gpus": gpus, "cuda": cuda}, is_driven=is_driven)
    assert found.state is state
    assert said in found.found
    assert found.way or state is HealthState.OK


@pytest.mark.long
def test_torch_is_asked_in_another_process() -> None:
    found = health.ask_torch()
    assert not isinstance(found, str), found
    assert {"version", "triton", "cuda", "gpus"} == {*found}


def test_a_torch_that_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "ASK_TORCH", "raise ImportError('libcudart is missing')")
    (found,) = health.gpu_checks()
    assert found.state is HealthState.WRONG
    assert found.found == "torch cannot be used: ImportError: libcudart is missing"


def test_each_extra_says_what_it_is_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {*project["optional-dependencies"]}
    assert extras == {*health.USES, *health.FOR_DEVELOPERS}
    absent = package_check(Requirement("no-such-package-here", "1.0", "plots"))
    assert absent.found == "it is not installed; dtpoly report draws figures with it"
