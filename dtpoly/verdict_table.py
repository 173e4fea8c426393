"""Lays out what is known of each function: rows of a table, or data for JSON."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from dtpoly.diagnostics import Diagnostic
from dtpoly.render.as_json import Data, document
from dtpoly.verify.proof.report import Layer, LayerVerdict, Report

# Stands behind the verdict of a layer that claims less than its name says.
LESS = "*"


def head(report: Report) -> tuple[str, ...]:
    """Return the names of the layers."""
    layers = report.functions[0].layers if report.functions else ()
    return ("function", *(layer.name for layer in layers), "seconds")


def rows(report: Report) -> list[tuple[str, ...]]:
    """Return a row for each function."""
    return [
        (
            function.name or "the file",
            *(f"{layer.verdict.upper()}{LESS if layer.claim else ''}" for layer in function.layers),
            f"{function.seconds:.2f}",
        )
        for function in report.functions
    ]


def tests(report: Report) -> Iterator[str]:
    """Yield a line for each function that was tried in the ring, with the result."""
    for function in report.functions:
        for layer in function.layers:
            if layer.name == "ring":
                yield f"{function.name}, ring: {layer.why}"


def claims(report: Report) -> Iterator[str]:
    """Yield a line for each layer that is proved and claims less than its name says."""
    for function in report.functions:
        for layer in function.layers:
            if layer.claim and layer.verdict is LayerVerdict.PROVED:
                yield f"{function.name}, {layer.name}{LESS}: {layer.claim}"


def assumptions(report: Report) -> Iterator[str]:
    """Yield the conditions that callers must keep, as far as the file itself states them.

    One that several functions have is told once, with all their names.
    """
    functions: dict[str, list[str]] = {}
    for function in report.functions:
        for one in function.assumed:
            functions.setdefault(one, []).append(function.name)
    for one, names in functions.items():
        yield f"{', '.join(dict.fromkeys(names))}, assumed: {one}"


def noted(report: Report) -> Iterator[str]:
    """Yield what a reader of a verdict must know: claims that are less, and assumptions."""
    yield from claims(report)
    yield from assumptions(report)


def verdict_data(report: Report, told: Sequence[Diagnostic]) -> Data:
    """Return the verdict as data for JSON."""
    return {
        "verdict": str(report.verdict),
        "functions": [
            {
                "name": function.name,
                "verdict": str(function.verdict),
                "seconds": round(function.seconds, 3),
                "assumed": list(function.assumed),
                "layers": [_layer(layer) for layer in function.layers],
            }
            for function in report.functions
        ],
        "diagnostics": document(told)["diagnostics"],
    }


def _layer(layer: Layer) -> Data:
    """Return a layer as data. A proved layer has no line, no reason and no witness."""
    is_good = layer.verdict is LayerVerdict.PROVED
    return {
        "name": layer.name,
        "verdict": str(layer.verdict),
        "line": layer.line or None,
        "why": None if is_good else layer.why,
        **({"claim": layer.claim} if layer.claim else {}),
        "witness": None if layer.witness is None else asdict(layer.witness),
    }
