"""Looks at the data of a call before its kernels run: at what is promised, and at each index.

It computes what indices are made of, on the device of the tensors, in the way of the reference. An
index that is outside of its tensor reads 0, or is written nowhere: that is a result which the
language gives a meaning, but nearly always a mistake of the caller.
"""

from collections.abc import Iterable, Iterator, Mapping

import torch

from dtpoly.algorithm.expressions import Affine, Read, data_of, free_labels, reads
from dtpoly.algorithm.label_sizes import sizes_of
from dtpoly.algorithm.program import Func, Into, Placing, Program, in_order
from dtpoly.algorithm.show import show_affine
from dtpoly.diagnostics import Diagnostic, DtpolyError, Note, Severity
from dtpoly.reference.inputs import Inputs, check_inputs, with_dtypes
from dtpoly.reference.labelled_values import indices_along
from dtpoly.reference.promised_data import broken_ranges, first_of
from dtpoly.reference.run import RunScope, place_along, scope_of_indices

At = Mapping[str, int]  # an index of each label


def wrong_data(
    program: Program, inputs: Inputs, sizes: Mapping[str, int], wanted: tuple[str, ...]
) -> list[Diagnostic]:
    """Return what is wrong with the data of a call: the first element of each index.

    Nothing is said of a call whose shapes or dtypes are wrong: its function refuses it itself.
    """
    given = {one.name: inputs[one.name] for one in program.tensors}
    try:
        check_inputs(program, inputs, sizes, wanted)
        shapes = {name: tuple(torch.as_tensor(one).shape) for name, one in given.items()}
        known = sizes_of(program, shapes, sizes)
    except DtpolyError:
        return []
    typed = with_dtypes(program, inputs)
    tensors = {name: torch.as_tensor(one) for name, one in given.items()}
    if broken := list(broken_ranges(program, tensors, known)):
        return broken  # an index that is promised to be inside cannot be computed
    return [
        one
        for func in in_order(program, wanted)
        for one in _of_func(func, scope_of_indices(typed, inputs, known, func))
    ]


def _of_func(func: Func, scope: RunScope) -> Iterator[Diagnostic]:
    into = func.into
    place = into.at if into is not None else None
    found = [one for one in reads(func.body) if one.padding is None and data_of(one)]
    found += [place, *(one for value in data_of(place) for one in reads(value))] if place else []
    for read in dict.fromkeys(found):
        for axis, index in enumerate(read.indices):
            if index.data is not None:
                yield from _outside(read, axis, index, scope, is_read=read is not place)
    if into is not None and place is not None and into.placing is Placing.DISTINCT:
        yield from _alike(func, into, place, scope)


def _values(index: Affine, labels: Iterable[str], scope: RunScope) -> torch.Tensor:
    labels = tuple(labels)
    along = indices_along(labels, scope.sizes, scope.device)
    shape = [scope.sizes[label] for label in labels]
    return place_along(index, along, scope).expand(shape)


def _outside(
    read: Read, axis: int, index: Affine, scope: RunScope, *, is_read: bool
) -> Iterator[Diagnostic]:
    """Report the first element at which an index that is data is outside of its axis."""
    labels, end = index.labels, scope.tensors[read.tensor].shape[axis]
    values = _values(index, labels, scope)
    first = first_of((values < 0) | (values >= end))
    if first is None:
        return
    at = dict(zip(labels, first, strict=True))
    where = f" at {_shown(at)}" if at else ""
    what, done = ("reads", "0 is read there") if is_read else ("goes to", "it is written nowhere")
    yield Diagnostic(
        "DT255",
        Severity.ERROR,
        f"{show_affine(index)} is {int(values[first].item())}{where}, outside of '{read.tensor}'",
        read.span,
        f"axis {axis} of '{read.tensor}' has {_indices(end)}",
        (*_elements(index, at, scope), Note(f"{scope.func.name} {what} such an element; {done}")),
        "pass data that is inside; or call without a check of data, if this is meant",
    )


def _indices(end: int) -> str:
    return "no index" if end == 0 else "the index 0" if end == 1 else f"indices 0 to {end - 1}"


def _shown(at: At) -> str:
    return ", ".join(f"{label} = {index}" for label, index in at.items())


def _elements(index: Affine, at: At, scope: RunScope) -> Iterator[Note]:
    """Yield the elements of tensors that an index is made of, with their values."""
    for read in dict.fromkeys(reads(index.data) if index.data is not None else ()):
        if data_of(read) or any(label not in at for label in free_labels(read)):
            continue
        along = {label: torch.tensor(one, device=scope.device) for label, one in at.items()}
        where = tuple(int(place_along(one, along, scope).item()) for one in read.indices)
        tensor = scope.tensors[read.tensor]
        if all(0 <= one < size for one, size in zip(where, tensor.shape, strict=True)):
            element = f"{read.tensor}[{', '.join(map(str, where))}]"
            yield Note(f"{element} is {tensor[where].item()}")


def _alike(func: Func, into: Into, place: Read, scope: RunScope) -> Iterator[Diagnostic]:
    """Report the first two elements that have the same place, if the file promises none."""
    shape = scope.tensors[into.tensor].shape
    labels, counts = func.labels, [scope.sizes[label] for label in func.labels]
    inside = torch.ones(counts, dtype=torch.bool, device=scope.device)
    flat = torch.zeros(counts, dtype=torch.int64, device=scope.device)
    for index, extent in zip(place.indices, shape, strict=True):
        values = _values(index, labels, scope)
        inside = inside & (values >= 0) & (values < extent)
        flat = flat * extent + values
    order = torch.argsort(flat[inside], stable=True)
    sorted_places = flat[inside][order]
    again = first_of(sorted_places[1:] == sorted_places[:-1])
    if again is None:
        return
    pair = inside.nonzero()[order[again[0] : again[0] + 2]]
    elements = [tuple(int(index) for index in element) for element in pair]
    one, other = (f"{func.name}[{', '.join(map(str, at))}]" for at in elements)
    at = dict(zip(labels, elements[0], strict=True))
    first = elements[0]
    there = [int(_values(one, labels, scope)[first].item()) for one in place.indices]
    yield Diagnostic(
        "DT255",
        Severity.ERROR,
        f"{one} and {other} have the same place, and the file promises that no two have",
        place.span,
        f"is [{', '.join(map(str, there))}] for both",
        tuple(
            note for i in place.indices if i.data is not None for note in _elements(i, at, scope)
        ),
        "pass data for which places are distinct; or let elements be added there, by add",
    )
