"""Messages about packed inputs, which are declared `In W: i4 packed k;`."""

from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Span

from .symbols import Symbol, what
from .syntax import Indexed, NameSyntax

_CODE = "DT219"


def _told(title: str, span: Span, seen: str, hint: str, *notes: Note) -> Diagnostic:
    return Diagnostic(_CODE, Severity.ERROR, title, span, seen, notes, hint)


def no_label(tensor: str, label: NameSyntax, symbol: Symbol) -> Diagnostic:
    """Report an input that is packed along something else than a label."""
    return _told(
        f"'{tensor}' is packed along a label",
        label.span,
        f"is {what(symbol)}",
        "name the label at which the packed axis is read",
    )


def no_axis(tensor: str, label: NameSyntax) -> Diagnostic:
    """Report an input that no definition reads at the label that it is packed along."""
    return _told(
        f"no read of '{tensor}' has the label '{label.text}'",
        label.span,
        "shows no axis",
        f"read '{tensor}' at '{label.text}', or name the label at which the packed axis is read",
    )


def two_axes(tensor: str, label: NameSyntax, read: Span) -> Diagnostic:
    """Report an input that is read at its packed label on several axes."""
    return _told(
        f"'{tensor}' has the label '{label.text}' on two axes",
        label.span,
        "does not say which axis is packed",
        "read one of the axes at another label",
        Note("read so here", read),
    )


def padded(tensor: str, node: Indexed) -> Diagnostic:
    """Report a packed input that is read through a pad with another value than 0."""
    return _told(
        f"a packed '{tensor}' can only be padded with 0",
        node.span,
        "has another value outside",
        "pad it with 0, or give its numbers a Func of their own and pad that",
    )


def at_data(tensor: str, node: Indexed) -> Diagnostic:
    """Report a packed input whose packed axis is read at an index that is data."""
    return _told(
        f"the packed axis of '{tensor}' is read at an index that is data",
        node.span,
        "would be half of a byte anywhere",
        f"read another axis of '{tensor}' at data, or unpack it in a Func and read that",
    )


def written(into: NameSyntax, label: NameSyntax) -> Diagnostic:
    """Report a Func that goes into a packed input."""
    return _told(
        f"no Func goes into '{into.text}'",
        into.span,
        "is packed",
        "declare it as bytes, without 'packed', to write whole bytes",
        Note("packed here", label.span),
    )
