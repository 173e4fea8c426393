"""Shows the directives that a schedule could get next, for a person at a prompt or a notebook."""

from collections.abc import Iterable, Iterator
from html import escape
from importlib import import_module
from typing import Any

from dtpoly.render.html import word_table
from dtpoly.schedule.menu import Option

HEAD = ("answer", "directive", "why")


class Offered(tuple[Option, ...]):
    """Directives that could come next, each with `directive`, `is_legal`, `changes`, `reason`."""

    __slots__ = ()

    @property
    def legal(self) -> tuple[str, ...]:
        """Return those that are legal for all sizes and change something."""
        return tuple(one.directive for one in self if one.is_legal and one.changes)

    def __str__(self) -> str:
        if not self:
            return "there is no more to try\n"
        table: Any = import_module("dtpoly.render.text_table")
        shown: str = table.table(HEAD, [*option_rows(self)], None, colour=False)
        return shown

    def __repr__(self) -> str:
        legal = len(self.legal)
        return f"<Offered: {len(self)} directives, {legal} of them legal with an effect>"

    def _repr_html_(self) -> str:
        """Show a notebook the same as `print`, as a table."""
        if not self:
            return f"<div>{escape(str(self).rstrip())}</div>"
        return word_table(HEAD, option_rows(self))


def option_rows(found: Iterable[Option]) -> Iterator[tuple[str, str, str]]:
    """Yield a row for each directive: legal ones, refused ones, then ones that change nothing."""
    kept = tuple(found)
    for one in kept:
        if one.is_legal and one.changes:
            yield "legal", one.directive, ""
    for one in kept:
        if not one.is_legal:
            yield "refused", one.directive, one.reason
    for one in kept:
        if one.is_legal and not one.changes:
            yield "legal", one.directive, "changes nothing"
