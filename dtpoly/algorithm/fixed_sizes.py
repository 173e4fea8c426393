"""Reports sizes that are fixed in a file and contradict each other, whatever the tensors are."""

from collections.abc import Iterator, Mapping

from dtpoly.algorithm.equal_sizes import Shape, alone, always_equal, reads_by_axis
from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.index_ends import ends
from dtpoly.algorithm.label_sizes import extent_label, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show_affine
from dtpoly.algorithm.size_rule import AxisRead
from dtpoly.diagnostics import Diagnostic, Note, Severity
from dtpoly.source import Span


def check_fixed(program: Program) -> list[Diagnostic]:
    """Report labels that share one size but are fixed at two, else axes that no tensor can have."""
    if not program.fixed:
        return []
    return list(_two_sizes(program)) or list(_no_extent(program))


def _two_sizes(program: Program) -> Iterator[Diagnostic]:
    fixed, spans = program.fixed, {label.name: label.span for label in program.labels}
    used = used_labels(program)
    leader = {label.name: label.name for label in program.labels if label.name in used}
    for one, two in always_equal(program):
        first, second = leader[one], leader[two]
        mine, other = (_fixed_in(leader, some, fixed) for some in (first, second))
        if mine is not None and other is not None and fixed[mine] != fixed[other]:
            yield _contradiction(
                f"'{mine}' and '{other}' always have one size, and are fixed at two",
                spans[other],
                f"{fixed[other]} here",
                (Note(f"'{mine}' is {fixed[mine]}", spans[mine]),),
            )
            return
        leader = {name: first if v == second else v for name, v in leader.items()}


def _fixed_in(leader: Mapping[str, str], first: str, fixed: Mapping[str, int]) -> str | None:
    return next((name for name, of in leader.items() if of == first and name in fixed), None)


def _no_extent(program: Program) -> Iterator[Diagnostic]:
    fixed = program.fixed
    for (tensor, axis), group in reads_by_axis(program).items():
        extent = extent_label(program, tensor, axis)
        least, most = (0, None) if extent not in fixed else (fixed[extent], fixed[extent])
        why = "" if most is None else f"'{extent}' is {most}"
        for read in sorted(group, key=lambda one: _reach(one.index, fixed) or (0, 0)):
            reached = _reach(read.index, fixed)
            if reached is None:
                continue
            low, high = reached
            index = show_affine(read.index)
            if low < 0:
                yield _contradiction(
                    f"{index} is below 0 for the sizes that are fixed",
                    read.span,
                    f"reaches {low} of axis {axis} of '{tensor}'",
                )
                return
            least = max(least, high + 1)
            if most is not None and least > most:
                yield _none(tensor, axis, read.span, f"{index} reaches {high}, but {why}")
                return
        for label, shape in alone(group).items():
            if label not in fixed or fixed[label] in _rooms(shape):
                continue
            mine = sorted((r for r in group if r.decides_alone == label), key=_is_down)
            ends = [c * fixed[label] + d for c, d in shape if c > 0]
            if not ends:
                room, index = min(_rooms(shape)), show_affine(mine[0].index)
                why = f"{index} has room for {room} of '{label}', which is {fixed[label]}"
                yield _none(tensor, axis, mine[0].span, why)
                return
            if most is None or max(ends) < most:
                most = max(ends)
                why = f"'{label}' is {fixed[label]}, so the axis has at most {most} elements"
            if least > most:
                yield _none(tensor, axis, mine[0].span, f"an index reaches {least - 1}, but {why}")
                return


def _is_down(read: AxisRead) -> tuple[bool, int]:
    """Sort key: indices that count up come first, then those that have the least room."""
    ((_, by),) = read.index.linear
    return by < 0, read.index.constant // -by if by < 0 else 0


def _rooms(shape: Shape) -> tuple[int, ...]:
    """Return for each falling index, such as `5 - x`, the number of values of x that it allows.

    There are 6 for `5 - x`, however long the axis is.
    """
    return tuple(constant // -by + 1 for by, constant in shape if by < 0)


def _reach(index: Affine, fixed: Mapping[str, int]) -> tuple[int, int] | None:
    """Return the least and the largest value of an index whose labels are all fixed, or None."""
    if not all(label in fixed for label in index.labels):
        return None
    return ends(index, fixed)


def _none(tensor: str, axis: int, span: Span | None, why: str) -> Diagnostic:
    title = f"no tensor has an axis {axis} of '{tensor}' that fits the sizes that are fixed"
    return _contradiction(title, span, why)


def _contradiction(
    title: str, span: Span | None, label: str, notes: tuple[Note, ...] = ()
) -> Diagnostic:
    return Diagnostic(
        "DT168",
        Severity.ERROR,
        title,
        span,
        label,
        notes,
        "fix sizes that agree, or fix fewer of them: tensors decide the others",
    )
