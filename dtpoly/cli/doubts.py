"""Adds to a report what running the kernels in the ring shows."""

import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from types import ModuleType

from dtpoly.algorithm.program import Program
from dtpoly.cli.lazy import load_triton
from dtpoly.verify.proof.report import Function, Layer, Report, Verdict


def in_ring(
    program: Program, text: str, found: Report, seconds: float, *, all_of_them: bool
) -> Report | None:
    """Run all functions, or those that are not proved; nothing where that cannot be done."""
    wanted = [one for one in found.functions if all_of_them or one.verdict is Verdict.UNKNOWN]
    if not wanted:
        return found
    # Triton reads it when it is imported, and then no more.
    os.environ["TRITON_INTERPRET"] = "1"
    # Where it interprets, triton can only be imported after torch.
    if load_triton("torch") is None:
        return None
    ringed: ModuleType | None = load_triton("dtpoly.cli.ringed")
    if ringed is None:
        return None
    run: Callable[[Program, str, Function, float], Layer] = ringed.tried

    def tried(one: Function) -> Function:
        if one not in wanted:
            return one
        return replace(one, layers=(*one.layers, run(program, text, one, seconds)))

    return Report(tuple(tried(one) for one in found.functions))


def can_run() -> bool:
    """Whether what runs kernels is installed; it is not imported."""
    return all(find_spec(one) is not None for one in ("torch", "triton"))
