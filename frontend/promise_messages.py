"""Messages about promises of range, which are declared `In T: i64 within len(v);`."""

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

from .symbols import Symbol, declared_here, what
from .syntax import NameSyntax, Node, NumberSyntax


def _told(title: str, span: Span, seen: str, hint: str, *more: Note | Edit) -> Diagnostic:
    notes = tuple(one for one in more if isinstance(one, Note))
    edits = tuple(one for one in more if isinstance(one, Edit))
    return Diagnostic("DT254", Severity.ERROR, title, span, seen, notes, hint, edits)


def no_input(symbol: Symbol, within: Span) -> Diagnostic:
    """Report a promise about something else than a tensor input."""
    return _told(
        f"'{symbol.name}' is {what(symbol)}, and a promise of range is about a tensor input",
        within,
        "nobody can promise this",
        "a promise is about elements that the caller passes: In T: i64 within len(v)",
    )


def packed(symbol: Symbol, within: Span) -> Diagnostic:
    """Report a promise about a packed input."""
    return _told(
        f"'{symbol.name}' is packed, and so there can be no promise of its range",
        within,
        "its elements share bytes",
        "leave the promise out, and every index that is made of it is tested; or pass an input "
        "that is not packed",
        declared_here(symbol),
    )


def no_whole_numbers(symbol: Symbol, within: Span) -> Diagnostic:
    """Report a promise about an input that may have other elements than whole numbers."""
    is_open = symbol.dtype is None
    found = "no dtype, so they may be floats" if is_open else f"the dtype {symbol.dtype}"
    return _told(
        f"elements within a range are whole numbers, and those of '{symbol.name}' have {found}",
        within,
        "a range of indices",
        f"declare it with a dtype of whole numbers: In {symbol.name}: i64 within ...",
        declared_here(symbol),
    )


def written(symbol: Symbol, writer: Symbol, within: Span) -> Diagnostic:
    """Report a promise about an input that the function writes."""
    return _told(
        f"'{symbol.name}' is written in place, and so there can be no promise of its range",
        within,
        "is about elements that are replaced",
        f"leave the promise out, or leave out 'into {symbol.name}'",
        Note(f"'{writer.name}' goes into it", writer.span),
    )


def no_label(tensor: str, label: NameSyntax, symbol: Symbol) -> Diagnostic:
    """Report the size of something else than a label as a bound."""
    return _told(
        f"'{symbol.name}' has no size that elements of '{tensor}' could be within",
        label.span,
        f"is {what(symbol)}",
        "name a label: it gets the size of the axis that is read at these elements",
        declared_here(symbol),
    )


def bare_label(tensor: str, label: NameSyntax) -> Diagnostic:
    """Report a label as a bound, in the place of its size."""
    meant = f"len({label.text})"
    return _told(
        f"elements of '{tensor}' are within a size, and '{label.text}' is a label",
        label.span,
        "its index, not its size",
        f"write {meant}",
        Edit(label.span, meant),
    )


def no_number(tensor: str, number: NumberSyntax, most: int) -> Diagnostic:
    """Report a number that is no bound."""
    return _told(
        f"elements of '{tensor}' cannot be within {number.text}",
        number.span,
        f"not a whole number from 1 to {most}",
        "elements within a number are at least 0 and below the number",
    )


def no_bound(tensor: str, node: Node) -> Diagnostic:
    """Report something else than a size or a number as a bound."""
    return _told(
        f"this cannot be what elements of '{tensor}' are within",
        node.span,
        "neither the size of a label nor a number",
        "write len(v), with v a label, or a number: In T: i64 within len(v)",
    )


def useless(symbol: Symbol, within: Span) -> Diagnostic:
    """Report a promise that no index makes use of."""
    return _told(
        f"nothing is read or written at an element of '{symbol.name}' alone",
        within,
        "a promise that changes nothing",
        "leave the promise out: an index that is computed, or that may be read outside of "
        f"'{symbol.name}', is tested anyway",
        declared_here(symbol),
    )
