"""Proves the text of kernels against its Program, and keeps the proof on disk.

What is verified and what is written differ in comments of the header alone: `with_verdict` changes
nothing else, and a proof is of the text without them.
"""

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.budget import stage
from dtpoly.codegen.header import with_verdict
from dtpoly.frozen import dataclass
from dtpoly.runtime.cache import PROOFS, remembered
from dtpoly.suggest import near
from dtpoly.verify.proof.report import (
    LAYERS,
    FunctionReport,
    Layer,
    LayerVerdict,
    Report,
    as_json,
    from_json,
)
from dtpoly.verify.triton.said import is_by_hand

EVERY = tuple(LAYERS)
SECONDS = 10.0  # for each function, unless the user gives more
# The name of a function that is made of a plan, or of one of Python; not of a kernel, nor of the
# runtime.
FUNCTION = re.compile(
    r"^(?:(?<!@triton\.jit\n)def (?!dt_)|(?=\w+ = dt_function\())(\w+)", re.MULTILINE
)


def verified(
    program: Program,
    text: str,
    wanted: Iterable[str] = (),
    seconds: float = SECONDS,
    only: Sequence[str] = EVERY,
    *,
    decides: bool = False,
) -> Report:
    """Prove a text; the report has the lines of the text and lacks nothing that is wanted.

    Of a text by hand, `only` these layers are proved. If the proof only `decides`, nothing is said
    of a text that is not proved but that, and no example is looked for.

    It is remembered by the text, the Program, and everything that the verifier is made of. A proof
    that ran out of time is not kept, so that it is tried again.
    """
    plain = with_verdict(text)

    def make() -> str:
        # It comes with isl.
        verify: Callable[..., Report] = import_module("dtpoly.verify.proof.verify").verify
        some: dict[str, object] = {} if only == EVERY else {"only": only}
        if decides:
            some["run_of"] = import_module("dtpoly.verify.proof.verify").deciding
        return as_json(verify(program, plain, seconds, **some))

    def is_lasting(made: str) -> bool:
        report = from_json(made)
        return report.verdict is LayerVerdict.PROVED if decides else not report.is_late

    parts = [plain, show(program), " ".join(only), *engine()]
    with stage("looking for a known proof"):
        report = from_json(remembered(parts, make, PROOFS, is_lasting))
    report = _shifted(report, text.count("\n") - plain.count("\n"))
    known = {function.name for function in report.functions}
    missing = [_missing(name, text, report, only) for name in wanted if name not in known]
    # What is said of the whole text has no function.
    return report if "" in known else Report((*report.functions, *missing))


def engine() -> Iterator[str]:
    """Yield the versions of what proves besides this package: Python and isl."""
    yield sys.version
    found = find_spec("islpy")
    if found is not None and found.origin is not None:
        for file in sorted(Path(found.origin).parent.glob("_isl*")):
            status = os.stat(file)
            yield f"{file} {status.st_size} {status.st_mtime_ns}"


def _missing(name: str, text: str, report: Report, only: Sequence[str]) -> FunctionReport:
    """Report a Func that the text does not compute: each layer is UNKNOWN, with a way out."""
    if is_by_hand(text):
        why, there = f"no kernel is given '{name}' to compute", list[str]()
    else:
        why, there = f"there is no function '{name}'", FUNCTION.findall(text)
    others = [one.name for one in report.functions]
    meant = near(name, [one for one in there if one not in others])
    way = f"did you mean '{meant}'? A function computes the Func that has its name" if meant else ""
    if not way and others:
        listed = ", ".join(f"'{one}'" for one in others)
        way = f"this file computes {listed} alone: --func {others[0]} asks about one Func"
    layers = (Layer(one, LayerVerdict.UNKNOWN, 1, why, way=way) for one in only)
    return FunctionReport(name, tuple(layers), 0.0)


def _shifted(report: Report, lines: int) -> Report:
    """Return the header of a text is longer than the one that was verified."""
    return Report(
        tuple(
            replace(
                function,
                layers=tuple(
                    replace(layer, line=layer.line + lines) if layer.line > 1 else layer
                    for layer in function.layers
                ),
            )
            for function in report.functions
        )
    )


@dataclass(frozen=True, slots=True)
class Proved:
    """A text with the verdict of each layer in its header, and what is proved of it."""

    text: str
    report: Report


def proved(
    program: Program, text: str, wanted: Iterable[str] = (), seconds: float = SECONDS
) -> Proved:
    """Return the text as it is to be written; lines of the report are those of this text."""
    report = verified(program, text, wanted, seconds)
    stamped = with_verdict(text, verdict_lines(report))
    return Proved(stamped, _shifted(report, stamped.count("\n") - text.count("\n")))


def verdict_lines(report: Report) -> list[str]:
    """Return a line for all functions; where they differ, one for each."""
    said = {function.name: _said(function) for function in report.functions}
    if len(set(said.values())) == 1:
        return [f"Verdict: {next(iter(said.values()))}."]
    return [f"Verdict of {name}: {words}." for name, words in said.items()]


def _said(function: FunctionReport) -> str:
    """`PROVED stores, loads; UNKNOWN value`; and what that is said under, if anything."""
    parts = (
        (verdict.upper(), [layer.name for layer in function.layers if layer.verdict is verdict])
        for verdict in LayerVerdict
    )
    said = [f"{word} {', '.join(names)}" for word, names in parts if names]
    return "; ".join((*said, *(f"assumed: {one}" for one in function.assumed)))
