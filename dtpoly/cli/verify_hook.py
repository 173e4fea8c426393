"""Verifies the kernels that changed files are about, for pre-commit and for CI.

`python -m dtpoly.cli.verify_hook FILES... [--sarif LOG]` takes files of a change. A .dt file with a
line `# kernel: FILE::NAME` is verified. A module is verified for each kernel of which its comments
say how it is launched, and with each .dt file of the project that names one of its kernels. Other
files are passed over. All findings go into one SARIF log.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from dtpoly.cli.named_kernel import kernel_named_in
from dtpoly.cli.output import write
from dtpoly.cli.saving import save
from dtpoly.cli.taken_kernel import SEPARATOR
from dtpoly.system.processes import SPOKEN

LAUNCH = re.compile(r"^\s*#\s*verify\s*:\s*(\w+)\[", re.MULTILINE)
TENSORS = re.compile(r"^\s*#\s*tensors\s*:", re.MULTILINE)
FRAMES = "*.dt"
HIDDEN = "."  # begins the names of folders that belong to tools

Command = tuple[str, ...]


@click.command(
    epilog="""\b
Examples:
  python -m dtpoly.cli.verify_hook ops/softmax.dt ops/softmax.py
  python -m dtpoly.cli.verify_hook ops/*.py --sarif findings.sarif"""
)
@click.argument("files", nargs=-1)
@click.option("--sarif", metavar="LOG", help="Write all findings to this file, as a SARIF log.")
@click.option(
    "--seconds", default=10.0, show_default=True, help="Give up a function after this time."
)
def main(files: tuple[str, ...], sarif: str | None, seconds: float) -> None:
    """Verify the kernels that FILES are about.

    Exit codes: 0 all is proved, or FILES are about no kernel; 1 something is not.
    """
    commands = list(dict.fromkeys(one for file in files for one in commands_for(Path(file))))
    worst = 0
    logs: list[dict[str, Any]] = []
    for command in commands:
        run = ["verify", *command, "--seconds", str(seconds)]
        if sarif is not None:
            logs.append(_log([*run, "--sarif"]))
        # A hook shows what is wrong, and nothing of what is right.
        done = _run(run)
        if done.returncode:
            worst = max(worst, 1)
            write(f"dtpoly verify {' '.join(command)}\n{done.stdout}{done.stderr}")
    if sarif is not None and not save(
        Path(sarif), (json.dumps(merged(logs), indent=2) + "\n").encode()
    ):
        worst = 1
    raise SystemExit(worst)


def commands_for(file: Path) -> Iterator[Command]:
    """Yield the arguments of each `dtpoly verify` that a file is about."""
    try:
        text = file.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return
    if file.suffix == ".dt":
        if kernel_named_in(text, file) is not None:
            yield (_shown(file),)
    elif file.suffix == ".py":
        if TENSORS.search(text):
            for name in dict.fromkeys(LAUNCH.findall(text)):
                if _has_function(text, name):
                    yield ("--kernel", f"{file}{SEPARATOR}{name}")
        for frame in _frames(file):
            yield (_shown(frame),)


def merged(logs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return one log with one run, which is what services take, of several."""
    if not logs:
        driver = {"name": "dtpoly", "rules": list[Any]()}
        run = {"tool": {"driver": driver}, "results": list[Any]()}
        return {"version": "2.1.0", "runs": [run]}
    rules: dict[str, Any] = {}
    for log in logs:
        for rule in log["runs"][0]["tool"]["driver"]["rules"]:
            rules[rule["id"]] = rule
    order = sorted(rules)
    results = [
        {**result, "ruleIndex": order.index(result["ruleId"])}
        for log in logs
        for result in log["runs"][0]["results"]
    ]
    first = logs[0]["runs"][0]
    driver = {**first["tool"]["driver"], "rules": [rules[one] for one in order]}
    run = {**first, "tool": {"driver": driver}, "results": results}
    # What each proof assumes.
    if invocations := [one for log in logs for one in log["runs"][0].get("invocations", ())]:
        run["invocations"] = invocations
    return {**logs[0], "runs": [run]}


def _frames(module: Path) -> Iterator[Path]:
    """Yield the .dt files of the project that name a kernel of a module."""
    root = _root(module)
    for path in sorted(root.rglob(FRAMES)):
        if any(part.startswith(HIDDEN) for part in path.relative_to(root).parts):
            continue
        try:
            kernel = kernel_named_in(path.read_text("utf-8"), path)
        except (OSError, UnicodeDecodeError):
            continue
        named = None if kernel is None else Path(kernel.partition(SEPARATOR)[0])
        if named is not None and named.resolve() == module.resolve():
            yield path


def _shown(path: Path) -> str:
    """Return one path for each file: from here, if it is here, so that none is verified twice."""
    whole, here = path.resolve(), Path.cwd().resolve()
    return str(whole.relative_to(here) if whole.is_relative_to(here) else whole)


def _root(module: Path) -> Path:
    """Return the folder of the project: one with a repository, or else that of the module."""
    for folder in module.resolve().parents:
        if (folder / ".git").exists():
            return folder
    return module.resolve().parent


def _has_function(text: str, name: str) -> bool:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return any(isinstance(one, ast.FunctionDef) and one.name == name for one in ast.walk(tree))


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "dtpoly", *command]
    return subprocess.run(
        whole,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        env={**os.environ, **SPOKEN},
    )


def _log(command: Sequence[str]) -> dict[str, Any]:
    done = _run(command)
    try:
        found: dict[str, Any] = json.loads(done.stdout)
    except ValueError:
        write(done.stderr)
        return merged(())
    return found


if __name__ == "__main__":
    main()
