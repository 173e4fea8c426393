"""Builds the messages about mistakes in the sizes of a call."""

from collections.abc import Mapping, Sequence

from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.show import show_affine
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Span


def must_be_passed(label: str, instead: Sequence[str] = ()) -> Diagnostic:
    """Report a size that nothing decides.

    `instead` are labels whose sizes may be passed in its place.
    """
    others = ", ".join(f"{one}=..." for one in instead)
    return Diagnostic(
        "DT170",
        Severity.ERROR,
        f"the size of '{label}' must be passed",
        None,
        notes=(Note(f"no tensor shows it: no input is read at an index of '{label}' alone"),),
        hint=f"pass {label}=..." + (f"; or pass {others}, and it follows" if others else ""),
    )


def gives(read: str, extent: int, size: int) -> str:
    """Return which size an axis shows, for example "A.shape[0] is 8, which gives 4"."""
    return f"{read} is {extent}" + ("" if size == extent else f", which gives {size}")


def disagree(label: str, first: str, second: str, span: Span | None) -> Diagnostic:
    """Report that two tensors, or a tensor and an argument of the call, give a label two sizes."""
    return Diagnostic(
        "DT172",
        Severity.ERROR,
        f"the tensors disagree on the size of '{label}'",
        span,
        second,
        (Note(f"{first}, but {second}"),),
        f"every label has one size; use another label where '{label}' may differ",
    )


def outside(
    span: Span | None,
    tensor: str,
    axis: int,
    extent: int,
    index: Affine,
    reached: int,
    sizes: Mapping[str, int],
) -> Diagnostic:
    """Report a tensor that is too small for a read, with the sizes of the labels of the index."""
    said = ", ".join(f"{label}={sizes[label]}" for label in index.labels)
    what = f"{show_affine(index)} reaches {reached}" if index.terms else "this is beyond"
    return Diagnostic(
        "DT173",
        Severity.ERROR,
        f"'{tensor}' is read outside of axis {axis}",
        span,
        f"{tensor}.shape[{axis}] is {extent}, and {what}",
        notes=(Note(f"the sizes are {said}"),) if len(index.labels) > 1 else (),
        hint=f"pass a larger tensor, or read through pad({tensor}, 0)",
    )


def given_otherwise(label: str, size: int, fixed: int | None) -> Diagnostic:
    """Report a size that is not the one that the file fixes."""
    return Diagnostic(
        "DT169",
        Severity.ERROR,
        f"the size of '{label}' is {fixed}, not {size}",
        None,
        notes=(Note(f"the file fixes it: {label}: {fixed}"),),
        hint=f"leave {label} out, or change its declaration",
    )
