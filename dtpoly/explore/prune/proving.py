"""Proves that kernels compute what their .dt text says, with the same bits where it asks so."""

from dtpoly.checking import understand
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.store.results import Proven, TextProof
from dtpoly.frontend.parse import parse
from dtpoly.row_proofs import rows_asked, why_not_proved
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from dtpoly.verification import verified
from dtpoly.verify.proof.report import Layer, LayerVerdict, Report

ROWS = "rows with the same bits"  # what is not proved, as a layer is
VERDICTS = {LayerVerdict.PROVED: Proven.PROVED, LayerVerdict.REFUTED: Proven.REFUTED}


def proof_of(
    name: str, text: str, kernels: str, function: str, primitives: Primitives = DIRECTIVES
) -> TextProof:
    """Prove, for all sizes, the function that is measured and all functions that it calls.

    If the space asks for rows with the same bits in each batch, that is proved of each point, too.
    """
    parsed = parse(Source(name, text))
    program = understand(parsed.file, parsed.found, primitives).program
    assert program is not None, "its text was emitted"
    found = summed_up(verified(program, kernels, (function,)))
    rows = rows_asked(program, primitives)
    if found.verdict is not Proven.PROVED or not rows:
        return found
    why = why_not_proved(program, kernels, rows, results=(function,))
    return TextProof(Proven.UNKNOWN, ROWS, why) if why else found


def summed_up(report: Report) -> TextProof:
    """Return the verdict; if not everything is proved, also the first layer that decides it."""
    verdict = VERDICTS.get(report.verdict, Proven.UNKNOWN)
    if verdict is Proven.PROVED:
        return TextProof(verdict)
    bad = LayerVerdict.REFUTED if verdict is Proven.REFUTED else LayerVerdict.UNKNOWN
    first = next((layer for layer in report.layers if layer.verdict is bad), None)
    return TextProof(verdict, *_told(first)) if first is not None else TextProof(verdict)


def _told(layer: Layer) -> tuple[str, str]:
    where = f" (line {layer.line} of the kernels)" if layer.line else ""
    example = layer.example or {}
    sizes = ", ".join(f"{name} = {value}" for name, value in example.items())
    return layer.name, f"{layer.why}{where}" + (f", for {sizes}" if sizes else "")
