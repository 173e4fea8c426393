"""Proves that kernels compute what their .dt text says."""

from dtpoly.compile import understand
from dtpoly.explore.store.results import Proof, Proven
from dtpoly.frontend.parse import parse
from dtpoly.source import Source
from dtpoly.verification import verified
from dtpoly.verify.proof.report import Layer, Report, Verdict

VERDICTS = {Verdict.PROVED: Proven.PROVED, Verdict.REFUTED: Proven.REFUTED}


def proof_of(name: str, text: str, kernels: str, function: str) -> Proof:
    """Prove, for all sizes, the function that is measured and all functions that it calls."""
    parsed = parse(Source(name, text))
    program = understand(parsed.file, parsed.found).program
    assert program is not None, "its text was emitted"
    return summed_up(verified(program, kernels, (function,)))


def summed_up(report: Report) -> Proof:
    """Return the verdict; if not everything is proved, also the first layer that decides it."""
    verdict = VERDICTS.get(report.verdict, Proven.UNKNOWN)
    if verdict is Proven.PROVED:
        return Proof(verdict)
    bad = Verdict.REFUTED if verdict is Proven.REFUTED else Verdict.UNKNOWN
    first = next((layer for layer in report.layers if layer.verdict is bad), None)
    return Proof(verdict, *_told(first)) if first is not None else Proof(verdict)


def _told(layer: Layer) -> tuple[str, str]:
    where = f" (line {layer.line} of the kernels)" if layer.line else ""
    example = layer.example or {}
    sizes = ", ".join(f"{name} = {value}" for name, value in example.items())
    return layer.name, f"{layer.why}{where}" + (f", for {sizes}" if sizes else "")
