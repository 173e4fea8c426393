"""Implements `dtpoly verify --bits LABEL` and `--same-as FILE`, which are about bits of results."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from types import ModuleType
from typing import Any

import click

from dtpoly import __version__
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.bits_messages import of_all
from dtpoly.checking import Checked, check
from dtpoly.cli.lazy import load, load_with_torch
from dtpoly.cli.output import shown, terminal_width, wants_colour, write
from dtpoly.cli.point_option import read_source
from dtpoly.codegen.header import header
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.generate import code_of
from dtpoly.missing_package import RING_PACKAGES, first_missing, require, way_out
from dtpoly.row_proofs import TIMES, doubt, rows_asked
from dtpoly.schedule.bound_primitives import Primitives
from dtpoly.source import Source
from dtpoly.suggest import near
from dtpoly.targets.target import parse_target
from dtpoly.verification import verified
from dtpoly.verify.proof.report import LAYERS, LayerVerdict, Report

VERSION = 1  # of the JSON document
TRIAL_BY = "calls are compared in Triton's interpreter, on tensors of torch"
BOUNDS = "bounds"  # the layer that says that no access is outside
COMPILED_BY = "triton compiles the variants of kernels whose layouts are compared"
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
    layouts: tuple[str, str] | None = None  # the target and the dtype for which they are compared
    launches: tuple[str, ...] | None = None  # what is assumed of those of a kernel by hand


def answer_about_bits(
    asked: BitsAsked,
    program: Program,
    kernel: Source,
    wanted: Sequence[str],
    primitives: Primitives,
) -> int:
    """Print what is known of the bits of all wanted functions, and return the exit code."""
    text = kernel.text
    report = verified(program, text, tuple(wanted), asked.seconds, tuple(LAYERS))
    if asked.other is not None:
        found = _same_as(asked, program, text, report, primitives)
    else:
        assert asked.label is not None, "one of the two options is given"
        _check_label(program, wanted, asked.label)
        found = [
            _of_label(program, text, one, asked.label, report, asked.seconds) for one in wanted
        ]
        if asked.layouts is not None:
            found = _with_layouts(asked, found)
    if asked.launches is not None:
        found = [_of_launches(one, report, asked.launches) for one in found]
    (_as_data if asked.as_json else _as_table)(asked, found, kernel)
    return 0 if all(one["verdict"] == "proved" for one in found) else 1


def _of_launches(one: dict[str, Any], report: Report, launches: Sequence[str]) -> dict[str, Any]:
    """Return an answer that also says what is assumed of the launches of a kernel by hand."""
    of_proof = [
        said
        for layers in report.functions
        for said in layers.assumed
        if layers.name == one["function"]
    ]
    return one | {"launches": [*of_proof, *launches]}


def layouts_asked(words: str) -> tuple[str, str]:
    """Return the target and the dtype of `TARGET[,DTYPE]`. Raises click.BadParameter."""
    target, comma, dtype = words.partition(",")
    try:
        parse_target(target)
        kind = DType(dtype if comma else str(DType.F32))
    except (DtpolyError, ValueError) as error:
        raise click.BadParameter(str(error), param_hint="--layouts") from error
    return target, str(kind)


def _with_layouts(asked: BitsAsked, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return answers after the layouts of variants were compared: others are no proof of bits.

    This is a process of its own, since Triton compiles nothing where it interprets. Raises
    DtpolyError if triton is not installed.
    """
    assert asked.layouts is not None
    assert asked.file is not None
    require(why=COMPILED_BY)
    source = read_source(asked.file, None)
    words = {"text": source.text, "label": asked.label}
    words |= {"target": asked.layouts[0], "dtype": asked.layouts[1]}
    environment = {**os.environ, "TRITON_INTERPRET": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "dtpoly.targets.variant_layouts"],
        input=json.dumps(words),
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["it ended without a word"])[-1]
        compared: dict[str, Any] = {"variants": 0, "different": None, "failed": last}
        compared["by_address"] = False
    else:
        compared = json.loads(done.stdout)
    return [with_compared(one, compared, asked.layouts[0]) for one in found]


def with_compared(one: dict[str, Any], compared: dict[str, Any], target: str) -> dict[str, Any]:
    """Return an answer with what is known of the layouts of variants."""
    data = one | {"layouts": {"target": target, **compared}}
    two = compared["different"]
    is_alike = two is None or compared["by_address"]  # the proof is about memory aligned alike
    if one["verdict"] != "proved" or (is_alike and compared["failed"] is None):
        return data
    why = f"variants could not be compiled for {target}: {compared['failed']}"
    line = None
    if two is not None:
        why = f"variants for {target} put lanes together in two layouts"
        line = two["line"] or None
    return data | {"verdict": "unknown", "line": line, "why": why}


def answers_of_file(
    program: Program, text: str, primitives: Primitives, report: Report, seconds: float
) -> list[dict[str, Any]]:
    """Return what is known of the bits of all rows that the file itself asks about, as data."""
    return [
        {**_of_label(program, text, func, label, report, seconds), "label": label}
        for func, label in rows_asked(program, primitives)
    ]


