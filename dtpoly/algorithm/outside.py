"""Says along which axes a read may be outside of its tensor, and what it gives there.

Of data nothing is known, so each axis that is read at data is such an axis, unless the caller has
promised that the data is within a bound. Then the axis is like one that is read at a label: it must
have every index below the bound.
"""

from dtpoly.algorithm.expressions import Affine, Expr, Integer, Read, data_of


def padding_of(read: Read) -> Expr | None:
    """Return what a read gives outside of the tensor, or None if it must be inside.

    A read at data of which nothing is known gives 0 outside, if the file does not say what else.
    """
    if read.padding is None and any(map(may_be_anything, read.indices)):
        return Integer(0)
    return read.padding


def padded_axes(read: Read) -> frozenset[int]:
    """Return the axes along which a read may be outside its tensor.

    A read with a padding stays inside along each axis whose index is just a label, or data within
    a promised bound. If all indices are labels, the padding is for all axes. Without a padding,
    only data of which nothing is known may be outside.
    """
    axes = range(len(read.indices))
    if read.padding is None:
        return frozenset([axis for axis in axes if may_be_anything(read.indices[axis])])
    shifted = frozenset(
        [axis for axis in axes if not (one := read.indices[axis]).is_plain and one.within is None]
    )
    is_promised = any(index.within is not None for index in read.indices)
    return shifted if shifted or is_promised else frozenset(axes)


def is_at_labels(read: Read) -> bool:
    """Return whether no index of a read is data, and the read must be inside."""
    return read.padding is None and not data_of(read)


def may_be_anything(index: Affine) -> bool:
    """Return whether an index is data of which nothing is known."""
    return index.data is not None and index.within is None


def as_shown(index: Affine) -> Affine:
    """Return an index as the sizes see it: in the place of promised data the last index it allows.

    Data within the size of a label is like the label, so the axis has the size of the label. Data
    within a number is like the largest number that it may be, which must be inside.
    """
    bound = index.within
    if bound is None:
        return index
    return Affine(((bound, 1),)) if isinstance(bound, str) else Affine((), bound - 1)
