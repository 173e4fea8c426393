"""The names that a generated expression may use: labels, tensors and scalar inputs.

Labels of one size class have one size, so each may index an axis of that class. A label with a
stencil is what is left of another class after a shift, so that programs are consistent: there
are tensors that fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Affine
from dtpoly.algorithm.inference import InferredType


@dataclass(frozen=True, slots=True)
class Stencil:
    """Reads `stride * label` and `stride * label + reach` of every axis of a size class."""

    size: str
    stride: int
    reach: int


@dataclass(frozen=True, slots=True)
class Dimension:
    """A label and the class of its size."""

    label: str
    reducible: bool
    size: str
    stencil: Stencil | None = None


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a tensor: of a size class, or (inputs only) always read at one pattern."""

    size: str
    pattern: Affine | None = None


@dataclass(frozen=True, slots=True)
class Named:
    """A tensor input or a Func."""

    name: str
    axes: tuple[Axis, ...]
    dtype: DType | None


@dataclass(frozen=True, slots=True)
class Scope:
    """Everything that an expression may name, and the types of what it may read."""

    dimensions: tuple[Dimension, ...] = ()
    tensors: tuple[Named, ...] = ()
    scalars: tuple[tuple[str, DType | None], ...] = ()

    @property
    def reducible(self) -> tuple[str, ...]:
        """Return the labels that may be reduced over."""
        return tuple(d.label for d in self.dimensions if d.reducible)

    @property
    def types(self) -> Mapping[str, InferredType]:
        """Return the type of every tensor and scalar."""
        types = {tensor.name: InferredType(tensor.dtype) for tensor in self.tensors}
        return types | {name: InferredType(dtype, weak=True) for name, dtype in self.scalars}

    def dimension(self, label: str) -> Dimension:
        """Return the dimension of a label."""
        return next(d for d in self.dimensions if d.label == label)
