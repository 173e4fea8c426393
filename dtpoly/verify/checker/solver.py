"""Ask z3 whether a script of SMT-LIB can be satisfied."""

from __future__ import annotations

from importlib import import_module
from typing import Any

try:
    _z3: Any = import_module("z3")
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(
        "checking a certificate needs z3: pip install 'dtpoly[proofs]'", name="z3"
    ) from error

MOST_SHOWN = 12


def solve(script: str, seconds: float) -> tuple[str, str]:
    """Return `unsat`, `sat` or `unknown`, with the point or with the reason why it is not known."""
    solver = _z3.Solver()
    solver.set("timeout", int(seconds * 1000))
    try:
        solver.from_string(script)
        answer = str(solver.check())
    except _z3.Z3Exception as error:
        return "unknown", str(error)
    match answer:
        case "sat":
            return answer, _point(solver.model())
        case "unsat":
            return answer, ""
        case _:
            return "unknown", str(solver.reason_unknown())


def _point(model: Any) -> str:
    """Show the unknowns that stand for names of the proof, with their values at the point found."""
    unknowns = {str(one.name()): one for one in model.decls()}
    named = [one for one in sorted(unknowns) if one.startswith("$") and "!" not in one]
    return ", ".join(
        f"{one.removeprefix('$')} = {model[unknowns[one]]}" for one in named[:MOST_SHOWN]
    )
