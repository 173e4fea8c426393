"""Messages about results in place, which are declared `Func w into W;`."""

from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

from .syntax import NameSyntax

_CODE = "DT212"


def not_a_func(name: NameSyntax, into: NameSyntax, kind: str) -> Diagnostic:
    """Report an input or a label that is declared to be written into a tensor."""
    cut = Span(name.span.source, name.span.end, into.span.end)
    return Diagnostic(
        _CODE,
        Severity.ERROR,
        f"'{name.text}' cannot go into '{into.text}'",
        into.span,
        f"'{name.text}' is declared as {kind}",
        hint=f"remove it: only a Func is written into a tensor, as in Func f into {into.text}",
        edits=(Edit(cut, ""),),
    )


def not_an_input(func: str, into: NameSyntax, note: Note) -> Diagnostic:
    """Report a Func that goes into something else than a tensor of the caller."""
    return Diagnostic(
        _CODE,
        Severity.ERROR,
        f"'{func}' cannot go into '{into.text}'",
        into.span,
        "no tensor input",
        (note,),
        f"name a tensor that the caller passes, declared as in In {into.text}_in",
    )


def taken_twice(func: str, into: NameSyntax, other: str, first: Span) -> Diagnostic:
    """Report a tensor that two Funcs go into."""
    return Diagnostic(
        _CODE,
        Severity.ERROR,
        f"'{func}' cannot go into '{into.text}'",
        into.span,
        f"'{other}' goes there, too",
        (Note("the other Func is declared here", first),),
        "let one of the two have a tensor of its own",
    )


def other_rank(func: str, into: NameSyntax, own: int, rank: int, first: Span) -> Diagnostic:
    """Report a tensor that has not as many axes as the Func has labels."""
    axes = f"{own} label{'s' * (own != 1)}"
    return Diagnostic(
        _CODE,
        Severity.ERROR,
        f"'{func}' cannot go into '{into.text}'",
        into.span,
        f"'{func}' has {axes}",
        (Note(f"'{into.text}' has {rank} ax{'es' if rank != 1 else 'is'} here", first),),
        f"an element of '{func}' takes the place of the one with the same indices: give both "
        "the same axes, in one order",
    )


def other_dtype(
    func: str, own: str, into: NameSyntax, dtype: str | None, where: Span
) -> Diagnostic:
    """Report a tensor that is not declared with the dtype of the Func."""
    said = f"is declared {dtype}" if dtype else "has no declared dtype"
    edits = (Edit(Span(where.source, where.end, where.end), f": {own}"),) if dtype is None else ()
    return Diagnostic(
        _CODE,
        Severity.ERROR,
        f"'{func}' is declared {own}, and goes into '{into.text}'",
        into.span,
        f"'{into.text}' {said}",
        (Note(f"'{into.text}' is declared here", where),),
        f"declare both alike, as in In {into.text}: {own}; or leave out the dtype of '{func}': "
        f"it has that of '{into.text}'",
        edits,
    )
