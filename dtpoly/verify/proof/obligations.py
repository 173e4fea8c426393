"""Collect what a proof rests on: the part of a certificate that its checker produces again.

For each function this is: the verdict of each layer, every set that must be empty or must have a
point, the instances of lemmas that were used, and the licences that were taken. The writer of a
certificate and its checker both call this module, so that they list the same things.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator

from dtpoly import __version__
from dtpoly.algorithm.program import Program
from dtpoly.frozen import dataclass
from dtpoly.verify.algebra.notation import whole_text
from dtpoly.verify.algebra.proof_run import Part, ProofRun
from dtpoly.verify.algebra.regions import Join, Meet, Minus, Region, Without
from dtpoly.verify.algebra.set_table import SetTable, parts_of
from dtpoly.verify.algebra.whole import Whole
from dtpoly.verify.proof.verify import FunctionReport, verify

FORMAT = "dtpoly certificate"
VERSION = 2


@dataclass(frozen=True)
class Attempt:
    """The proof of one function: its verdicts, what the run recorded, and its sets by number."""

    function: FunctionReport
    run: ProofRun
    table: SetTable


def attempts(
    program: Program,
    kernel: str,
    seconds: float,
    answers: Callable[[str], Callable[[Region], bool]],
) -> list[Attempt]:
    """Prove all functions of a file.

    `answers` gives, for the name of a function, the engine that says which sets are empty.
    """
    runs: dict[str, ProofRun] = {}

    def begin(func: str) -> ProofRun:
        runs[func] = ProofRun(answers(func))
        return runs[func]

    report = verify(program, kernel, seconds, begin)
    found: list[Attempt] = []
    for function in report.functions:
        run = runs.get(function.name, ProofRun(answers(function.name)))
        table = SetTable()
        for obligation in (*run.obligations, *run.inhabited):
            table.add(obligation.region)
        found.append(Attempt(function, run, table))
    return found


def heading(algorithm: str, kernel: str) -> dict[str, object]:
    """Return the head of a certificate, which names the two texts by their hashes."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "dtpoly": __version__,
        "algorithm": {"sha256": hash_of(algorithm)},
        "kernel": {"sha256": hash_of(kernel)},
    }


def hash_of(text: str) -> str:
    """Return the SHA-256 of a text's bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def section(attempt: Attempt) -> dict[str, object]:
    """Return what the proof of one function rests on, in a form that JSON can hold."""
    function, run, table = attempt.function, attempt.run, attempt.table
    return {
        "name": function.name,
        "verdicts": {layer.name: str(layer.verdict) for layer in function.layers},
        "sets": table.entries,
        "obligations": [
            {"part": one.part, "line": one.line, "what": one.what, "empty": table.add(one.region)}
            for one in run.obligations
        ],
        "inhabited": [
            {"part": one.part, "line": one.line, "what": one.what, "set": table.add(one.region)}
            for one in run.inhabited
        ],
        "assumptions": [
            {"lemma": one.lemma, "instance": [_told(part) for part in one.instance]}
            for one in run.assumptions
        ],
        "licences": sorted(run.licences),
    }


def _told(part: Part) -> object:
    match part:
        case Whole():
            return whole_text(part)
        case tuple():
            return [whole_text(one) for one in part]
        case _:
            return part


def taken_away(region: Region, is_below: bool = False) -> Iterator[Without]:
    """Yield the projections inside of what is taken away from a set; each needs a witness."""
    match region:
        case Minus(left=left, right=right):
            yield from taken_away(left, is_below)
            yield from taken_away(right, not is_below)
        case Without(of=inner):
            if is_below:
                yield region
            yield from taken_away(inner, is_below)
        case Meet() | Join():
            for part in parts_of(region):
                yield from taken_away(part, is_below)
        case _:
            for part in parts_of(region):
                yield from taken_away(part, is_below)
