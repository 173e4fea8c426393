"""Words, at lines of the kernels, what could not be proved of a text."""

from collections.abc import Callable, Iterator, Sequence

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.schedule.foreign import to_mend
from dtpoly.schedule.state import State
from dtpoly.source import Source, Span
from dtpoly.verify.proof.report import (
    LAYERS,
    CallWitness,
    FunctionReport,
    Layer,
    LayerVerdict,
    LineRun,
    Report,
)
from dtpoly.verify.triton.said import is_by_hand

SEE = "not looked at"


NO_VERIFY = "dtpoly compile --no-verify writes the file all the same"


def of_emitted(report: Report, kernel: Source, name: str, state: State) -> tuple[Diagnostic, ...]:
    """Report on a text that dtpoly made of a .dt file: what is wrong there is our bug.

    Where a user's primitive edits the launch or the code of a kernel, the primitive has to be
    mended.
    """

    def hint(function: FunctionReport) -> str:
        if mend := to_mend(state, function.name):
            return f"{mend}; {NO_VERIFY}"
        report_it = f"please report it with this message and '{name}'"
        return f"this is a bug in dtpoly: {report_it}; {NO_VERIFY}"

    return tuple(_all(report, kernel, "DT310", "the code of {} would be wrong", hint))


def of_edited(report: Report, kernel: Source) -> tuple[Diagnostic, ...]:
    """Report on a text that a user has written or changed."""
    mend = "change the line, or what it depends on"
    title = "{} does not compute what it should"
    return tuple(_all(report, kernel, "DT312", title, lambda function: mend))


def _all(
    report: Report,
    kernel: Source,
    code: str,
    title: str,
    hint: Callable[[FunctionReport], str],
) -> Iterator[Diagnostic]:
    """Make one message for each function: of what is refuted, else of what is not proved."""
    for function in report.functions:
        refuted = [one for one in function.layers if one.verdict is LayerVerdict.REFUTED]
        unknown = [one for one in function.layers if one.verdict is LayerVerdict.UNKNOWN]
        if refuted:
            shown = title.format(_quoted(function))
            is_users = code == "DT312"  # what is wrong in a text of ours, only we can mend
            way = (refuted[0].way if is_users else "") or hint(function)
            yield _told(code, Severity.ERROR, shown, refuted, kernel, way)
        elif unknown:
            looked = [one for one in unknown if not one.why.startswith(SEE)] or unknown
            shown = f"{_quoted(function)} is not proved"
            yield _told("DT311", Severity.WARNING, shown, looked, kernel, _way_on(looked, kernel))


def _quoted(function: FunctionReport) -> str:
    return f"'{function.name}'" if function.name else "the file"


def _way_on(layers: Sequence[Layer], kernel: Source) -> str:
    if any(layer.is_late for layer in layers):
        return "dtpoly verify --seconds 60 gives the proof more time"
    if layers[0].way:
        return layers[0].way
    if is_by_hand(kernel.text):
        return (
            "it may be right all the same: docs/handwritten.md says what can be read and promised"
        )
    return "it may be right all the same: dtpoly verify --ring runs it, without rounding"


def _told(
    code: str,
    severity: Severity,
    title: str,
    layers: Sequence[Layer],
    kernel: Source,
    hint: str,
) -> Diagnostic:
    first = layers[0]
    same = [one for one in layers if (one.line, one.why) == (first.line, first.why)]
    others = [one for one in layers if one not in same]
    span = _span(kernel, first.line)
    word = "refuted" if first.verdict is LayerVerdict.REFUTED else "not proved"
    names = " and ".join(filter(None, (", ".join(one.name for one in same[:-1]), same[-1].name)))
    meaning = f", which says that {LAYERS[first.name]}" if first.name in LAYERS else ""
    notes = [Note(f"{word}: {names}{'' if len(same) > 1 else meaning}")]
    if first.witness is not None:
        may = "" if first.verdict is LayerVerdict.REFUTED else "it may be wrong "
        notes.append(Note(f"{may}{show_witness(first.witness)}"))
    if span is None and first.why:
        notes.insert(0, Note(first.why))
    for one in others:
        notes.append(Note(f"{one.name}: {one.why}", _span(kernel, one.line)))
    return Diagnostic(code, severity, title, span, first.why, tuple(notes), hint)


def _span(source: Source, number: int) -> Span | None:
    """Return the words of a line; nothing where there is no such line."""
    if not 0 < number <= len(source.line_starts):
        return None
    line = source.line(number)
    start = source.line_starts[number - 1]
    stripped = line.strip()
    indent = len(line) - len(line.lstrip()) if stripped else 0
    return Span(source, start + indent, start + indent + len(stripped))


def show_witness(witness: CallWitness) -> str:
    """`at x = 1, y = 512: program 0, y_start = 0, lane (1, 0) stores out[1, 0]`."""
    sizes = ", ".join(f"{label} = {size}" for label, size in witness.sizes)
    where = " ".join(filter(None, (show_instance(witness.at), witness.what)))
    other = "" if witness.other is None else show_instance(witness.other)
    said = "; with ".join(filter(None, (where, other)))
    head = f"at {sizes}" if sizes else "for each size"
    return f"{head}: {said}" if said else head


def show_instance(one: LineRun) -> str:
    """`program (0, 1), k_start = 0, lane 3`."""
    parts = [f"{loop} = {value}" for loop, value in one.loops]
    if one.program:
        parts.insert(0, f"program {_tuple(one.program)}")
    if one.lane:
        parts.append(f"lane {_tuple(one.lane)}")
    return ", ".join(parts)


def _tuple(numbers: tuple[int, ...]) -> str:
    shown = ", ".join(map(str, numbers))
    return shown if len(numbers) == 1 else f"({shown})"
