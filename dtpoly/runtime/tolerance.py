"""Measures how far a result is from the reference, and how far rounding may put them apart."""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import torch

from dtpoly.algorithm.dtypes import DType, is_float
from dtpoly.algorithm.expressions import Apply, Dot, Reduce, walk
from dtpoly.algorithm.inference import type_of, types_of
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.algorithm.program import Program, Tensor, in_order
from dtpoly.frozen import dataclass
from dtpoly.reference.labelled_values import DTYPE, TORCH_DTYPE

# The share of a value that its type may lose at most, for products that are not exact.
TF32 = 2.0**-10
# A result may lose so many times what the reference loses in the type of the kernels.
MARGIN = 32
# And so many times what the reference loses by rough products. It cuts operands off, which loses
# up to 2**-10 of each, and no way to bring them to tf32 loses more. But at which element losses
# add up is chance: where operands are rounded instead, or are sums in another order and so differ
# in the last bit that is kept, the largest loss is another one, about as large.
ROUGH_MARGIN = 2


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """The result of one function, and how far it is from the reference.

    `error` is the largest difference of two elements, `allowed` what rounding explains. Of
    `wrong` elements that differ by more, `first` has the indices of the first one.
    """

    func: str
    labels: tuple[str, ...]
    result: torch.Tensor
    expected: torch.Tensor
    error: float
    allowed: float
    wrong: int
    first: tuple[int, ...] | None

    @property
    def dtype(self) -> DType:
        """Return the dtype of the result."""
        return DTYPE[self.result.dtype]


def share_lost(program: Program, func: str, sizes: Sizes, dtype: DType, is_rough: bool) -> float:
    """Return the share of its largest element that a result may lose by rounding.

    A value loses one when it is stored, a sum one at each of its steps; where products are rough,
    each of their operands loses what tf32 loses.
    """
    needed = in_order(program, (func,))
    steps = sum(_steps(program, one.name, sizes) for one in needed)
    coarse = max(map(_unit, _floats(program, dtype)))
    if is_rough and multiplies(program, func):
        coarse = max(coarse, TF32)
    fine = float(torch.finfo(computed(program, dtype)).eps)
    return 4 * coarse + (steps + 16) * fine


def multiplies(program: Program, func: str) -> bool:
    """Return whether there are products in a Func, or in what it needs."""
    needed = in_order(program, (func,))
    return any(isinstance(node, Dot) for one in needed for node in walk(one.body))


def _floats(program: Program, dtype: DType) -> list[DType]:
    """Return the types in which floats are passed, stored and computed."""
    stored = [func.dtype for func in program.funcs if func.dtype is not None]
    given = [tensor.dtype or dtype for tensor in program.tensors]
    within = [DType.F32] if _has_singles(program, dtype) else []
    return [one for one in (*given, *stored, *within) if is_float(one)] or [DType.F32]


def computed(program: Program, dtype: DType) -> torch.dtype:
    """Return the type in which floats are computed; the narrower one where both occur."""
    is_wide = DType.F64 in _floats(program, dtype) and not _has_singles(program, dtype)
    return torch.float64 if is_wide else torch.float32


def _has_singles(program: Program, dtype: DType) -> bool:
    """Return whether an operation has a result of f32, as a quotient of whole numbers has.

    Beside numbers of 64 bits it is one of them afterwards, and has no more digits than before.
    """
    given = tuple(
        replace(one, dtype=one.dtype or dtype) if isinstance(one, Tensor) else one
        for one in program.inputs
    )
    types = types_of(replace(program, inputs=given))
    nodes = (node for func in program.funcs for node in walk(func.body))
    operations = (node for node in nodes if isinstance(node, Apply | Reduce | Dot))
    found = (type_of(node, types) for node in operations)
    return any(one.dtype is DType.F32 and not one.weak for one in found)


def _unit(dtype: DType) -> float:
    return float(torch.finfo(TORCH_DTYPE[dtype]).eps)


def _steps(program: Program, func: str, sizes: Sizes) -> int:
    reductions = (n for n in walk(program.func(func).body) if isinstance(n, Dot | Reduce))
    return sum(prod(sizes[label] for label in one.labels) for one in reductions)


def compared(
    func: str,
    labels: Sequence[str],
    result: torch.Tensor,
    exact: torch.Tensor,
    rough: torch.Tensor,
    share: float,
    cut: torch.Tensor | None = None,
) -> ComparedResult:
    """Compare a result with the exact one, of which it may lose a share.

    `rough` is the reference as it is in the type that kernels compute in, `cut` with rough
    products: where those are far off, kernels may be so, too.
    """
    return within(func, labels, result, exact, rough, allowed_of(exact, rough, share, cut))


def allowed_of(
    exact: torch.Tensor, rough: torch.Tensor, share: float, cut: torch.Tensor | None = None
) -> float:
    """Return how far a result may be from the exact one.

    What products lose is no share of the result: it is of their operands, and whatever is made
    of the product makes it larger or smaller.
    """
    wide = exact.double()
    finite = wide.isfinite() & rough.double().isfinite()
    if not exact.dtype.is_floating_point or not bool(finite.any()):
        return 0.0
    largest = float(torch.where(finite, wide, 0.0).abs().max())
    by_products = 0.0 if cut is None else ROUGH_MARGIN * _lost(wide, cut)
    return share * largest + MARGIN * _lost(wide, rough) + by_products


def _lost(exact: torch.Tensor, other: torch.Tensor) -> float:
    """Return how far the two are apart, where both are finite."""
    apart = (other.double() - exact).abs()
    return float(torch.where(apart.isfinite(), apart, 0.0).max())


def within(
    func: str,
    labels: Sequence[str],
    result: torch.Tensor,
    exact: torch.Tensor,
    rough: torch.Tensor,
    allowed: float,
) -> ComparedResult:
    """Compare a result with the exact one, from which it may differ by `allowed`.

    NaN and infinities have to be the same, unless an element is too large for a type on the way.
    """
    wide = exact.double()
    same = (result == exact.to(result.dtype)) | (result.isnan() & exact.isnan())
    same |= wide.isfinite() & ~rough.isfinite()
    if not result.dtype.is_floating_point:
        # Which of two is larger is open where their floats are too close to call.
        same |= result == rough.to(result.dtype)
    apart = (result.double() - wide).abs()
    # The difference to an infinity or to NaN is no number, even if both are the same.
    apart = torch.where(apart.isfinite(), apart, torch.where(same, 0.0, float("inf")))
    bad = ~same & (apart > allowed)
    wrong = int(bad.sum())
    first = tuple(int(i) for i in bad.nonzero()[0]) if wrong else None
    error = float(apart.max()) if apart.numel() else 0.0
    return ComparedResult(func, tuple(labels), result, exact, error, allowed, wrong, first)
