"""Proves of a text that its rows have the same bits in each batch, and keeps the proof on disk.

Whoever chooses among schedules asks here: the autoscheduler, an exploration, and the commands. See
docs/same-bits.md for what is proved.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.budget import stage
from dtpoly.codegen.header import with_verdict
from dtpoly.runtime.cache import PROOFS, remembered
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import InvariantRow
from dtpoly.verification import SECONDS, engine, verified
from dtpoly.verify.proof.report import LayerVerdict, Report

# A proof about bits compares each sum of two calls, which takes longer than reading a kernel once.
TIMES = 12
PROVED = "proved"

Rows = tuple[tuple[str, str], ...]  # Funcs, each with the label that numbers its rows


def rows_asked(program: Program, primitives: Primitives) -> Rows:
    """Return the rows of which the directives ask that their bits do not depend on the batch."""
    bound = bind(program.directives, primitives).primitives
    facts = (fact for one in bound for fact in one.facts())
    return tuple((fact.func, fact.label) for fact in facts if isinstance(fact, InvariantRow))


def why_not_proved(
    program: Program, text: str, rows: Rows, seconds: float = SECONDS, results: Sequence[str] = ()
) -> str:
    """Return why rows are not proved to have the same bits in each batch; "" if all of them are.

    The kernels are proved first, since nothing is said of the bits of kernels that may be wrong.
    """
    wanted = tuple(dict.fromkeys((*results, *(func for func, _ in rows))))
    report = verified(program, text, wanted, seconds)
    for func, label in rows:
        why = doubt(report, func) or _why_of_row(program, text, func, label, seconds)
        if why:
            return f"{func}, rows along {label}: {why}"
    return ""


def doubt(report: Report, func: str) -> str:
    """Return why nothing is said of the bits of a function whose kernels are not proved."""
    for one in report.functions:
        if one.name in (func, ""):
            if one.verdict is LayerVerdict.PROVED:
                return ""
            layer = next(a for a in one.layers if a.verdict is not LayerVerdict.PROVED)
            return f"its kernels are not proved: {layer.name}, {layer.why}"
    return "no function of the file computes it"


def _why_of_row(program: Program, text: str, func: str, label: str, seconds: float) -> str:
    """Return why a row is not proved; only what is proved is kept, since time may run out."""
    plain = with_verdict(text)

    def make() -> str:
        # It comes with isl.
        bits_of: Callable[..., Any] = import_module("dtpoly.verify.bits.bit_proofs").bits_of
        found = bits_of(program, plain, func, label, seconds * TIMES)
        return PROVED if found.verdict == PROVED else f"line {found.line}: {found.why}"

    def is_lasting(made: str) -> bool:
        return made == PROVED

    parts = [plain, show(program), "bits", func, label, *engine()]
    with stage("proving that bits do not depend on the batch"):
        made = remembered(parts, make, PROOFS, is_lasting)
    return "" if made == PROVED else made
