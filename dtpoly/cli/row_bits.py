"""Implements `dtpoly verify --bits LABEL` and `--same-as FILE`, which are about bits of results."""

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from types import ModuleType
from typing import Any

import click

from dtpoly import __version__
from dtpoly.algorithm.program import Program
from dtpoly.checking import Checked, check
from dtpoly.cli.lazy import load, load_with_torch
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.point_option import read_source
from dtpoly.codegen.header import header
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.missing_package import RING_PACKAGES, first_missing, way_out
from dtpoly.schedule.bound_primitives import Primitives, bind
from dtpoly.schedule.facts import InvariantRow
from dtpoly.suggest import near
from dtpoly.verification import verified
from dtpoly.verify.proof.report import LAYERS, LayerVerdict, Report

VERSION = 1  # of the JSON document
# A proof about bits compares each sum of two calls, which takes longer than reading a kernel once.
TIMES = 12
BY_HAND = "# verify:"
TRIAL_BY = "calls are compared in Triton's interpreter, on tensors of torch"
# Triton's compiler decides by this how many elements a thread loads at once, and so in which order
# it puts the lanes of a tile together.
ALIGNED = (
    "each tensor begins at a multiple of 16 bytes in both calls or in neither, and each of its "
    "strides is 1, a multiple of 4 or a multiple of 16 in both calls or in neither. Otherwise "
    "Triton may put the lanes of a tile together in another order"
)
LAID_OUT = (
    "Triton lays out the tiles of both files alike, though their kernels are two texts. Otherwise "
    "it puts the lanes of a tile together in another order"
)
IN_ONE_STEP = "Triton does the same products and sums in one step in both calls"


@dataclass(frozen=True, slots=True)
class BitsAsked:
    """What is asked about bits: a label, or another file; and how the answer is printed."""

    label: str | None
    other: str | None
    file: str | None
    kernel: str | None
    seconds: float
    as_json: bool


def answer_about_bits(
    asked: BitsAsked, program: Program, text: str, wanted: Sequence[str], primitives: Primitives
) -> int:
    """Print what is known of the bits of all wanted functions, and return the exit code."""
    report = verified(program, text, tuple(wanted), asked.seconds, tuple(LAYERS))
    if asked.other is not None:
        found = _same_as(asked, program, text, report, primitives)
    else:
        assert asked.label is not None, "one of the two options is given"
        _check_label(program, wanted, asked.label)
        found = [
            _of_label(program, text, one, asked.label, report, asked.seconds) for one in wanted
        ]
    (_as_data if asked.as_json else _as_table)(asked, found)
    return 0 if all(one["verdict"] == "proved" for one in found) else 1


def answers_of_file(
    program: Program, text: str, primitives: Primitives, report: Report, seconds: float
) -> list[dict[str, Any]]:
    """Return what is known of the bits of all rows that the file itself asks about, as data."""
    bound = bind(program.directives, primitives).primitives
    facts = [fact for one in bound for fact in one.facts()]
    rows = [(fact.func, fact.label) for fact in facts if isinstance(fact, InvariantRow)]
    return [
        {**_of_label(program, text, func, label, report, seconds), "label": label}
        for func, label in rows
    ]


def tell_of_file(found: Sequence[dict[str, Any]]) -> None:
    """Print what is known of the bits that a file asks about, each with its label."""
    for one in found:
        _as_table(BitsAsked(one["label"], None, None, None, 0.0, False), [one])


def _check_label(program: Program, wanted: Sequence[str], label: str) -> None:
    """Refuse a label that a result does not have. Raises click.BadParameter."""
    for one in wanted:
        labels = program.func(one).labels
        if label not in labels:
            meant = near(label, labels)
            hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(labels) or 'none'}"
            raise click.BadParameter(f"'{one}' has no label '{label}'; {hint}", param_hint="--bits")


def _doubt(report: Report, func: str) -> str:
    """Return why nothing is said of the bits of a function whose kernels are not proved."""
    for one in report.functions:
        if one.name in (func, ""):
            if one.verdict is LayerVerdict.PROVED:
                return ""
            layer = next(a for a in one.layers if a.verdict is not LayerVerdict.PROVED)
            return f"its kernels are not proved: {layer.name}, {layer.why}"
    return "no function of the file computes it"


def _of_label(
    program: Program, text: str, func: str, label: str, report: Report, seconds: float
) -> dict[str, Any]:
    """Return what is known of a function and a label, as data."""
    doubt = _doubt(report, func)
    if doubt:
        return _unknown(func, doubt)
    proving: ModuleType = load("dtpoly.verify.bits.bit_proofs")
    found = proving.bits_of(program, text, func, label, seconds * TIMES)
    data = _data(found)
    if found.verdict == "unknown" and BY_HAND not in text:
        package = first_missing(RING_PACKAGES)
        if package is not None:
            why = f"calls were not compared, because {package} is not installed"
            return data | {"why": f"{data['why']}; {why}: {way_out(package)}"}
        trial = _trial(program, text, func, label, found.calls, seconds)
        if trial is not None:
            data |= {"verdict": "refuted", "example": trial}
    return data


