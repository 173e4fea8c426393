"""Words, at lines of the kernels, what is refuted or not proved of the bits of rows."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Source, Span

REFUTED = "refuted"
MEND = "compute a row in one way: {} may choose nothing by which a sum is grouped"
ORDERED = "store partial sums, and let one program add them up in a fixed order"
OTHER = "dtpoly schedule --same-bits finds a schedule of which it is proved"


def of_rows(found: Mapping[str, Any], label: str | None, kernel: Source) -> Diagnostic | None:
    """Return what is said of an answer about bits; None of one that is proved.

    `label` numbers the rows; without one, another file was compared.
    """
    if found["verdict"] == "proved":
        return None
    func, why = found["function"], found["why"]
    span = _span(kernel, found["line"] or 0)
    notes = [] if span is not None else [Note(why)]
    example = found.get("example")
    if found["verdict"] == REFUTED and example is not None:
        rows = f"rows of '{func}' along {label}"
        title = f"{rows} have other bits in another batch"
        if example["is_of_order"]:
            title = f"{rows} have other bits in another run"
        notes += [Note(text) for text in said_of_example(example)]
        hint = ORDERED if example["is_of_order"] else MEND.format(f"the size of {label}")
        return Diagnostic("DT325", Severity.ERROR, title, span, why, tuple(notes), hint)
    two: Any = found["layouts"]["different"] if "layouts" in found else None
    if two is not None:
        for at in (0, 1):
            notes.append(Note(f"{two['variants'][at]}: {two[('first', 'second')[at]]}"))
    title = f"bits of '{func}' are not proved"
    if label is not None:
        title = f"rows of '{func}' along {label} are not proved to have the same bits"
    hint = OTHER if label is not None else ""
    if two is not None:
        hint = "the bits are the same among calls of which Triton makes one variant"
    return Diagnostic("DT326", Severity.WARNING, title, span, why, tuple(notes), hint)


def said_of_example(example: Mapping[str, Any]) -> Iterator[str]:
    """Yield what shows two runs in which a row is computed in two ways."""
    is_of_order, two = example["is_of_order"], example["groupings"]
    for at, call in enumerate(example["calls"]):
        sizes = ", ".join(f"{label} = {size}" for label, size in call["sizes"].items())
        if is_of_order:
            how = ("programs in their order", "the last program first")[at]
            sizes = f"{sizes}, {how}"
        word = ("one run" if is_of_order else "one call", "another")[at]
        yield f"{word}: {sizes}, row {call['row']}"
    element = ", ".join(map(str, example["element"]))
    which = f"element [{element}] of the row" if element else "the row, which is one element,"
    yield f"{which} is computed in two ways"
    if two is not None:
        yield f"one: {two['first']}"
        yield f"another: {two['second']}"
        if two["names"]:
            yield f"where {', '.join(f'{name} = {what}' for name, what in two['names'].items())}"
    if example["floats"] is not None:
        first, second = example["floats"]
        yield f"in f32 an element is {first!r} in one of them, {second!r} in the other"


def of_all(
    found: Sequence[Mapping[str, Any]], label: str | None, kernel: Source
) -> tuple[Diagnostic, ...]:
    """Return what is said of several answers."""
    said = (of_rows(one, label, kernel) for one in found)
    return tuple(one for one in said if one is not None)


def _span(source: Source, number: int) -> Span | None:
    """Return the words of a line; nothing where there is no such line."""
    if not 0 < number <= len(source.line_starts):
        return None
    line, start = source.line(number), source.line_starts[number - 1]
    indent = len(line) - len(line.lstrip())
    return Span(source, start + indent, start + len(line.rstrip()))
