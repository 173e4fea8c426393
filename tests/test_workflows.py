"""The workflows of GitHub are right as files, and their steps that can run here are run.

A step is run as the workflow writes it, in bash, in a copy of the files of the project. Steps that
install packages, publish, or are the whole test command are only looked at.
"""

import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests.cli.process import ROOT, environment

FOLDER = ROOT / ".github" / "workflows"
WORKFLOWS = ("ci", "release")
# Programs whose steps change the machine, the network, or take as long as the whole suite.
ELSEWHERE = ("pip install", "tasks.py", "gh release", "python -m build", "twine")
PINNED = re.compile(r"^[\w.-]+/[\w./-]+@[\w./-]+$")

pytestmark = pytest.mark.skipif(
    not (ROOT / ".git").exists() or shutil.which("bash") is None, reason="needs git and bash"
)


def workflow(name: str) -> dict[Any, Any]:
    """Return a workflow as data."""
    yaml: Any = import_module("yaml")
    found: dict[Any, Any] = yaml.safe_load((FOLDER / f"{name}.yml").read_text(encoding="utf-8"))
    return found


def jobs(name: str) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = workflow(name)["jobs"]
    return found


def commands(name: str) -> Iterator[tuple[str, str, str]]:
    """Yield the job, the name and the text of each step that runs a shell."""
    for job, one in jobs(name).items():
        for step in one["steps"]:
            if "run" in step:
                yield job, step["name"], step["run"]


def runs_here(text: str) -> bool:
    return not any(word in text for word in ELSEWHERE) and "release/dist" not in text


HERE = [one for one in commands("ci") if runs_here(one[2])] if FOLDER.exists() else []


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_workflow_is_whole(name: str) -> None:
    found = workflow(name)
    assert found["permissions"] == {"contents": "read"}  # what a job needs besides, it says
    known = jobs(name)
    for job in known.values():
        assert job["timeout-minutes"] <= 90
        assert {*_several(job.get("needs"))} <= known.keys()
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            if "uses" in step:
                assert PINNED.match(step["uses"])


def _several(needs: Any) -> list[str]:
    return [needs] if isinstance(needs, str) else list(needs or ())


def test_the_light_core_is_tried_on_three_systems() -> None:
    matrix = jobs("ci")["light-core"]["strategy"]["matrix"]
    assert [word.partition("-")[0] for word in matrix["os"]] == ["ubuntu", "macos", "windows"]
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"Python :: {version}" in project for version in matrix["python"])
    assert [word.partition("-")[0] for word in jobs("release")["try"]["strategy"]["matrix"]["os"]]


def test_the_steps_that_run_here_are_most() -> None:
    light = [text for job, _, text in commands("ci") if job == "light-core"]
    assert len(HERE) == len(light) - 1  # all but the installation


def test_only_publishing_may_write() -> None:
    found = jobs("release")
    assert "permissions" not in found["build"]
    assert found["publish"]["permissions"] == {"contents": "write", "id-token": "write"}
    assert found["publish"]["environment"]["name"] == "pypi"
    text = (FOLDER / "release.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "password" not in text.replace("no password is kept", "")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkout, and programs `python` and `dtpoly` as after an installation."""
    folder = tmp_path_factory.mktemp("workflow")
    for part in ("examples", ".github"):
        shutil.copytree(ROOT / part, folder / "checkout" / part)
    for name in ("pyproject.toml", "CHANGELOG.md"):
        shutil.copy(ROOT / name, folder / "checkout" / name)
    (folder / "checkout" / "dtpoly").mkdir()
    shutil.copy(ROOT / "dtpoly" / "__init__.py", folder / "checkout" / "dtpoly")
    programs = folder / "bin"
    programs.mkdir()
    for name, words in (("python", ()), ("dtpoly", ("-P", "-m", "dtpoly"))):
        program = programs / name
        line = shlex.join([sys.executable, *words])
        program.write_text(f'#!/bin/sh\nexec {line} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    return folder / "checkout"


def in_bash(text: str, checkout: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a step as GitHub does."""
    path = f"{checkout.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        cwd=checkout,
        env=environment(PATH=path, **more),
        capture_output=True,
        check=False,
        encoding="utf-8",
    )


@pytest.mark.long
@pytest.mark.parametrize("step", HERE, ids=lambda step: step[1])
def test_a_step_of_ci(step: tuple[str, str, str], checkout: Path) -> None:
    job, _, text = step
    known = {**os.environ, **jobs("ci")[job].get("env", {})}
    kept = str(checkout / known["DTPOLY_CACHE_DIR"])
    done = in_bash(text, checkout, DTPOLY_CACHE_DIR=kept)
    assert done.returncode == 0, done.stdout + done.stderr


def test_checksums(checkout: Path) -> None:
    (checkout / "dist").mkdir()
    (checkout / "dist" / "a.whl").write_bytes(b"wheel")
    text = next(text for _, name, text in commands("release") if name == "Write checksums")
    done = in_bash(text, checkout)
    assert done.returncode == 0, done.stderr
    said = (checkout / "SHA256SUMS").read_text(encoding="utf-8")
    assert said == f"{hashlib.sha256(b'wheel').hexdigest()}  dist/a.whl\n"


def test_notes_are_a_part_of_the_changelog(checkout: Path) -> None:
    name = "Compare the tag with the version"
    text = next(text for _, step, text in commands("release") if step == name)
    project = (checkout / "pyproject.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', project, re.MULTILINE)
    assert version is not None
    changes = checkout / "CHANGELOG.md"
    said = f"# Changelog\n\n## Unreleased\n\n- a\n\n## {version[1]}\n\n- b\n\n## 0.0.1\n\n- c\n"
    changes.write_text(said, encoding="utf-8")
    done = in_bash(text, checkout, GITHUB_REF_NAME=f"v{version[1]}")
    assert done.returncode == 0, done.stderr
    assert (checkout / "release-notes.md").read_text(encoding="utf-8") == "- b\n"
    other = in_bash(text, checkout, GITHUB_REF_NAME="v99.0")
    assert (other.returncode, other.stdout) == (1, "")
    assert f"the tag is v99.0, but pyproject.toml has version {version[1]}" in other.stderr
    changes.write_text("# Changelog\n\n## Unreleased\n\n- a\n", encoding="utf-8")
    unknown = in_bash(text, checkout, GITHUB_REF_NAME=f"v{version[1]}")
    assert unknown.returncode == 1
    assert "rename 'Unreleased' to it" in unknown.stderr
