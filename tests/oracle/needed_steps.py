"""Finds the instances of a Func's statements that some of its elements need."""

from collections.abc import Container, Mapping, Sequence
from itertools import product

from tests.oracle.cells import Indices
from tests.oracle.scan_turns import steps_of_scan
from tests.oracle.statements import Dim, Meaning, Reduction

Sizes = Mapping[str, int]


def closure(
    meaning: Meaning, elements: set[Indices], sizes: Sizes, followed: Container[int] = ()
) -> dict[tuple[str, int], list[Indices]]:
    """Return the instances of each reduction's statements that some elements need.

    Of scans that are followed, the steps before them are computed elsewhere.
    """
    found: dict[tuple[str, int], list[Indices]] = {}
    for reduction in meaning.reductions:
        _close(reduction, meaning.dims, elements, sizes, found)
        if reduction.number in followed:
            positions = [meaning.dims.index(dim) for dim in reduction.kept]
            found["scan", reduction.number] = sorted(
                {tuple([one[at] for at in positions]) for one in elements}
            )
    return found


def _close(
    reduction: Reduction,
    dims: Sequence[Dim],
    readers: set[Indices],
    sizes: Sizes,
    found: dict[tuple[str, int], list[Indices]],
) -> None:
    positions = [dims.index(dim) for dim in reduction.kept]
    kept = sorted({tuple([r[at] for at in positions]) for r in readers})
    if reduction.scan is not None:
        found["init", reduction.number], found["scan", reduction.number] = steps_of_scan(
            reduction, reduction.scan, kept
        )
        return
    walked = list(product(*(range(sizes[dim.label]) for dim in reduction.bound)))
    dims_of_steps = (*reduction.kept, *reduction.bound)
    updates = [k + w for k in kept for w in walked]
    updates = [
        one
        for one in updates
        if all(t.value(dict(zip(dims_of_steps, one, strict=True))) >= 0 for t in reduction.takes)
    ]
    found["init", reduction.number] = found["combine", reduction.number] = kept
    found["update", reduction.number] = updates
    for nested in reduction.nested:
        _close(nested, (*reduction.kept, *reduction.bound), set(updates), sizes, found)
