"""Whole `dtpoly` processes, as a user starts them."""

import json
import os
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any, AnyStr

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "dtpoly")
WISHES = ("NO_COLOR", "FORCE_COLOR", "PYTHONDONTWRITEBYTECODE")
BYTECODE = str(Path(gettempdir()) / f"dtpoly-tests-{os.getuid()}" / "bytecode")

SOFTMAX = """\
Func softmax, e, s, m;
In X;
Var x;
RVar y;

m[x] = rmax(X[x, y], y);
e[x, y] = exp(X[x, y] - reshape(m[x], x, 1));
s[x] = rsum(e[x, y], y);
softmax[x, y] = e[x, y] / reshape(s[x], x, 1);

softmax.compile();
"""
WRONG = "Func f;\nIn A;\nVar x;\nf[x] = A[x] + q;\nf.compile();\n"


def python_path(*first: str | Path) -> str:
    """Return where a new process looks for modules: there first, then where this process does.

    Packages need not be installed where Python itself looks for them.
    """
    told = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(dict.fromkeys([*map(str, first), *filter(None, told)]))


def environment(**more: str) -> dict[str, str]:
    """The environment of a process: this package, and no wishes about colour but those named.

    As after an installation, what Python has compiled is kept; but not beside the sources.
    """
    known = {key: value for key, value in os.environ.items() if key not in WISHES}
    path = python_path(more.get("PYTHONPATH", ROOT))
    ours = {"PYTHONPYCACHEPREFIX": BYTECODE, "TERM": "xterm"}
    return {**known, **ours, **more, "PYTHONPATH": path}


def told_by(module: str, *words: str) -> list[Any]:
    """The lines of JSON that a module prints, in a process in which Triton does not interpret."""
    done = subprocess.run(
        [sys.executable, "-m", module, *words],
        cwd=ROOT,
        env=environment(TRITON_INTERPRET="0"),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@contextmanager
def ended(process: "subprocess.Popen[AnyStr]") -> Generator["subprocess.Popen[AnyStr]"]:
    """Give a process to a test, and end it with the test, also if that fails or is cut off.

    A process that is left running is found when its object is deleted, which is during another
    test, and that one then fails.
    """
    with process:
        try:
            yield process
        finally:
            process.kill()


def dtpoly(
    *arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Run a process to its end."""
    return subprocess.run(
        [*COMMAND, *arguments],
        input=stdin,
        capture_output=True,
        check=False,
        timeout=60,
        env=environment(**(env or {})),
    )
