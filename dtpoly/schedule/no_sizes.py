"""Reports an error if no call can have an index of each label."""

from dtpoly.algorithm.equal_sizes import reads_by_axis
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.poly.empty_ranges import EmptyChoice, empty_choices
from dtpoly.poly.possible import impossible


def check_possible(program: Program) -> tuple[Diagnostic, ...]:
    """Report an error if reads leave no room: tensors would have to show a size of 0.

    So does a range that may have no index, where one of its indices must be chosen.
    """
    found = impossible(program)
    if found is None:
        return tuple(_nothing_to_choose(one) for one in empty_choices(program))
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


def _nothing_to_choose(found: EmptyChoice) -> Diagnostic:
    at = [f"{label} = {index}" for label, index in found.indices.items()]
    sizes = [f"len({label}) = {size}" for label, size in found.sizes.items()]
    label = found.expr.labels[0]
    return Diagnostic(
        "DT156",
        Severity.ERROR,
        f"'{found.expr.operation}' may have nothing to choose from",
        found.expr.span,
        f"no '{label}' is in its range at {', '.join((*at, *sizes))}",
        (Note("the index of an extreme exists only where there is an element"),),
        f"choose over a label whose range always has an index, as [0, m + 1) has for "
        f"each m; or reduce by r{found.expr.operation[4:]}, which has a value for nothing",
    )
