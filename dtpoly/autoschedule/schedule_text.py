"""Writes the .dt text of a source with the schedule that was found, and its reasons."""

from collections.abc import Iterable, Iterator
from textwrap import wrap

from dtpoly.algorithm.show import show, show_directive
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.reasons import ReasonLine
from dtpoly.autoschedule.settle import Settled
from dtpoly.autoschedule.unscheduled_source import Algorithm
from dtpoly.source import Source

WIDTH = 100


def schedule_text(lines: Iterable[ReasonLine]) -> str:
    """Return a directive a line, each with its reason."""
    return "".join(f"{line}\n" for line in _lines(list(lines)))


def whole_text(source: Source, given: Algorithm, head: str, best: Settled) -> str:
    """Return the algorithm as its author wrote it, if that has no schedule and is what is computed.

    Else print it: there may be copies of inputs in it.
    """
    is_scheduled = bool(given.left or given.program.directives)
    is_other = best.program.funcs != given.program.funcs
    printed = show(with_directives(best.program, ()))
    algorithm = printed if is_scheduled or is_other else source.text
    above = "".join(f"# {line}\n" for line in wrap(head, WIDTH - 2))
    return f"{algorithm.rstrip()}\n\n{above}{schedule_text(best.lines)}"


def _lines(lines: list[ReasonLine]) -> Iterator[str]:
    shown = [show_directive(one.directive) for one in lines]
    column = max((len(text) for text in shown), default=0)
    for text, one in zip(shown, lines, strict=True):
        comment = f"# {one.why}"
        if not one.why:
            yield text
        elif column + 2 + len(comment) <= WIDTH:
            yield f"{text.ljust(column)}  {comment}"
        elif len(text) + 2 + len(comment) <= WIDTH:
            yield f"{text}  {comment}"
        else:
            yield comment
            yield text
