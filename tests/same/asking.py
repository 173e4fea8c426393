"""Asks the compiler what it does with a text; no other file here knows the compiler.

Work is limited by isl's own count of operations. The time limit is so long that it ends only
endless work, so that the result is the same on every machine.
"""

import re
import time
from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Directive
from dtpoly.budget import OverBudgetError, within
from dtpoly.checking import Checked, check
from dtpoly.diagnostics import Diagnostic, in_source_order
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code
from dtpoly.ir.check import complaints
from dtpoly.remarks import remarked
from dtpoly.source import Source, Span
from dtpoly.verify.proof.report import Layer, LayerVerdict, Report
from dtpoly.verify.proof.verify import verify
from tests.same.outcome import Kind, Message, Outcome
from tests.same.pieces import pieces_of

SECONDS, PROOF_SECONDS = 120.0, 30.0
# The first code means that it takes too long to decide whether a schedule is legal, the second that
# the time or the memory of a command is over.
UNDECIDED = frozenset({"DT208", "DT210"})
# The words of the verifier and the generator for a limit that is reached.
TOO_LONG = "takes too long"
NO_CODE, IN_VAIN = "DT300", "DT198"
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)")
# The name of each directive, by all its names.
NAMES = {word: cls.name for cls in DIRECTIVES for word in (cls.name, *cls.aliases)}


def outcome_of(text: str, asks_proof: bool) -> Outcome:
    """Return the outcome of a text; if an exception is raised, that is an outcome, too."""
    began = time.process_time()
    try:
        made = _outcome_of(text, asks_proof)
    except Exception as error:
        made = Outcome(Kind.BROKEN, why=f"{type(error).__name__}: {error}")
    return replace(made, seconds=time.process_time() - began)


def _outcome_of(text: str, asks_proof: bool) -> Outcome:
    try:
        with within(SECONDS):
            checked = check(Source("same.dt", text))
            # A header would contain the version that wrote the file.
            made = remarked(checked)
    except OverBudgetError as error:
        return Outcome(Kind.UNDECIDED, why=str(error))
    said = in_source_order(made.diagnostics)
    undecided = [one for one in said if _is_undecided(one)]
    if undecided:
        return Outcome(Kind.UNDECIDED, why=f"{undecided[0].code}: {undecided[0].title}")
    messages = tuple(message_of(one) for one in said)
    if made.code is None:
        return Outcome(Kind.REFUSED, messages)
    wrong = [one for kernel in made.code.stages.kernels for one in complaints(kernel)]
    if wrong:
        return Outcome(Kind.BROKEN, messages, why=f"no valid kernel: {wrong[0]}")
    verdicts, reasons = _proved(checked, made.code) if asks_proof else ((), ())
    return Outcome(
        Kind.EMITTED,
        messages,
        pieces_of(made.code.text),
        tuple(_at_work(checked, said)),
        verdicts,
        reasons,
    )


def _is_undecided(one: Diagnostic) -> bool:
    is_late = one.code == NO_CODE and any(TOO_LONG in note.text for note in one.notes)
    return one.code in UNDECIDED or is_late


def message_of(one: Diagnostic) -> Message:
    """Return a diagnostic with its facts and its words kept apart."""
    notes = [note.text for note in one.notes]
    edits = [f"{_place(edit.span)} becomes {edit.replacement!r}" for edit in one.edits]
    placed = [f"note: {note.text} ({_place(note.span) or '-'})" for note in one.notes]
    hint = [f"hint: {one.hint}"] if one.hint else []
    words = "\n".join((f"{one.severity}: {one.title}", one.label, *placed, *hint, *edits))
    return Message(one.code, _place(one.span), tuple(NUMBER.findall("\n".join(notes))), words)


def _place(span: Span | None) -> str:
    """Return line and column, both from 1, and the number of characters."""
    if span is None:
        return ""
    before = span.source.text[: span.start]
    column = span.start - (before.rfind("\n") + 1) + 1
    return f"{before.count(chr(10)) + 1}:{column}+{span.end - span.start}"


def _at_work(checked: Checked, said: tuple[Diagnostic, ...]) -> Iterator[str]:
    """Yield the directives of an emitted text, except those that are reported to change nothing."""
    assert checked.program is not None
    in_vain = [one.span for one in said if one.code == IN_VAIN]
    found = (_name(one) for one in checked.program.directives if not _has_any(one, in_vain))
    yield from dict.fromkeys(found)


def _name(directive: Directive) -> str:
    return NAMES.get(directive.name, directive.name)


def _has_any(directive: Directive, spans: list[Span | None]) -> bool:
    """True if a message points into the directive."""
    own = directive.span
    return own is not None and any(
        one is not None and own.start <= one.start < own.end for one in spans
    )


def _proved(checked: Checked, code: Code) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the verdict of each layer, and the reasons why layers are not proved."""
    assert checked.program is not None
    report: Report = verify(checked.program, code.text, PROOF_SECONDS)
    layers = [(one.name, layer) for one in report.functions for layer in one.layers]
    verdicts = tuple(f"{name} {layer.name}: {_verdict(layer)}" for name, layer in layers)
    open_ones = [
        (name, layer) for name, layer in layers if layer.verdict is not LayerVerdict.PROVED
    ]
    return verdicts, tuple(f"{name} {layer.name}: {layer.why}" for name, layer in open_ones)


def _verdict(layer: Layer) -> str:
    is_late = layer.is_late or (layer.verdict is LayerVerdict.UNKNOWN and TOO_LONG in layer.why)
    return "undecided" if is_late else str(layer.verdict)
