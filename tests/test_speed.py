"""The compiler itself is fast: whole processes, in processor time, as CI is a busy machine."""

import os
import subprocess
from pathlib import Path

import pytest

from benchmarks.pace import is_kept_once
from tests.cli.process import COMMAND, environment


def many_funcs(count: int) -> str:
    """A chain of Funcs, each with a directive."""
    lines = ["In A;", "Var x;", "RVar y;"]
    for at in range(count):
        before = f"f{at - 1}[x, y]" if at else "A[x, y]"
        lines += [
            f"Func f{at};",
            f"f{at}[x, y] = exp({before}) + 2 * A[x, y] / sqrt({before} * {before} + 1);",
            f"f{at}.block(x:16, y:64);",
        ]
    lines.append(f"f{count - 1}.compile();")
    return "\n".join(lines)


def seconds(path: Path) -> float:
    before = os.times()
    subprocess.run([*COMMAND, "check", path], check=True, env=environment())
    after = os.times()
    user = after.children_user - before.children_user
    return user + after.children_system - before.children_system


@pytest.mark.alone
def test_a_file_of_500_funcs(tmp_path: Path) -> None:
    path = tmp_path / "many.dt"
    path.write_text(many_funcs(500))
    assert is_kept_once(4, lambda: seconds(path))
