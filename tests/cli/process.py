"""Whole `dtpoly` processes, as a user starts them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
COMMAND = (sys.executable, "-m", "dtpoly")

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


def environment(**more: str) -> dict[str, str]:
    """The environment of a process: this package, and no wishes about colour but those named."""
    known = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    return {**known, "PYTHONPATH": str(ROOT), "TERM": "xterm", **more}


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
