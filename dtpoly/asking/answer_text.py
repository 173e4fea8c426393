"""Shows the answer about one more directive, as lines for a person or as data for JSON."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.program import Directive
from dtpoly.algorithm.show import show_directive
from dtpoly.explanation import explained_data, heading
from dtpoly.render.as_json import Data, document, place
from dtpoly.render.outline import Heading, Item, outline
from dtpoly.render.snippet import Line
from dtpoly.schedule.directive_question import Answer, Replaced


def answer_lines(
    answer: Answer, new: Directive, width: int | None, *, is_refused: bool
) -> Iterator[Line]:
    """Yield the lines of the answer; `is_refused` says that the file's own schedule is refused."""
    return outline([_heading(answer, new, is_refused=is_refused)], width)


def _heading(answer: Answer, new: Directive, *, is_refused: bool) -> Heading:
    """Return the answer, and for a directive that is legal also what it changes."""
    items = [Item("answer", ("legal for all sizes" if answer.is_legal else "refused",))]
    if answer.is_there:
        items.append(Item("note", ("the file says so already",)))
    elif answer.replaced:
        items.append(Item("instead of", tuple(map(_show_replaced, answer.replaced))))
    if is_refused:
        items.append(Item("note", ("the schedule in the file is refused as it stands",)))
    if answer.explained is None:
        return Heading(show_directive(new), items=tuple(items))
    explained = heading(answer.explained, {}, "now")
    return replace(explained, place="", items=(*items, *explained.items))


def _show_replaced(one: Replaced) -> str:
    place = "" if one.old.span is None else f" ({str(one.old.span).rpartition(':')[0]})"
    left = "" if one.left is None else f", of which {show_directive(one.left)} is left"
    return f"{show_directive(one.old)}{place}{left}"


def answer_data(answer: Answer, new: Directive) -> Data:
    """Return the answer as data for JSON."""
    explained = answer.explained
    return {
        "directive": show_directive(new),
        "is_legal": answer.is_legal,
        "is_there": answer.is_there,
        "instead_of": [
            {
                "directive": show_directive(one.old),
                "place": place(one.old.span),
                "left": None if one.left is None else show_directive(one.left),
            }
            for one in answer.replaced
        ],
        "explanation": None if explained is None else explained_data(explained, {}),
        "diagnostics": document(answer.diagnostics)["diagnostics"],
    }
