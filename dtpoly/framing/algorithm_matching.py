"""Matches the tensors of an algorithm with those that a kernel was launched with.

A tensor of the kernel can be one of the algorithm if its axes, some of them put together, have the
sizes of the labels in all launches. Which of them the kernel loads and stores is known from its
text. Names and order only decide which match is tried first.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product

from dtpoly.framing.launch_groups import BOTH, LOADED, GroupTensor, LaunchGroup, Row, times
from dtpoly.framing.plain_algorithm import PlainAlgorithm, PlainFunc, PlainInput
from dtpoly.framing.tensor_axes import AxesChoice, LabelledTensor, SeenAxis, plain_axes
from dtpoly.frozen import dataclass

MOST_MATCHES = 24
Part = PlainInput | PlainFunc


@dataclass(frozen=True, slots=True)
class AlgorithmMatch:
    """A group whose tensors have the names and labels of an algorithm."""

    group: LaunchGroup
    choice: AxesChoice
    # The Funcs that the kernel stores, those that go into an input, and other tensors.
    stored: tuple[str, ...]
    into: Mapping[str, str]
    dtypes: Mapping[str, str]
    others: Mapping[str, str]
    # Which tensor of the kernel each part of the algorithm is.
    pairs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class _Bound:
    """What is matched so far: the sizes of labels, and the tensor of each part."""

    rows: Mapping[str, Row]
    parts: Mapping[str, tuple[GroupTensor, tuple[SeenAxis, ...]]]


def matches(group: LaunchGroup, algorithm: PlainAlgorithm) -> tuple[AlgorithmMatch, ...]:
    """Return the ways to see a group as launches of an algorithm, the most probable one first."""
    stored = [one for one in group.tensors if one.use != LOADED]
    loaded = [one for one in group.tensors if one.use in (LOADED, BOTH)]
    fixed = {
        label: tuple(size for _ in range(group.count)) for label, size in algorithm.fixed.items()
    }
    found: list[tuple[float, AlgorithmMatch]] = []
    for with_results in _assigned(algorithm.results, stored, algorithm, _Bound(fixed, {})):
        used = {one.name for one, _ in with_results.parts.values()}
        more = [one for one in stored if one.name not in used and one.use != BOTH]
        for with_stored in _helpers(more, algorithm, with_results):
            names = [one.name for one in algorithm.inputs]
            for bound in _assigned(names, loaded, algorithm, with_stored):
                found.append((_score(bound, algorithm, group), _match(group, algorithm, bound)))
                if len(found) > MOST_MATCHES * MOST_MATCHES:
                    break
    found.sort(key=lambda pair: pair[0])
    return tuple(match for _, match in islice(found, MOST_MATCHES))


def _assigned(
    names: Sequence[str],
    tensors: Sequence[GroupTensor],
    algorithm: PlainAlgorithm,
    bound: _Bound,
) -> Iterator[_Bound]:
    """Yield the ways to give each name one of the tensors."""
    if not names:
        yield bound
        return
    part = _part(algorithm, names[0])
    for tensor in tensors:
        taken = {
            one.name
            for name, (one, _) in bound.parts.items()
            if name in names or _same(algorithm, name, names[0])
        }
        if tensor.name in taken:
            continue
        for with_this in _bound_to(part, tensor, bound):
            yield from _assigned(names[1:], tensors, algorithm, with_this)


def _same(algorithm: PlainAlgorithm, one: str, other: str) -> bool:
    """Return whether two parts are both inputs, or both Funcs."""
    inputs = {given.name for given in algorithm.inputs}
    return (one in inputs) == (other in inputs)


def _helpers(
    tensors: Sequence[GroupTensor], algorithm: PlainAlgorithm, bound: _Bound
) -> Iterator[_Bound]:
    """Yield the ways in which further tensors that are stored are Funcs that help."""
    if not tensors:
        yield bound
        return
    for func in algorithm.funcs:
        if func.name not in bound.parts:
            for with_this in _bound_to(func, tensors[0], bound):
                yield from _helpers(tensors[1:], algorithm, with_this)


def _bound_to(part: Part, tensor: GroupTensor, bound: _Bound) -> Iterator[_Bound]:
    """Yield the ways to see a tensor with the labels of a part."""
    for axes in _views(tensor, part.labels, bound):
        rows = dict(bound.rows)
        fits = True
        for label, axis in zip(part.labels, axes, strict=True):
            fits = fits and rows.setdefault(label, axis.sizes) == axis.sizes
        if fits:
            yield _Bound(rows, {**bound.parts, part.name: (tensor, axes)})


def _views(
    tensor: GroupTensor, labels: Sequence[str], bound: _Bound
) -> Iterator[tuple[SeenAxis, ...]]:
    """Yield the ways to see a tensor with so many axes, neighbours put together."""
    axes = plain_axes(tensor)
    ones = [label for label in labels if set(bound.rows.get(label, (0,))) == {1}]
    if len(axes) + len(ones) == len(labels) and ones and not axes:
        count = len(bound.rows[ones[0]])
        yield tuple(SeenAxis((1,) * count, (1,) * count) for _ in labels)
        return
    if len(axes) < len(labels):
        return
    together = [one.strides == times(other.strides, other.sizes) for one, other in pairwise(axes)]
    for way in product(*([True, False] if one else [False] for one in together)):
        if len(axes) - sum(way) != len(labels):
            continue
        seen: list[SeenAxis] = []
        for at, axis in enumerate(axes):
            if at and way[at - 1]:
                before = seen.pop()
                seen.append(SeenAxis(times(before.sizes, axis.sizes), axis.strides))
            else:
                seen.append(axis)
        yield tuple(seen)


def _part(algorithm: PlainAlgorithm, name: str) -> Part:
    parts: list[Part] = [*algorithm.inputs, *algorithm.funcs]
    return next(one for one in parts if one.name == name)


def _score(bound: _Bound, algorithm: PlainAlgorithm, group: LaunchGroup) -> float:
    """Return how improbable a match is by names and order."""
    order = [one.name for one in group.tensors]
    total = 0.0
    places: list[int] = []
    for name, (tensor, _) in bound.parts.items():
        one, other = name.lower(), tensor.name.lower()
        total += 0.0 if one == other else 0.5 if one in other or other in one else 1.0
        if name in {given.name for given in algorithm.inputs}:
            places.append(order.index(tensor.name))
    total += sum(0.6 for one, other in pairwise(places) if one > other)
    unused = [one for one in group.tensors if one.use != LOADED]
    matched = {tensor.name for tensor, _ in bound.parts.values()}
    return total + sum(5.0 for one in unused if one.name not in matched)


def _match(group: LaunchGroup, algorithm: PlainAlgorithm, bound: _Bound) -> AlgorithmMatch:
    """Return the group with the names of the algorithm."""
    inputs = {one.name for one in algorithm.inputs}
    funcs = [name for name in bound.parts if name not in inputs]
    by_tensor: dict[str, str] = {}
    for name in (*funcs, *(one for one in bound.parts if one in inputs)):
        # A tensor that is both is passed as the input: the Func goes into it.
        by_tensor[bound.parts[name][0].name] = name
    into = {
        name: by_tensor[bound.parts[name][0].name]
        for name in funcs
        if by_tensor[bound.parts[name][0].name] in inputs
    }
    tensors: list[GroupTensor] = []
    seen: list[LabelledTensor] = []
    others: dict[str, str] = {}
    taken = {*inputs, *(one.name for one in algorithm.funcs), *algorithm.labels, *algorithm.scalars}
    for one in group.tensors:
        if one.name not in by_tensor:
            other = one.name
            while other in taken:
                other = f"{other}_"
            others[other] = one.dtype
            tensors.append(replace(one, name=other))
            continue
        name = by_tensor[one.name]
        tensor = replace(one, name=name)
        tensors.append(tensor)
        seen.append(LabelledTensor(tensor, bound.parts[name][1], _part(algorithm, name).labels))
    return AlgorithmMatch(
        replace(group, tensors=tuple(tensors)),
        AxesChoice(tuple(seen), bound.rows, 0.0),
        tuple(funcs),
        into,
        {name: tensor.dtype for name, (tensor, _) in bound.parts.items()},
        others,
        tuple((name, tensor.name) for name, (tensor, _) in bound.parts.items()),
    )


def scalar_names(group: LaunchGroup, algorithm: PlainAlgorithm) -> dict[str, str]:
    """Return which number of the algorithm a parameter is: by its name, else in order."""
    floats = [
        name
        for name, value in group.fixed.items()
        if isinstance(value, float) and name not in group.constants
    ]
    found: dict[str, str] = {}
    for scalar in algorithm.scalars:
        alike = [one for one in floats if one not in found and scalar.lower() in one.lower()]
        rest = [one for one in floats if one not in found]
        if alike or rest:
            found[(alike or rest)[0]] = scalar
    return found


def numbers_for(
    group: LaunchGroup, algorithm: PlainAlgorithm, scalars: Mapping[str, str]
) -> dict[str, str]:
    """Return the numbers of an algorithm that no parameter chooses: a constant has their name."""
    found: dict[str, str] = {}
    for scalar in algorithm.scalars:
        for name, value in group.fixed.items():
            is_alike = scalar.lower() in name.lower() and scalar not in scalars.values()
            if is_alike and isinstance(value, float) and scalar not in found:
                found[scalar] = repr(value)
    return found


def fixed_labels(group: LaunchGroup, labels: Mapping[str, Row]) -> dict[str, int]:
    """Return the sizes that are constants of the kernel, and the same in all launches."""
    constants = [row for name, row in group.numbers.items() if name in group.constants]
    varies = any(len(set(row)) > 1 for row in labels.values())
    return {
        label: row[0]
        for label, row in labels.items()
        if varies and len(set(row)) == 1 and row in constants
    }
