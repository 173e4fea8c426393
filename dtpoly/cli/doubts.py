"""Adds the result of running the kernels in the ring to a report."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from types import ModuleType

from dtpoly.algorithm.program import Program
from dtpoly.cli.lazy import load_triton
from dtpoly.verify.proof.report import FunctionReport, Layer, LayerVerdict, Report


def in_ring(
    program: Program, text: str, found: Report, seconds: float, *, all_of_them: bool
) -> Report | None:
    """Run all functions, or only the unproved ones; return None if they cannot be run here."""
    wanted = [one for one in found.functions if all_of_them or one.verdict is LayerVerdict.UNKNOWN]
    if not wanted:
        return found
    # Triton reads this variable only once, when it is imported.
    os.environ["TRITON_INTERPRET"] = "1"
    # If Triton interprets, it can be imported only after torch.
    if load_triton("torch") is None:
        return None
    ringed: ModuleType | None = load_triton("dtpoly.cli.ringed")
    if ringed is None:
        return None
    run: Callable[[Program, str, FunctionReport, float], Layer] = ringed.tried

    def tried(one: FunctionReport) -> FunctionReport:
        if one not in wanted:
            return one
        return replace(one, layers=(*one.layers, run(program, text, one, seconds)))

    return Report(tuple(tried(one) for one in found.functions))


def can_run() -> bool:
    """True if the packages that run kernels are installed; they are not imported."""
    return all(find_spec(one) is not None for one in ("torch", "triton"))
