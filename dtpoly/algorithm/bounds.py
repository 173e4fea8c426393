"""Reports reads that are outside their tensor whatever the sizes are."""

from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.expressions import Affine, Integer, Read, reads
from dtpoly.algorithm.index_ends import ends
from dtpoly.algorithm.label_sizes import extent_label
from dtpoly.algorithm.program import Program, reads_of_place
from dtpoly.algorithm.show import show_expr
from dtpoly.diagnostics import Diagnostic, Edit, Severity
from dtpoly.source import Span


def check_reads(program: Program) -> list[Diagnostic]:
    """Report each read that is outside its tensor for all sizes, once."""
    return [
        diagnostic
        for func in program.funcs
        for read in (*reads(func.body), *reads_of_place(func))
        if read.padding is None
        for diagnostic in tuple(_check_read(program, read))[:1]
    ]


def _check_read(program: Program, read: Read) -> Iterator[Diagnostic]:
    padded = show_expr(replace(read, padding=Integer(0)))
    for axis, index in enumerate(read.indices):
        if index.data is not None:
            continue
        first = ends(index, dict.fromkeys(index.labels, 1))[0]
        if first < 0 and _is_positive(index):
            yield Diagnostic(
                "DT137",
                Severity.ERROR,
                f"{show_expr(read)} reads before the start of '{read.tensor}'",
                read.span,
                f"starts at {first} of axis {axis}",
                hint=f"say which value is outside: {padded}",
                edits=_pad_edit(read),
            )
    for axis, index in enumerate(read.indices):
        extent = extent_label(program, read.tensor, axis)
        alone = extent is not None and index.labels == (extent,)
        if alone and not index.is_plain and not index.divisions and _is_positive(index):
            yield Diagnostic(
                "DT171",
                Severity.ERROR,
                f"{show_expr(read)} reads past the end of '{read.tensor}'",
                read.span,
                f"axis {axis} ends where '{extent}' ends",
                hint=f"say which value is outside: {padded}; or define '{read.tensor}' "
                "over another label, which is as large as it is read",
                edits=_pad_edit(read),
            )


def _is_positive(index: Affine) -> bool:
    return all(coefficient > 0 for _, coefficient in index.terms)


def _pad_edit(read: Read) -> tuple[Edit, ...]:
    """Return the edit that reads the tensor through a pad.

    The name of the tensor is searched, since the span of a read in parentheses includes these.
    """
    if read.span is None:
        return ()
    start = read.span.source.text.index(read.tensor, read.span.start)
    name = Span(read.span.source, start, start + len(read.tensor))
    return (Edit(name, f"pad({read.tensor}, 0)"),)
