"""Calls that produce the diagnostics about the bits of rows in batches."""

from collections.abc import Callable
from dataclasses import asdict

from dtpoly.bits_messages import of_rows
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.ring.row_trials import row_that_differs
from dtpoly.source import Source
from dtpoly.verify.bits.bit_proofs import bits_of

ATOMIC = """\
Func s;
In A: f32;
Var x;
RVar y;

s[x] = rsum(A[x, y], y);

s.block(x:1, y:16);
s.atomic(y);
s.compile();
"""


def asked(text: str, *, runs: bool) -> None:
    """Raise the message about rows along x of s."""
    checked = check(Source("s.dt", text))
    assert checked.verdict is not None
    assert checked.program is not None
    kernels, program = code_of(checked.verdict.scheduled).text, checked.program
    found = bits_of(program, kernels, "s", "x")
    data = {"function": "s", "verdict": "unknown", "line": found.line, "why": found.why}
    if runs:
        trial = row_that_differs(program, kernels, "s", "x", (), 20.0)
        assert trial is not None
        data |= {"verdict": "refuted", "example": asdict(trial)}
    told = of_rows(data, "x", Source("s.py", kernels))
    assert told is not None
    raise DtpolyError([told])


def refuted() -> None:
    asked(ATOMIC, runs=True)


def not_proved() -> None:
    ragged = ATOMIC.replace("RVar y;", "RVar y in [0, L[x]);").replace("f32;", "f32, L: i64;")
    asked(ragged.replace("s.atomic(y);\n", "").replace(", y:16", ""), runs=False)


CALLS: dict[str, Callable[[], object]] = {"DT325": refuted, "DT326": not_proved}
