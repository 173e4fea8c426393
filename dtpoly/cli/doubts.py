"""Adds the result of running the kernels in the ring to a report."""

import os
from collections.abc import Callable, Collection
from dataclasses import replace
from types import ModuleType

from dtpoly.algorithm.program import Program
from dtpoly.cli.lazy import load_with_torch
from dtpoly.missing_package import RING_PACKAGES, first_missing, way_out
from dtpoly.verify.proof.report import FunctionReport, Layer, LayerVerdict, Report

NAME = "ring"
RING_BY = "--ring runs the kernels in Triton's interpreter, on tensors of torch"


def tried_or_told(program: Program, text: str, found: Report, seconds: float) -> Report:
    """Run the functions that are not proved, or add to their verdict why they are not run."""
    wanted = [one for one in found.functions if one.verdict is LayerVerdict.UNKNOWN]
    package = first_missing(RING_PACKAGES)
    if package is None:
        return in_ring(program, text, found, seconds, all_of_them=False)
    why = f"it was not run, because {package} is not installed: {way_out(package)}"
    layer = Layer(NAME, LayerVerdict.UNKNOWN, 0, why)
    return _with_layers(found, wanted, lambda one: layer)


def in_ring(
    program: Program, text: str, found: Report, seconds: float, *, all_of_them: bool
) -> Report:
    """Run all functions, or only the unproved ones. Raises DtpolyError without torch or triton."""
    wanted = [one for one in found.functions if all_of_them or one.verdict is LayerVerdict.UNKNOWN]
    if not wanted:
        return found
    # Triton reads this variable only once, when it is imported.
    os.environ["TRITON_INTERPRET"] = "1"
    # If Triton interprets, it can be imported only after torch.
    load_with_torch("torch", RING_BY)
    ringed: ModuleType = load_with_torch("dtpoly.cli.ringed", RING_BY)
    run: Callable[[Program, str, FunctionReport, float], Layer] = ringed.tried
    return _with_layers(found, wanted, lambda one: run(program, text, one, seconds))


def _with_layers(
    found: Report,
    wanted: Collection[FunctionReport],
    layer_of: Callable[[FunctionReport], Layer],
) -> Report:
    """Return the report with one more layer for each of the wanted functions."""
    return Report(
        tuple(
            replace(one, layers=(*one.layers, layer_of(one))) if one in wanted else one
            for one in found.functions
        )
    )
