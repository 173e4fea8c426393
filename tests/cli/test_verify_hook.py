"""The hook for pre-commit, the action for GitHub, and what both of them run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dtpoly.cli.named_kernel import kernel_named_in, line_for
from dtpoly.cli.verify_hook import commands_for, merged
from tests.cli.test_compile_verified import here
from tests.cli.test_without_algorithm import KERNEL

__all__ = ["here"]

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
FRAME = """\
# kernel: ops/k.py::k
# tensors: X[r, n], W[n].f16, out(Y[r, n].f16), inout(Z[r])
# verify: k[(len(r),)](X, W, Y, Z, len(n), BLOCK=next_power_of_2(len(n)))
# assume: len(n) <= 4096
"""
BARE = "\n".join(line for line in KERNEL.splitlines() if not line.startswith("# "))


def hook(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *entry()[1:], *arguments]
    return subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=False)


def entry() -> list[str]:
    """Return what the hook of pre-commit runs."""
    hooks = (ROOT / ".pre-commit-hooks.yaml").read_text()
    (found,) = re.findall(r"^  entry: (.*)$", hooks, re.MULTILINE)
    return str(found).split()


@pytest.fixture
def project(here: Path) -> Path:
    (here / "ops").mkdir()
    (here / "ops" / "k.py").write_text(BARE)
    (here / "k.dt").write_text(FRAME)
    (here / ".git").mkdir()
    return here


def test_a_changed_kernel_is_verified_with_the_file_that_names_it(project: Path) -> None:
    done = hook("ops/k.py", "k.dt", "f.dt", "--sarif", "log.sarif")
    assert (done.returncode, done.stdout) == (0, "")
    log = json.loads((project / "log.sarif").read_text())
    assert log["runs"][0]["results"] == []
    (project / "ops" / "k.py").write_text(BARE.replace("x * w * z, mask=at < n", "x, mask=at < 1"))
    done = hook("ops/k.py", "--sarif", "log.sarif")
    assert done.returncode == 1
    assert "REFUTED" in done.stdout
    results = json.loads((project / "log.sarif").read_text())["runs"][0]["results"]
    assert {one["ruleId"] for one in results} == {"DT312"}
    assert "ops/k.py" in json.dumps(results)


def test_a_module_with_lines_of_its_own_is_verified(project: Path) -> None:
    (project / "ops" / "own.py").write_text(KERNEL)
    commands = list(commands_for(Path("ops/own.py")))
    assert commands == [("--kernel", "ops/own.py::k")]
    assert list(commands_for(Path("ops/k.py"))) == [("k.dt",)]
    assert list(commands_for(Path("missing.py"))) == []


def test_the_path_of_a_kernel_counts_from_its_file(tmp_path: Path) -> None:
    file = tmp_path / "frames" / "k.dt"
    line = line_for(str(tmp_path / "ops" / "k.py") + "::k", file)
    assert line == "# kernel: ../ops/k.py::k"
    assert kernel_named_in(f"{line}\n", file) == f"{tmp_path / 'ops' / 'k.py'}::k"
    assert kernel_named_in("Func f;\n", file) is None


def test_rules_of_several_logs_are_one_list() -> None:
    def log(*codes: str) -> dict[str, Any]:
        rules = [{"id": one} for one in codes]
        results = [{"ruleId": one, "ruleIndex": at} for at, one in enumerate(codes)]
        run = {"tool": {"driver": {"name": "dtpoly", "rules": rules}}, "results": results}
        return {"version": "2.1.0", "runs": [run]}

    (run,) = merged([log("DT312"), log("DT311", "DT312")])["runs"]
    assert [one["id"] for one in run["tool"]["driver"]["rules"]] == ["DT311", "DT312"]
    assert [one["ruleIndex"] for one in run["results"]] == [1, 0, 1]
    assert merged([])["runs"][0]["results"] == []


def test_the_action_runs_the_same_entry(project: Path) -> None:
    """The last step of the action is run as it stands, with the inputs that a workflow gives it."""
    action = (ROOT / "action.yml").read_text()
    (command,) = re.findall(r"^      run: (python -m dtpoly.*)$", action, re.MULTILINE)
    names = re.findall(r"^        (DTPOLY_\w+): \$\{\{ inputs\.(\w+) \}\}$", action, re.MULTILINE)
    assert {given for _, given in names} == {"files", "seconds", "sarif"}
    inputs = re.findall(r"^  ([\w-]+):$", action.partition("outputs:")[0], re.MULTILINE)
    assert {given for _, given in names} <= {*inputs}
    given = {"files": "ops/*.py k.dt", "seconds": "10", "sarif": "log.sarif"}
    variables = {name: given[word] for name, word in names}
    shell = command.replace("python ", f"{sys.executable} ", 1)
    done = subprocess.run(
        ["bash", "-c", shell],
        env={**ENVIRONMENT, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads((project / "log.sarif").read_text())["runs"][0]["results"] == []
