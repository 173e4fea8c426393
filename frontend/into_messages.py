"""Messages about results in place, which are declared `Func w into W;`."""

from collections.abc import Sequence
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Read
from dtpoly.algorithm.program import Func
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Edit, Note, Severity
from dtpoly.source import Span

from .syntax import IntoSyntax, NameSyntax

_CODE = "DT212"
_PLACE = "DT214"


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


def word_alone(func: str, into: IntoSyntax, word: NameSyntax) -> Diagnostic:
    """Report `distinct` or `add` where no place is named: both words are about places."""
    cut = Span(word.span.source, into.tensor.span.end, word.span.end)
    is_added = word.text == "add"
    what = "to which it could be added" if is_added else "that could be distinct"
    here = "; to add at the same indices, write the sum" if is_added else ""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"'{func}' names no place {what}",
        word.span,
        "each element has its own indices",
        hint=f"remove it, or name the place: at [...] {word.text}{here}",
        edits=(Edit(cut, ""),),
    )


def not_distinct(func: str, into: IntoSyntax, at: Read, labels: Sequence[str]) -> Diagnostic:
    """Report that two elements of a Func may be stored at one place."""
    first, end = labels[0], into.place.end + 1
    text = into.place.source.text
    end = text.index("]", into.place.end - 1) + 1 if "]" in text[into.place.end - 1 :] else end
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"two elements of '{func}' may have the same place",
        into.place,
        f"may be the same for two values of '{first}'",
        (
            Note(
                f"for example, {show_expr(replace(at, padding=None))} may be the same element for "
                f"{first} = 0 and {first} = 1: nothing is known of what the tensors hold"
            ),
        ),
        "promise that no two elements have the same place: write distinct behind it; or write add "
        "to add up the elements that have the same place",
        (Edit(Span(into.place.source, end, end), " distinct"),),
    )


def added_along(func: str, into: IntoSyntax, label: str) -> Diagnostic:
    """Report a label of a Func that is added at a place which does not depend on the label."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"all elements of '{func}' along '{label}' are added at one place",
        into.place,
        f"does not depend on '{label}'",
        hint=f"add them up in the definition: leave '{label}' out on the left side of '{func}', "
        f"and write rsum(..., {label}) on the right, with '{label}' declared by RVar",
    )


def not_addable(func: str, into: IntoSyntax, dtype: DType, declared: Span, word: str) -> Diagnostic:
    """Report a Func that is added to a tensor of a type in which memory cannot add.

    The `word` is the one that declares the tensor.
    """
    tensor = into.tensor.text
    wide = DType.F32 if is_float(dtype) else DType.I32
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"'{func}' cannot be added to '{tensor}', which is {dtype}",
        into.how.span if into.how is not None else into.place,
        f"memory cannot add numbers that are {dtype}",
        (Note(f"'{tensor}' is declared here", declared),),
        f"declare it wider, as in {word} {tensor}: {wide}; programs that add to one element at "
        f"the same time need an atomic operation, and GPUs have none for {dtype}",
    )


def foreign_label(func: str, into: IntoSyntax, label: str, labels: Sequence[str]) -> Diagnostic:
    """Report a place with a label that the Func has not."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"the place of '{func}' has the label '{label}'",
        into.place,
        f"'{func}' has no '{label}'",
        hint=f"the place of an element is made of its own labels: {', '.join(labels) or 'none'}",
    )


def reduced_place(func: str, into: IntoSyntax, span: Span | None) -> Diagnostic:
    """Report a place that is computed by a reduction."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"the place of '{func}' is computed by a reduction",
        span or into.place,
        "this reduction",
        hint="compute it in a file of its own, and pass the result as an input here",
    )


def computed_place(func: str, into: IntoSyntax, read: Read, note: Note) -> Diagnostic:
    """Report a place that is made of elements of a Func."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"the place of '{func}' is made of the Func '{read.tensor}'",
        read.span or into.place,
        "a Func",
        (note,),
        "a place is made of inputs: compute the Func in a file of its own, and pass its result",
    )


def written_place(func: str, into: IntoSyntax, read: Read, note: Note) -> Diagnostic:
    """Report a place that is made of elements that the function replaces."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"the place of '{func}' is made of '{read.tensor}', which is written in place",
        read.span or into.place,
        "may have been replaced before it is read",
        (note,),
        f"pass another tensor for the place, or leave out 'into {read.tensor}'",
    )


def start_in_place(func: str, into: NameSyntax, tensor: NameSyntax) -> Diagnostic:
    """Report a Func that goes into one which goes into a tensor itself."""
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"'{func}' goes into '{into.text}', which goes into '{tensor.text}' itself",
        into.span,
        "has no tensor of its own",
        hint=f"let '{func}' go into '{tensor.text}', or into a Func of its own that says what its "
        "sums begin with",
    )


def read_start(read: Read, func: Func, reader: str) -> Diagnostic:
    """Report a Func that is read although another one is added to its elements."""
    assert func.into is not None
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"'{reader}' reads '{read.tensor}', to which '{func.name}' is added",
        read.span,
        "is only what sums begin with",
        (Note(f"'{func.name}' goes into it", func.into.span),),
        f"give its value to a Func of its own, which '{read.tensor}' and '{reader}' read",
    )


def read_at_place(read: Read, func: Func, reader: str) -> Diagnostic:
    """Report a Func that is read although its elements lie at places of another tensor."""
    assert func.into is not None
    return Diagnostic(
        _PLACE,
        Severity.ERROR,
        f"'{reader}' reads '{func.name}', whose elements are in '{func.into.tensor}'",
        read.span,
        "has no tensor of its own",
        (Note(f"it goes to a place in '{func.into.tensor}'", func.into.span),),
        f"give its value to a Func of its own, which '{func.name}' and '{reader}' read",
    )
