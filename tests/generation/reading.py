"""Makes a read that lines up with a layout, if there is one."""

from collections.abc import Sequence

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Affine, Apply, Expr, Float, Integer, Read, Reshape
from dtpoly.algorithm.shapes import read_shape
from tests.generation.choice import Choose, one_in, pick, some
from tests.generation.scope import Axis, Named, Scope

PADDINGS: tuple[Expr, ...] = (
    Integer(0),
    Float(1.5),
    Apply("neg", (Float(float("inf")),)),
    Apply("neg", (Integer(3),)),
)
WHOLE_PADDINGS: tuple[Expr, ...] = (Integer(0), Integer(3))
FALSE = Apply("lt", (Integer(1), Integer(0)))
COEFFICIENTS = (1, 2, -1, 3, -2)
OFFSETS = (0, 1, -1, 3, -7)


def read(choose: Choose, scope: Scope, layout: Sequence[str], *, is_bool: bool) -> Expr | None:
    """Return an element of a tensor, or two of one, with labels of the layout in its order."""
    fitting = [t for t in scope.tensors if (t.dtype is DType.BOOL) is is_bool]
    if not fitting:
        return None
    inside = [
        (tensor, places)
        for tensor in fitting
        if all(places := [_places(scope, axis, layout) for axis in tensor.axes])
    ]
    if not inside or one_in(choose, 8):
        return aligned(_padded(choose, pick(choose, fitting), layout), layout)
    # The newest Funcs are taken more often, so that Funcs read each other.
    tensor, places = pick(choose, (*inside, *inside[-2:]))
    chosen = [pick(choose, options) for options in places]
    shifted = one_in(choose, 4)
    first = Read(tensor.name, tuple(place[shifted and len(place) > 2] for place in chosen))
    last = Read(tensor.name, tuple(place[-1] for place in chosen))
    if not any(len(place) == 2 for place in chosen):
        return aligned(first, layout)
    parts = aligned(first, layout), aligned(last, layout)
    if parts[0] is None or parts[1] is None:
        return None
    return Apply("or" if is_bool else "add", (parts[0], parts[1]))


def _places(scope: Scope, axis: Axis, layout: Sequence[str]) -> list[tuple[Affine, ...]]:
    """Return ways to read an axis: one index, two to read together, or three to choose from."""
    if axis.pattern is not None:
        if not set(axis.pattern.labels) <= set(layout):
            return []
        return [tuple(axis.pattern + Affine((), offset) for offset in (0, 2, 0))]
    places: list[tuple[Affine, ...]] = []
    for label in layout:
        dimension = scope.dimension(label)
        if dimension.size == axis.size:
            places.append((Affine(((label, 1),)),))
        elif dimension.stencil and dimension.stencil.size == axis.size:
            start = Affine(((label, dimension.stencil.stride),))
            places.append((start, start + Affine((), dimension.stencil.reach)))
    return places


def _padded(choose: Choose, tensor: Named, layout: Sequence[str]) -> Read:
    indices: list[Affine] = []
    for _ in tensor.axes:
        labels = some(choose, layout)[:2]
        index = Affine((), pick(choose, OFFSETS))
        for label in labels:
            index = Affine(((label, pick(choose, COEFFICIENTS)),)) + index
        indices.append(index)
    return Read(tensor.name, tuple(indices), pick(choose, _paddings(tensor.dtype)))


def _paddings(dtype: DType | None) -> tuple[Expr, ...]:
    """Return values that the type holds, whatever the caller's type is."""
    if dtype is DType.BOOL:
        return (FALSE,)
    return PADDINGS if dtype is not None and is_float(dtype) else WHOLE_PADDINGS


def aligned(read: Read, layout: Sequence[str]) -> Expr | None:
    """Return the read, reshaped if it must be to line up; None if its labels have another order."""
    axes = [axis for axis in read_shape(read).axes if axis]
    if axes == list(layout[len(layout) - len(axes) :]):
        return read
    if axes != [label for label in layout if label in axes]:
        return None
    start = layout.index(axes[0])
    return Reshape(read, tuple(label if label in axes else None for label in layout[start:]))
