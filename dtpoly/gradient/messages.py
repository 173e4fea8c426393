"""The messages about what cannot be differentiated."""

from collections.abc import Iterable

from dtpoly.algorithm.inference import types_of
from dtpoly.algorithm.program import Func, Program, Scalar, Tensor
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Span


def no_float(name: str, dtype: str, span: Span | None, *, is_result: bool) -> Diagnostic:
    """Report a result, or an input, that has no gradient since it is made of whole numbers."""
    what = "there is no gradient of" if is_result else "there is no gradient by"
    return Diagnostic(
        "DT270",
        Severity.ERROR,
        f"{what} '{name}', which is {dtype}",
        span,
        f"is {dtype}",
        hint="gradients are of floats and by floats: name another one",
    )


def without_floats(program: Program, names: Iterable[str]) -> list[Diagnostic]:
    """Report the results of a file of which none is a float."""
    types = types_of(program)
    funcs = {name: program.func(name) for name in names}
    return [
        no_float(name, str(types[name].dtype), func.span or func.body.span, is_result=True)
        for name, func in funcs.items()
    ]


def without_inputs(of: Func) -> Diagnostic:
    """Report a result that depends on no tensor of floats by a derivative."""
    return Diagnostic(
        "DT271",
        Severity.ERROR,
        f"'{of.name}' depends on no tensor of floats, or only where the derivative is 0",
        of.body.span,
        "is made of whole numbers, conditions and what is rounded",
        hint="name what it is differentiated by, as in --by s for a number s of the call",
    )


def no_dependence(of: Func, by: Tensor | Scalar, reached: Func | None) -> Diagnostic:
    """Report a result that does not depend on an input, or only where the derivative is 0."""
    notes: tuple[Note, ...] = ()
    title = f"'{of.name}' does not depend on '{by.name}'"
    if reached is not None:
        title = f"'{of.name}' depends on '{by.name}' only where the derivative is 0"
        text = (
            f"'{reached.name}' reads it in a condition, in an index, or rounded to a whole number"
        )
        notes = (Note(text, reached.body.span),)
    return Diagnostic(
        "DT271",
        Severity.ERROR,
        title,
        by.span,
        "is declared here",
        notes,
        "leave it out of --by: its gradient is 0",
    )


def no_rule(what: str, span: Span | None, why: str, way: str) -> Diagnostic:
    """Report a part of an algorithm for which no rule is known."""
    return Diagnostic(
        "DT272", Severity.ERROR, f"the gradient of {what} has no rule", span, why, hint=way
    )


def replaced(tensor: str, writer: Func, reader: Func) -> Diagnostic:
    """Report values that the gradient needs and that the algorithm replaces."""
    span = None if writer.into is None else writer.into.span
    reads = "the gradient computes this again"
    if reader.body.span is None:
        reads = f"'{reader.name}' of the gradient reads them"
    return Diagnostic(
        "DT273",
        Severity.ERROR,
        f"the gradient needs the values of '{tensor}' that '{writer.name}' replaces",
        span,
        f"is written into '{tensor}'",
        (Note(reads, reader.body.span),),
        f"leave out 'into {tensor}', so that the values are still there",
    )


def size_not_kept(label: str, span: Span | None) -> Diagnostic:
    """Report a label that could have another size in the gradient than in the algorithm."""
    return Diagnostic(
        "DT274",
        Severity.ERROR,
        f"what the gradient reads does not show the size of '{label}'",
        span,
        "is decided by sums of labels that the gradient does not have",
        hint=f"fix it, as in 'Var {label}: 16;', or read a tensor at '{label}' alone",
    )