def _trial(
    program: Program, text: str, func: str, label: str, calls: Sequence[Any], seconds: float
) -> dict[str, Any] | None:
    """Return two calls that compute a row in two ways, as data; None if none was found."""
    # Triton reads this variable only once, when it is imported.
    os.environ["TRITON_INTERPRET"] = "1"
    # If Triton interprets, it can be imported only after torch.
    load_with_torch("torch", TRIAL_BY)
    trials: ModuleType = load_with_torch("dtpoly.ring.row_trials", TRIAL_BY)
    row_call: Callable[[Mapping[str, int], int], Any] = trials.RowCall
    tried = [(row_call(one.first, one.rows[0]), row_call(one.second, one.rows[1])) for one in calls]
    found = trials.row_that_differs(program, text, func, label, tried, seconds)
    if found is None:
        return None
    data: dict[str, Any] = asdict(found)
    return data


def _same_as(
    asked: BitsAsked, program: Program, text: str, report: Report, primitives: Primitives
) -> list[dict[str, Any]]:
    """Return for each function whether another file computes it with the same bits, as data."""
    assert asked.other is not None
    source = read_source(asked.other, None)
    checked: Checked = check(source, primitives)
    if checked.program is None or checked.verdict is None:
        raise DtpolyError(checked.diagnostics)
    heading = header(__version__, source.name)
    other = code_of(checked.verdict.scheduled, heading, None).text
    both_have = [one.name for one in report.functions if one.name]
    theirs = verified(checked.program, other, tuple(both_have), asked.seconds, tuple(LAYERS))
    proving: ModuleType = load("dtpoly.verify.bits.bit_proofs")
    found: list[dict[str, Any]] = []
    for func in both_have:
        doubt = _doubt(report, func) or _doubt(theirs, func)
        if doubt:
            found.append(_unknown(func, doubt))
            continue
        programs, texts = (program, checked.program), (text, other)
        found.append(_data(proving.same_bits(programs, texts, func, asked.seconds * TIMES)))
    return found


def _unknown(func: str, why: str) -> dict[str, Any]:
    return {"function": func, "verdict": "unknown", "line": None, "why": why, "seconds": 0.0}


def _data(found: Any) -> dict[str, Any]:
    """Return an answer as data."""
    return {
        "function": found.func,
        "verdict": str(found.verdict),
        "places": found.is_for_places,
        "line": found.line or None,
        "why": found.why or None,
        "assumed": list(found.assumed),
        "in_order": list(found.in_order),
        "seconds": round(found.seconds, 3),
    }


def _as_data(asked: BitsAsked, found: list[dict[str, Any]]) -> None:
    """Print a JSON document."""
    document = {
        "version": VERSION,
        "file": asked.file,
        "kernel": asked.kernel,
        "bits": asked.label,
        "same_as": asked.other,
        "functions": found,
    }
    write(json.dumps(document, indent=2) + "\n")


def _as_table(asked: BitsAsked, found: list[dict[str, Any]]) -> None:
    """Print a table, and below it what is assumed or why something is not proved."""
    what = f"bits for any {asked.label}" if asked.other is None else f"bits as {asked.other}"
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    rows = [(one["function"], one["verdict"].upper(), f"{one['seconds']:.2f}") for one in found]
    colour, width = wants_colour(sys.stdout, os.environ), terminal_width(sys.stdout)
    write(table(("function", what, "seconds"), rows, width, colour=colour))
    for one in found:
        for line in _lines(one, asked):
            write(f"{line}\n")


def _lines(one: Mapping[str, Any], asked: BitsAsked) -> list[str]:
    func = one["function"]
    if one["verdict"] == "proved":
        still = [] if one["places"] or asked.label is None else [_still(func, asked.label)]
        return [*still, *(f"{func}, assumed: {said}" for said in _assumptions(one, asked))]
    place = f"line {one['line']}: " if one["line"] else ""
    lines = [f"{func}: {place}{one['why']}"]
    example = one.get("example")
    if example is None:
        return lines
    for at, call in enumerate(example["calls"]):
        sizes = ", ".join(f"{label} = {size}" for label, size in call["sizes"].items())
        word = ("one call", "another")[at]
        lines.append(f"{func}, {word}: {sizes}, row {call['row']}")
    element = ", ".join(map(str, example["element"]))
    lines.append(f"{func}: element [{element}] of the row is computed in two ways")
    if example["floats"] is not None:
        first, second = example["floats"]
        lines.append(f"{func}: in f32 an element is {first!r} in one call, {second!r} in the other")
    return lines


def _assumptions(one: Mapping[str, Any], asked: BitsAsked) -> list[str]:
    """Return what a proof takes for granted of Triton, with the lines of the kernels."""
    if not one["in_order"]:
        return [IN_ONE_STEP]
    lines = ", ".join(map(str, one["in_order"]))
    where = f"line{'s' if len(one['in_order']) > 1 else ''} {lines}"
    return [f"{ALIGNED if asked.other is None else LAID_OUT} ({where})", IN_ONE_STEP]


def _still(func: str, label: str) -> str:
    return f"{func}: the algorithm depends on the place along {label}, so the row stays at its own"
