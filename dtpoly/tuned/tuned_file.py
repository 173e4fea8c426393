"""Reads and writes a file of tuned schedules: alternatives, each below what it is for.

It is a schedule file as any other, with one list of alternatives, so every command reads it:

    algorithm "softmax.dt";

    {
      # for NVIDIA H200, f32: x = 4096, y = 1024..4096
      # 0.0431 ms at x = 4096, y = 4096
      softmax.block(x:4), softmax.tensorize(x:0, y:0), softmax.compile()
    };
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from dtpoly.algorithm.choices import Alternatives, OpenDirective
from dtpoly.algorithm.label_sizes import used_labels
from dtpoly.algorithm.program import Directive, Program
from dtpoly.algorithm.show import show_directive
from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.explore.space.count import counted, point_at
from dtpoly.explore.space.space import Space, program_of
from dtpoly.explore.space.space_file import load_space
from dtpoly.frontend.reading import read_file
from dtpoly.frozen import dataclass
from dtpoly.source import Source, Span
from dtpoly.tuned.tuned_entry import Range, TunedEntry

NO_PLACE = "DT253"
HEAD = """\
# The fastest schedules that were found; each is proved for all sizes. Written by dtpoly ship, which
# keeps what stands outside of the braces.

"""

DIGITS = 18  # a number with more is no size
_PLACE = re.compile(r"for (?P<device>.+), (?P<dtype>\w+)(?:: (?P<sizes>.*))?")
_SIZE = re.compile(r"(?P<label>\w+) = (?P<low>\d+)(?:\.\.(?P<high>\d+))?")


@dataclass(frozen=True, slots=True)
class Tuned:
    """A file: its algorithm, its entries, and the text before and after them."""

    program: Program  # without directives
    entries: tuple[TunedEntry, ...]
    before: str
    after: str = "\n"


def read_tuned(path: str | Path) -> Tuned:
    """Return the file at a path. Raises DtpolyError."""
    return load_tuned(read_file(str(path)), Path(path).parent)


def load_tuned(source: Source, folder: Path) -> Tuned:
    """Return the entries of a source; the algorithm that it names is looked for in a folder."""
    space = load_space(source, folder)
    if len(space.items) != 1 or not isinstance(space.items[0], Alternatives):
        span = space.items[0].span if space.items else None
        raise DtpolyError([_no_tuned_file(span)])
    options = space.items[0]
    assert options.span is not None
    entries = tuple(_entries(source, space, options))
    end = source.text.index(";", options.span.end) + 1
    return Tuned(
        space.program, entries, source.text[: options.span.start], source.text[end:] or "\n"
    )


def _entries(source: Source, space: Space, options: Alternatives) -> Iterator[TunedEntry]:
    points = counted(space)
    assert options.span is not None
    starts = [_start(option) or options.span.start for option in options.options]
    spans = pairwise([options.span.start, *starts])
    # Whatever is open in an option is no one schedule.
    if points.count != len(options.options):
        raise DtpolyError([_no_tuned_file(options.span)])
    for number, (begin, start) in enumerate(spans):
        lines = [line.strip() for line in source.text[begin:start].splitlines()]
        comments = [line.lstrip("# ") for line in lines if line.startswith("#")]
        place = next((at for at, line in enumerate(comments) if _PLACE.fullmatch(line)), None)
        if place is None:
            raise DtpolyError([_no_place(Span(source, start, start + 1))])
        directives = program_of(space, point_at(points, number)).directives
        if not _are_ranges(comments[place]):
            raise DtpolyError([_no_place(Span(source, start, start + 1))])
        entry = _entry(comments[place], directives, tuple(comments[place + 1 :]))
        if frozenset(entry.ranges) != used_labels(space.program):
            raise DtpolyError([_no_place(Span(source, start, start + 1))])
        yield entry


def _are_ranges(place: str) -> bool:
    """Return whether a line's numbers are sizes, one for each label, and no range is reversed."""
    if any(len(one) > DIGITS for one in re.findall(r"\d+", place)):
        return False
    found = [*_SIZE.finditer(place)]
    labels = {one["label"] for one in found}
    return len(labels) == len(found) and all(
        int(one["low"]) <= int(one["high"] or one["low"]) for one in found
    )


def _start(option: Sequence[OpenDirective | Alternatives]) -> int | None:
    return option[0].span.start if option and option[0].span else None


def _entry(place: str, directives: tuple[Directive, ...], notes: tuple[str, ...]) -> TunedEntry:
    found = _PLACE.fullmatch(place)
    assert found is not None
    ranges: dict[str, Range] = {}
    for one in _SIZE.finditer(found["sizes"] or ""):
        ranges[one["label"]] = (int(one["low"]), int(one["high"] or one["low"]))
    return TunedEntry(found["device"], found["dtype"], ranges, directives, notes)


def show_tuned(tuned: Tuned) -> str:
    """Return the text of a file. Law: reading it gives the same."""
    options = "\n|\n".join(map(_option, tuned.entries))
    return f"{tuned.before}{{\n{options}\n}};{tuned.after}"


def empty(program: Program, algorithm: str) -> Tuned:
    """Return a file without entries, about the algorithm at a path."""
    return Tuned(program, (), f'{HEAD}algorithm "{algorithm}";\n\n')


def _option(entry: TunedEntry) -> str:
    notes = (f"    # {line}" for line in (f"for {entry.where}", *entry.notes))
    words = (f"    {show_directive(one).rstrip(';')}" for one in entry.directives)
    return "\n".join((*notes, ",\n".join(words)))


def _no_tuned_file(span: Span | None) -> Diagnostic:
    return Diagnostic(
        NO_PLACE,
        Severity.ERROR,
        "this is no file of tuned schedules",
        span,
        "" if span is None else "this is something else, or leaves a choice open",
        hint="it has one list of alternatives, each a schedule in which nothing is open",
    )


def _no_place(span: Span) -> Diagnostic:
    return Diagnostic(
        NO_PLACE,
        Severity.ERROR,
        "a tuned schedule does not say for which device, dtype and sizes it is",
        span,
        "of this one",
        hint="write above it: # for NVIDIA H200, f32: x = 4096, y = 1024..4096",
    )
