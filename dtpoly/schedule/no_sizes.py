"""Reports an error if no call can have an index of each label."""

from dtpoly.algorithm.equal_sizes import reads_by_axis
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.poly.possible import impossible


def check_possible(program: Program) -> tuple[Diagnostic, ...]:
    """Report an error if reads leave no room: tensors would have to show a size of 0."""
    found = impossible(program)
    if found is None:
        return ()
    spans = {label.name: label.span for label in program.labels}
    groups = reads_by_axis(program)
    group = groups[found.axes[-1]] if found.axes else []
    longest = max(group, key=lambda one: (len(one.index.terms), one.index.constant), default=None)
    names = [f"'{label}'" for label in found.labels]
    notes = [
        Note(
            f"axis {one.axis} of '{one.tensor}' is also read at {show_affine(one.index)}", one.span
        )
        for one in group
        if one is not longest
    ]
    notes += [
        Note(f"'{label}' is {size}, as declared")
        for label, size in program.fixed.items()
        if any(label in one.index.labels for one in group)
    ]
    title = f"no call has an index of {' and of '.join(names)}"
    if longest is None:
        first = found.labels[0] if found.labels else next(iter(spans))
        span, why = spans[first], "has no index in any call"
    else:
        span = longest.span
        why = f"needs more of axis {longest.axis} of '{longest.tensor}' than there can be"
    return (
        Diagnostic(
            "DT199",
            Severity.ERROR,
            title if names else "no tensors are as long as they are read",
            span,
            why,
            tuple(notes),
            "read another tensor there, or what is outside through pad, or use another label",
        ),
    )