def tell_of_file(found: Sequence[dict[str, Any]], kernel: Source) -> None:
    """Print what is known of the bits that a file asks about, each with its label."""
    for one in found:
        _as_table(BitsAsked(one["label"], None, None, None, 0.0, False), [one], kernel)


def _check_label(program: Program, wanted: Sequence[str], label: str) -> None:
    """Refuse a label that a result does not have. Raises click.BadParameter."""
    for one in wanted:
        labels = program.func(one).labels
        if label not in labels:
            meant = near(label, labels)
            hint = f"did you mean '{meant}'?" if meant else f"it has {', '.join(labels) or 'none'}"
            raise click.BadParameter(f"'{one}' has no label '{label}'; {hint}", param_hint="--bits")


def _of_label(
    program: Program, text: str, func: str, label: str, report: Report, seconds: float
) -> dict[str, Any]:
    """Return what is known of a function and a label, as data."""
    why = doubt(report, func)
    if why:
        # What is refuted by running it needs no proof but that it can be run.
        data = _unknown(func, why)
        return (
            data
            if not _can_be_run(report, func)
            else _tried(program, text, data, label, (), seconds)
        )
    proving: ModuleType = load("dtpoly.verify.bits.bit_proofs")
    found = proving.bits_of(program, text, func, label, seconds * TIMES)
    data = _data(found)
    if found.verdict == "unknown":
        return _tried(program, text, data, label, found.calls, seconds)
    return data


def _can_be_run(report: Report, func: str) -> bool:
    """Return whether no access of a function's kernels is outside of a tensor."""
    layers = [layer for one in report.functions if one.name == func for layer in one.layers]
    return any(x.name == BOUNDS and x.verdict is LayerVerdict.PROVED for x in layers)


def _tried(
    program: Program,
    text: str,
    data: dict[str, Any],
    label: str,
    calls: Sequence[Any],
    seconds: float,
) -> dict[str, Any]:
    """Return what is known after runs were compared of what is not proved."""
    package = first_missing(RING_PACKAGES)
    if package is not None:
        why = f"calls were not compared, because {package} is not installed"
        return data | {"why": f"{data['why']}; {why}: {way_out(package)}"}
    trial = _trial(program, text, data["function"], label, calls, seconds)
    return data if trial is None else data | {"verdict": "refuted", "example": trial}


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
        why = doubt(report, func) or doubt(theirs, func)
        if why:
            found.append(_unknown(func, why))
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


def _as_data(asked: BitsAsked, found: list[dict[str, Any]], kernel: Source) -> None:
    """Print a JSON document."""
    told: Callable[..., dict[str, object]] = load("dtpoly.render.as_json").document
    document = {
        "version": VERSION,
        "file": asked.file,
        "kernel": asked.kernel,
        "bits": asked.label,
        "same_as": asked.other,
        "functions": found,
        "diagnostics": told(of_all(found, asked.label, kernel))["diagnostics"],
    }
    write(json.dumps(document, indent=2) + "\n")


def _as_table(asked: BitsAsked, found: list[dict[str, Any]], kernel: Source) -> None:
    """Print a table, and below it what is assumed or why something is not proved."""
    what = f"bits for any {asked.label}" if asked.other is None else f"bits as {asked.other}"
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    rows = [(one["function"], one["verdict"].upper(), f"{one['seconds']:.2f}") for one in found]
    colour, width = wants_colour(sys.stdout, os.environ), terminal_width(sys.stdout)
    write(table(("function", what, "seconds"), rows, width, colour=colour))
    for one in found:
        if one["verdict"] == "proved":
            for line in _said_of_proof(one, asked):
                write(f"{one['function']}, {line}\n")
    if told := of_all(found, asked.label, kernel):
        render: ModuleType = load("dtpoly.render.diagnostic_text")
        write("\n" + shown(render.render(told, width), sys.stdout))


def _said_of_proof(one: Mapping[str, Any], asked: BitsAsked) -> Iterator[str]:
    """Yield how far a proof goes, and what it takes for granted."""
    if not one["places"] and asked.label is not None:
        yield f"the algorithm depends on the place along {asked.label}, so the row stays at its own"
    if "layouts" in one:
        count, target = one["layouts"]["variants"], one["layouts"]["target"]
        where = " for memory that is aligned, and another for other memory"
        more = where if one["layouts"]["by_address"] else ""
        yield f"checked: {count} variants for {target}: one layout each{more}"
    yield from (f"assumed: {said}" for said in _assumptions(one, asked))
    yield from (f"assumed: {said}" for said in one.get("launches", ()))


def _assumptions(one: Mapping[str, Any], asked: BitsAsked) -> list[str]:
    """Return what a proof takes for granted of Triton, with the lines of the kernels."""
    if not one["in_order"]:
        return [IN_ONE_STEP]
    lines = ", ".join(map(str, one["in_order"]))
    where = f"line{'s' if len(one['in_order']) > 1 else ''} {lines}"
    return [f"{ALIGNED if asked.other is None else LAID_OUT} ({where})", IN_ONE_STEP]
