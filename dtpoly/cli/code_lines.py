"""Lists each line of the generated kernels with its origin, for `explain --code`."""

from collections.abc import Sequence

from dtpoly import __version__
from dtpoly.algorithm.show import show_directive
from dtpoly.code_map import MappedLine, code_map
from dtpoly.codegen.header import header
from dtpoly.generate import code_of
from dtpoly.render.as_json import Data, place
from dtpoly.schedule.state import State
from dtpoly.source import Span

HEAD = ("line", "code", "from line", "directive", "in line")


def mapped(state: State, name: str) -> tuple[MappedLine, ...]:
    """Return the lines of the file that `dtpoly compile` writes for a .dt file of that name."""
    return code_map(state, code_of(state, header(__version__, name)))


def rows(lines: Sequence[MappedLine]) -> list[tuple[str, ...]]:
    """Return a row for each line."""
    return [_row(line) for line in lines]


def _row(line: MappedLine) -> tuple[str, ...]:
    origin = line.origin
    directive = "" if origin.directive is None else show_directive(origin.directive)
    at = None if origin.directive is None else origin.directive.span
    return str(line.number), line.text, _line(origin.source), directive, _line(at)


def _line(span: Span | None) -> str:
    return "" if span is None else str(span.source.position(span.start)[0])


def lines_data(lines: Sequence[MappedLine]) -> list[Data]:
    """Return the lines as data for JSON; a part that is missing is null."""
    return [
        {
            "line": line.number,
            "text": line.text,
            "kernel": line.kernel,
            "source": place(line.origin.source),
            "directive": None
            if line.origin.directive is None
            else show_directive(line.origin.directive),
            "place": place(line.origin.part),
        }
        for line in lines
    ]
