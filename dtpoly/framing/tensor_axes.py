"""Chooses the axes of tensors, and the labels that they share.

A wrapper often passes a tensor of three axes to a kernel that sees rows and columns, or none of
them. So neighbouring axes that lie side by side in memory may be one axis for the kernel. Of all
ways to see the tensors that way, the one counts that gives the numbers of the launches the simplest
formulas, with few labels.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from keyword import iskeyword
from math import inf, prod

from dtpoly.framing.formula_costs import FormulaCosts
from dtpoly.framing.launch_groups import WORDS, GroupTensor, LaunchGroup, Row, times
from dtpoly.framing.size_formulas import SizeFacts
from dtpoly.frozen import dataclass

Way = tuple[bool, ...]
MOST_WAYS = 128  # to see the tensors, of which each one is looked at
MOST_PARTS = 8  # of an axis, which another axis has that many times fewer of
# What counts for and against a way to see tensors.
FOR_A_LABEL, FOR_A_RELATION, FOR_A_STRIDE = 1.2, 4.0, 1.5
FOR_A_PART, FOR_A_NUMBER = 0.5, 1.5
LETTERS = ("r", "n", "m", "k", "s", "h", "d", "t", "u", "v", "w", "i", "j")


@dataclass(frozen=True, slots=True)
class SeenAxis:
    """An axis as the kernel sees it: its size, and its stride, in all launches."""

    sizes: Row
    strides: Row


@dataclass(frozen=True, slots=True)
class LabelledTensor:
    """A tensor with a label, or a number, for each axis that the kernel sees."""

    tensor: GroupTensor
    axes: tuple[SeenAxis, ...]
    words: tuple[str, ...]

    @property
    def is_dense(self) -> bool:
        """Return whether its elements lie side by side in the order of these axes."""
        inner = tuple(1 for _ in self.axes[0].sizes) if self.axes else ()
        for one in reversed(self.axes):
            if one.strides != inner:
                return False
            inner = times(inner, one.sizes)
        return True


@dataclass(frozen=True, slots=True)
class AxesChoice:
    """A way to see all tensors, the sizes of its labels, and how improbable it is."""

    tensors: tuple[LabelledTensor, ...]
    labels: Mapping[str, Row]
    cost: float
    # Whether the tensors have the axes that callers see, and sizes that never change are numbers.
    is_as_passed: bool = False


def axes_choices(group: LaunchGroup, until: float = inf) -> tuple[AxesChoice, ...]:
    """Return the ways to see the tensors of a group, the most probable one first.

    The second one has the tensors as they are passed, with numbers for sizes that never change:
    many kernels are written for that. If there are too many ways, those are looked at that differ
    in one class of tensors from the best one so far. After `until`, on the clock of this thread, no
    other way is looked at.
    """
    shapes = {one.name: _in_memory_order(plain_axes(one)) for one in group.tensors}
    classes = list(dict.fromkeys(_class(axes) for axes in shapes.values()))
    ways = [list(_ways(one)) for one in classes]
    costs = FormulaCosts(group.count, facts_of(group, {}).blocks)
    found: dict[tuple[Way, ...], list[AxesChoice]] = {}

    def cost_of(chosen: tuple[Way, ...]) -> float:
        """Return what the better choice with these ways costs; both of them are kept."""
        if chosen not in found:
            by_class = dict(zip(classes, chosen, strict=True))
            seen = {name: _merged(axes, by_class[_class(axes)]) for name, axes in shapes.items()}
            plain, numbers = (
                labelled(group, seen, costs, are_numbers=are_numbers)
                for are_numbers in (False, True)
            )
            is_whole = not any(map(any, chosen))
            found[chosen] = [plain, replace(numbers, is_as_passed=is_whole)]
        return min(one.cost for one in found[chosen])

    if prod(map(len, ways)) <= MOST_WAYS:
        for chosen in product(*ways):
            cost_of(chosen)
            if time.thread_time() > until:
                break
    else:
        for at in (0, -1):  # all axes put together, and none
            _descend(tuple(one[at] for one in ways), ways, cost_of, until)
    both = [one for chosen in found.values() for one in chosen]
    once = {str(one.tensors): one for one in reversed(both)}
    passed = [str(one.tensors) for one in both if one.is_as_passed]
    ordered = sorted(once.values(), key=lambda one: one.cost)
    rest = ordered[1:]
    first = [one for one in rest if str(one.tensors) in passed]
    return (*ordered[:1], *first, *(one for one in rest if one not in first))


def _descend(
    start: tuple[Way, ...],
    ways: Sequence[Sequence[Way]],
    cost_of: Callable[[tuple[Way, ...]], float],
    until: float,
) -> None:
    """Change the way of one class after the other, as long as that is more probable."""
    best, least = start, cost_of(start)
    is_better = True
    while is_better:
        is_better = False
        for at, some in enumerate(ways):
            for one in some:
                if time.thread_time() > until:
                    return
                other = (*best[:at], one, *best[at + 1 :])
                if (cost := cost_of(other)) < least:
                    best, least, is_better = other, cost, True


def labelled(
    group: LaunchGroup,
    seen: Mapping[str, Sequence[SeenAxis]],
    costs: FormulaCosts,
    *,
    are_numbers: bool = False,
) -> AxesChoice:
    """Return the tensors with labels: axes of one size have one label.

    A size that is the same in all launches has a label, too, unless all of these are numbers.
    """
    rows = dict.fromkeys(axis.sizes for axes in seen.values() for axis in axes)
    varies = group.count > 1 and any(not _is_one(one) for one in rows)
    fixed = {
        row for row in rows if varies and _is_one(row) and (are_numbers or _is_constant(row, group))
    }
    free = [row for row in rows if row not in fixed]
    parted = _parted(free, group)
    names = _names([row for row in free if row not in parted], group)
    tensors: list[LabelledTensor] = []
    for one in group.tensors:
        axes: list[SeenAxis] = []
        words: list[str] = []
        for axis in seen[one.name]:
            if axis.sizes in parted:
                count, inner = parted[axis.sizes]
                outer = tuple(
                    stride * size for stride, size in zip(axis.strides, inner, strict=True)
                )
                axes += [
                    SeenAxis(tuple(count for _ in inner), outer),
                    SeenAxis(inner, axis.strides),
                ]
                words += [str(count), names[inner]]
            else:
                axes.append(axis)
                words.append(str(axis.sizes[0]) if axis.sizes in fixed else names[axis.sizes])
        # A label stands once in a tensor; a second axis of the same size gets its own.
        tensors.append(LabelledTensor(one, tuple(axes), tuple(words)))
    tensors, labels = _once(tensors, {name: row for row, name in names.items()}, group)
    choice = AxesChoice(tuple(tensors), labels, 0.0)
    # Parts that no tensor shows, and sizes that are taken for numbers, are less probable.
    more = FOR_A_PART * len(parted) + FOR_A_NUMBER * are_numbers
    return AxesChoice(choice.tensors, labels, _cost(group, choice, costs) + more)


def facts_of(group: LaunchGroup, labels: Mapping[str, Row]) -> SizeFacts:
    """Return what formulas of a group may be made of."""
    blocks = [
        row[0] for name, row in group.numbers.items() if name in group.constants and _is_one(row)
    ]
    pairs = [one * other for at, one in enumerate(blocks) for other in blocks[at + 1 :]]
    return SizeFacts(group.count, labels, tuple(dict.fromkeys([*blocks, *pairs])))


def _is_one(row: Row) -> bool:
    return len(set(row)) == 1


def plain_axes(tensor: GroupTensor) -> tuple[SeenAxis, ...]:
    """Return the axes that count: those of size 1 and those that are repeated do not."""
    both = zip(tensor.sizes, tensor.strides, strict=True)
    axes = tuple(SeenAxis(sizes, strides) for sizes, strides in both)
    return tuple(one for one in axes if set(one.sizes) != {1} and set(one.strides) != {0})


def _in_memory_order(axes: tuple[SeenAxis, ...]) -> tuple[SeenAxis, ...]:
    """Return the axes of a tensor that was transposed as they lie in memory."""
    ordered = tuple(sorted(axes, key=lambda one: one.strides, reverse=True))
    falls = all(
        all(left >= right for left, right in zip(one.strides, other.strides, strict=True))
        for one, other in pairwise(ordered)
    )
    return ordered if falls else axes


def _class(axes: Sequence[SeenAxis]) -> tuple[tuple[Row, ...], tuple[bool, ...]]:
    """Return what tensors that are seen in one way have in common."""
    side_by_side = (
        one.strides == times(other.strides, other.sizes) for one, other in pairwise(axes)
    )
    return tuple(one.sizes for one in axes), tuple(side_by_side)


def _ways(of: tuple[tuple[Row, ...], tuple[bool, ...]]) -> Iterator[Way]:
    """Yield which neighbours become one axis; where they do not lie side by side, they cannot."""
    _, side_by_side = of
    yield from product(*([True, False] if one else [False] for one in side_by_side))


def _merged(axes: Sequence[SeenAxis], way: Sequence[bool]) -> tuple[SeenAxis, ...]:
    merged: list[SeenAxis] = []
    for at, axis in enumerate(axes):
        if at and way[at - 1]:
            before = merged.pop()
            merged.append(SeenAxis(times(before.sizes, axis.sizes), axis.strides))
        else:
            merged.append(axis)
    return tuple(merged)


def _is_constant(row: Row, group: LaunchGroup) -> bool:
    """Return whether a size is what a constant of the kernel is given."""
    return row in (group.numbers.get(name) for name in group.constants)


def _parted(rows: Sequence[Row], group: LaunchGroup) -> dict[Row, tuple[int, Row]]:
    """Return which sizes are made of parts, and of which; no part is made of parts itself."""
    found: dict[Row, tuple[int, Row]] = {}
    for row in sorted(rows):
        parts = _parts(row, [one for one in rows if one not in found], group)
        if parts is not None:
            found[row] = parts
    return found


def _parts(row: Row, rows: Sequence[Row], group: LaunchGroup) -> tuple[int, Row] | None:
    """Return how many times another size a size is, if it is made of that many parts."""
    is_passed = any(one == row for name, one in group.numbers.items() if not group.is_stride(name))
    if _is_one(row) or is_passed:
        return None
    for other in rows:
        for count in range(2, MOST_PARTS + 1):
            if row == tuple(count * one for one in other):
                return count, other
    return None


def _names(rows: Sequence[Row], group: LaunchGroup) -> dict[Row, str]:
    """Return a name for each size: that of a parameter that is given it, or a letter."""
    taken = {one.name for one in group.tensors} | {*WORDS}
    found: dict[Row, str] = {}
    for row in rows:
        given = [
            one.lower()
            for one, value in group.numbers.items()
            if value == row and not group.is_stride(one) and one not in group.constants
        ]
        letters = (*given, *LETTERS, *(f"{letter}{letter}" for letter in LETTERS))
        name = next(
            one for one in letters if one.isidentifier() and one not in taken and not iskeyword(one)
        )
        taken.add(name)
        found[row] = name
    return found


def _once(
    tensors: Sequence[LabelledTensor], labels: Mapping[str, Row], group: LaunchGroup
) -> tuple[list[LabelledTensor], dict[str, Row]]:
    """Give a second axis of a tensor that has the same label a label of its own."""
    found, all_labels = list[LabelledTensor](), dict(labels)
    taken = {one.name for one in group.tensors} | {*WORDS}
    for one in tensors:
        words: list[str] = []
        for word, axis in zip(one.words, one.axes, strict=True):
            used = word
            while used in words and not used.isdecimal():
                used = f"{used}2"
                while used in taken:
                    used = f"{used}_"
            if not used.isdecimal():
                all_labels.setdefault(used, axis.sizes)
            words.append(used)
        found.append(LabelledTensor(one.tensor, one.axes, tuple(words)))
    return found, all_labels


def _cost(group: LaunchGroup, choice: AxesChoice, costs: FormulaCosts) -> float:
    """Return how improbable a way to see the tensors is."""
    sizes = tuple(choice.labels.values())
    strides = {axis.strides for one in choice.tensors for axis in one.axes}
    total = FOR_A_LABEL * len(choice.labels)
    for name, row in group.numbers.items():
        if name in group.unread:
            continue
        cost = costs.of_number(row, sizes, is_constant=name in group.constants)
        if group.is_stride(name) and row in strides:
            cost = min(cost, FOR_A_STRIDE)
        total += cost
    total += sum(costs.of_grid(row, sizes) for row in group.grid)
    varied = [row for row in sizes if not _is_one(row)]
    products = {times(one, other) for at, one in enumerate(varied) for other in varied[at:]}
    return total + FOR_A_RELATION * sum(row in products for row in varied)
