"""Shows mistakes to someone at a Python prompt or in a notebook."""

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.render.html import block


class Messages(tuple[Diagnostic, ...]):
    """Diagnostics that are shown as the command line shows them."""

    __slots__ = ()

    def __str__(self) -> str:
        return plain(render(self)) if self else "no errors\n"

    def __repr__(self) -> str:
        return str(self).rstrip()

    def _repr_html_(self) -> str:
        """Show the messages in a notebook."""
        return block(str(self))


class ShownText(str):
    """A text of several lines; a prompt and a notebook show the lines instead of one literal."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).rstrip()

    def _repr_html_(self) -> str:
        """Show the text in a notebook."""
        return block(self)


@contextmanager
def told() -> Generator[None]:
    """Let an error say what the command line would say."""
    try:
        yield
    except DtpolyError as error:
        raise error_of(error.diagnostics) from None


def error_of(found: Iterable[Diagnostic]) -> DtpolyError:
    """Return an error whose text is what the command line prints of these diagnostics."""
    kept = tuple(found)
    errors = [diagnostic for diagnostic in kept if diagnostic.severity is Severity.ERROR]
    return DtpolyError(kept, plain(render(errors)).rstrip())
