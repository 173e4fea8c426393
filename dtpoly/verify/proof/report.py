"""Hold the result of verifying a file as plain data, which is shown, kept in caches and read again.

A report has one part for each function of the file, and a function has one verdict for each layer.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any

from dtpoly.frozen import dataclass

# The layers of a proof, in the order in which they are shown, with what each of them claims.
LAYERS: Mapping[str, str] = {
    "stores": "each element of the output is stored exactly once",
    "loads": "each load is an access of the algorithm",
    "bounds": "each access is inside of its tensor",
    "lanes": "lanes and iterations outside of the domain change nothing",
    "order": "nothing is read before it is written, and nothing races",
    "value": "what is stored is what the algorithm says",
    "overflow": "whole numbers fit their types",
}
# One comparison of terms decides these three layers. The first difference that it finds belongs to
# one of them.
COMPARED = ("loads", "lanes", "value")


class LayerVerdict(StrEnum):
    """The result for one layer. Tests alone give TESTED or REFUTED, and never PROVED."""

    PROVED = "proved"
    TESTED = "tested"
    UNKNOWN = "unknown"
    REFUTED = "refuted"


@dataclass(frozen=True, slots=True)
class LineRun:
    """One run of a line of a kernel: the program, the iterations of its loops, and the lane."""

    program: tuple[int, ...] = ()
    loops: tuple[tuple[str, int], ...] = ()
    lane: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CallWitness:
    """A call for which something goes wrong, and the place in it where that happens.

    `what` is the access with its indices, such as `stores out[1, 0]`. Where two runs of a line
    meet, `other` is the second one; where something is reduced, `other` is what is reduced.
    """

    sizes: tuple[tuple[str, int], ...]
    at: LineRun
    what: str = ""
    other: LineRun | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """The result for one layer of a function.

    If the layer is not proved, it has the line, the reason and an example.
    """

    name: str
    verdict: LayerVerdict
    line: int = 0
    why: str = ""
    # Sizes, program, lanes and iterations for which it goes wrong, with the sizes as small as
    # can be.
    example: Mapping[str, int] | None = None
    witness: CallWitness | None = None
    # Whether the proof ended for want of time, so that more time might help.
    is_late: bool = False
    # What the user can do about it, if that is known.
    way: str = ""
    # What a proved layer claims, where that is less than what LAYERS says.
    claim: str = ""


@dataclass(frozen=True, slots=True)
class FunctionReport:
    """The result for one function of the file."""

    name: str
    layers: tuple[Layer, ...]
    seconds: float
    # What callers promise, as the file itself says in its `# assume:` lines.
    assumed: tuple[str, ...] = ()

    @property
    def verdict(self) -> LayerVerdict:
        """REFUTED if some layer is, PROVED if all layers are that are not merely tested."""
        return _together(self.layers)


@dataclass(frozen=True, slots=True)
class Report:
    """The result for a whole file."""

    functions: tuple[FunctionReport, ...]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """Return the layers of all functions."""
        return tuple(layer for function in self.functions for layer in function.layers)

    @property
    def verdict(self) -> LayerVerdict:
        """REFUTED if some layer is, PROVED if all are that are not merely tested, and one is."""
        return _together(self.layers)

    @property
    def is_late(self) -> bool:
        """Return whether a proof ended for want of time, so that more time might help."""
        return any(layer.is_late for layer in self.layers)


def _together(layers: tuple[Layer, ...]) -> LayerVerdict:
    found = {layer.verdict for layer in layers}
    if LayerVerdict.REFUTED in found:
        return LayerVerdict.REFUTED
    is_proved = LayerVerdict.PROVED in found and found <= {LayerVerdict.PROVED, LayerVerdict.TESTED}
    return LayerVerdict.PROVED if is_proved else LayerVerdict.UNKNOWN


def as_json(report: Report) -> str:
    """Return the report as text, which `from_json` reads back."""
    return json.dumps(asdict(report)["functions"])


def from_json(text: str) -> Report:
    """Return the report that `as_json` wrote."""
    return Report(tuple(_function(one) for one in json.loads(text)))


def _function(data: dict[str, Any]) -> FunctionReport:
    layers = tuple(map(_layer, data["layers"]))
    return FunctionReport(data["name"], layers, data["seconds"], tuple(data["assumed"]))


def _layer(data: dict[str, Any]) -> Layer:
    witness = data["witness"]
    return Layer(
        data["name"],
        LayerVerdict(data["verdict"]),
        data["line"],
        data["why"],
        data["example"],
        None if witness is None else _witness(witness),
        data["is_late"],
        data["way"],
        claim=data["claim"],
    )


def _witness(data: dict[str, Any]) -> CallWitness:
    other = data["other"]
    return CallWitness(
        tuple((label, size) for label, size in data["sizes"]),
        _instance(data["at"]),
        data["what"],
        None if other is None else _instance(other),
    )


def _instance(data: dict[str, Any]) -> LineRun:
    loops = tuple((loop, value) for loop, value in data["loops"])
    return LineRun(tuple(data["program"]), loops, tuple(data["lane"]))


def compared(found: Layer) -> dict[str, Layer]:
    """Return the layers that the comparison of terms decides, from what it found."""
    if found.verdict is LayerVerdict.PROVED:
        return {one: replace(found, name=one) for one in COMPARED}
    why = f"not looked at: see '{found.name}'"
    others = {one: Layer(one, LayerVerdict.UNKNOWN, found.line, why) for one in COMPARED}
    return {**others, found.name: found}
