"""Computes a part of a case's results with the reference, where all of it would take too long.

A part has the first indices of some labels, or as many from another place. That is the same
algorithm for smaller tensors, if nothing else depends on where a label ends: the label is not
reduced over, its size is no value, and all reads along it are at the label itself.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import torch

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import (
    Conditions,
    Dot,
    Expr,
    Index,
    Read,
    Reduce,
    Size,
    labels_of_conditions,
    walk,
)
from dtpoly.algorithm.program import Program, in_order, reduced_labels, scanned_labels, touched
from dtpoly.reference.inputs import Number
from dtpoly.reference.run import run
from dtpoly.runtime.tolerance import allowed_of, computed, share_lost

Inputs = Mapping[str, torch.Tensor | Number]
ENOUGH = 1 << 24  # elements and steps that the reference takes in a moment
FEW = 3  # indices of a label that a part keeps at least


@dataclass(frozen=True, slots=True)
class Part:
    """The indices that are looked at: of some labels only so many, from one on."""

    sizes: Mapping[str, int]  # of all labels
    cut: Mapping[str, int]  # labels that are cut, with the first index that is taken

    def of(self, tensor: torch.Tensor, labels: Sequence[str]) -> torch.Tensor:
        """Return what a part has of a result."""
        for axis, label in enumerate(labels):
            if label in self.cut:
                tensor = tensor.narrow(axis, self.cut[label], self.sizes[label])
        return tensor


@dataclass(frozen=True, slots=True)
class Expected:
    """A part of a result as it should be, and how far rounding may put one from it."""

    part: Part
    labels: tuple[str, ...]
    exact: torch.Tensor
    rough: torch.Tensor
    allowed: float


def parts(program: Program, results: Sequence[str], sizes: Mapping[str, int]) -> Iterator[Part]:
    """Yield the first part of the results, and the last one where indices are no values."""
    groups = _groups(program, results)
    small = dict(sizes)
    while _work(program, results, small) > ENOUGH:
        left = [one for one in groups if small[one[0]] > FEW]
        if not left:
            break
        longest = max(left, key=lambda one: small[one[0]])
        small |= dict.fromkeys(longest, max(small[longest[0]] // 2, FEW))
    cut = [x for one in groups for x in one if small[x] != sizes[x]]
    yield Part(small, dict.fromkeys(cut, 0))
    values = {node.label for node in _nodes(program, results) if isinstance(node, Index)}
    values |= {x for one in _whens(program, results) for x in labels_of_conditions(one)}
    still = {x for one in groups if values & {*one} for x in one}
    last = {x: 0 if x in still else sizes[x] - small[x] for x in cut}
    if any(last.values()):
        yield Part(small, last)


def expected(
    program: Program, results: Sequence[str], inputs: Inputs, part: Part, is_rough: bool, dtype: str
) -> dict[str, Expected]:
    """Return what a part of each result should be."""
    axes = _axes(program, results)
    given = {name: _cut(value, axes.get(name, {}), part) for name, value in inputs.items()}

    def of(compute: torch.dtype, rough: bool = False) -> dict[str, torch.Tensor]:
        return run(
            program, given, sizes=part.sizes, wanted=results, compute=compute, is_rough=rough
        )

    kind = DType(dtype)
    exact, rough = of(torch.float64), of(computed(program, kind))
    less = of(torch.float64, rough=True) if is_rough else {}
    found: dict[str, Expected] = {}
    for name in results:
        share = share_lost(program, name, part.sizes, kind, is_rough)
        allowed = allowed_of(exact[name], rough[name], share, less.get(name))
        func = program.func(name)
        # Of what goes to places, the axes are those of the tensor, none of which is cut.
        labels = () if func.into is not None and func.into.at is not None else func.labels
        found[name] = Expected(part, labels, exact[name], rough[name], allowed)
    return found


def _cut(
    value: torch.Tensor | Number, axes: Mapping[int, str], part: Part
) -> torch.Tensor | Number:
    """Return what a part has of an input."""
    if not isinstance(value, torch.Tensor):
        return value
    for axis, label in axes.items():
        if label in part.cut:
            value = value.narrow(axis, part.cut[label], part.sizes[label])
    return value


def _nodes(program: Program, results: Sequence[str]) -> Iterator[Expr]:
    for func in in_order(program, results):
        yield from walk(func.body)


def _whens(program: Program, results: Sequence[str]) -> Iterator[Conditions]:
    for func in in_order(program, results):
        yield func.when
    for node in _nodes(program, results):
        if isinstance(node, Reduce | Dot):
            yield node.when


def _work(program: Program, results: Sequence[str], sizes: Mapping[str, int]) -> int:
    """Return about how many elements and steps the reference has to compute."""
    funcs = in_order(program, results)
    return sum(
        prod(sizes[x] for x in {*one.labels, *reduced_labels(one), *scanned_labels(one)})
        for one in funcs
    )


def _touched(program: Program, results: Sequence[str]) -> list[Read]:
    return [read for func in in_order(program, results) for read in touched(func)]


def _axes(program: Program, results: Sequence[str]) -> dict[str, dict[int, str]]:
    """Return, for each tensor and axis, a label at which it is read."""
    found: dict[str, dict[int, str]] = {}
    for read in _touched(program, results):
        for axis, index in enumerate(read.indices):
            if index.plain is not None:
                found.setdefault(read.tensor, {}).setdefault(axis, index.plain)
    return found


def _groups(program: Program, results: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the labels that can be cut, together with all that have the same size then."""
    same: dict[str, frozenset[str]] = {}

    def join(names: Sequence[str]) -> None:
        every = frozenset(names).union(*(same.get(x, frozenset()) for x in names))
        same.update(dict.fromkeys(every, every))

    fixed = {label.name for label in program.labels if label.size is not None}
    fixed |= {node.label for node in _nodes(program, results) if isinstance(node, Size)}
    fixed |= {x for one in _whens(program, results) for w in one for x in w.sizes.labels}
    for func in in_order(program, results):
        fixed |= {*reduced_labels(func), *scanned_labels(func)}
        fixed |= {*func.labels} if func.into is not None and func.into.at is not None else set()
        for axis, label in enumerate(func.labels):
            join((label, _axis(func.name, axis)))
            if func.into is not None and func.into.at is None:
                join((label, _axis(func.into.tensor, axis)))
    for read in _touched(program, results):
        for axis, index in enumerate(read.indices):
            name = _axis(read.tensor, axis)
            if index.plain is not None and read.padding is None:
                join((index.plain, name))
            else:
                fixed |= {name, *(index.labels if index.data is None else ())}
    named = [label.name for label in program.labels if label.name in same]
    groups = dict.fromkeys(same[x] for x in named if not fixed & same[x])
    return [tuple(x for x in named if x in one) for one in groups]


def _axis(tensor: str, axis: int) -> str:
    """Return a name for an axis, which no label has."""
    return f"{tensor} {axis}"
