"""Cross entropy whose gradient is computed with the loss, so that logits are read only once.

Ordinary operators keep logits for the gradient, or compute them again. These losses compute the
slope of each loss by its logits in the forward. What a logit is given is its slope, times what the
loss is given, and nobody knows that before the backward; so slopes are multiplied there. Their
gradients have no gradients of their own.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from dtpoly.nn.packaged_operators import has_room, kernels

WIDE = (torch.float32, torch.float64)
AT_LEAST = 128  # rows at once: those of one block of the products
CHANGED = (
    "the slopes that cross_entropy(in_place=True) wrote over its logits have been modified by an"
    " inplace operation, or by an earlier backward: call it again, or leave out in_place=True"
)
READ_AGAIN = (
    "cross_entropy(in_place=True) wrote slopes over its logits, and something else read them"
    " afterwards: compute that from the logits before, or leave out in_place=True"
)


class _InPlace(torch.autograd.Function):
    """Losses of rows, whose slopes take the place of the logits."""

    @staticmethod
    def forward(
        ctx: Any,
        logits: torch.Tensor,
        classes: torch.Tensor,
        ignored: int,
        smoothing: float,
        written: list[int],
    ) -> torch.Tensor:
        """Return the losses; `written` will have the version of the logits that are slopes."""
        found = kernels("cross_entropy_in_place", "slope", logits.dtype in WIDE)
        slopes, losses = found(logits.detach(), classes, ignored, smoothing)
        # Triton writes unseen by torch, which must refuse gradients that read the logits.
        torch.autograd.graph.increment_version(logits)
        ctx.slopes, ctx.counts, ctx.written = slopes, classes != ignored, written
        result: torch.Tensor = losses
        return result

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gifts: torch.Tensor
    ) -> tuple[Any, ...]:
        """Multiply the slopes where they are; a second backward of the same call is refused."""
        slopes, (gift,) = ctx.slopes, gifts
        if slopes is None or [slopes._version] != ctx.written:
            raise RuntimeError(CHANGED)
        ctx.slopes = None
        return slopes.mul_(_of_counted(gift, ctx.counts).unsqueeze(1)), None, None, None, None


class _Slopes(torch.autograd.Function):
    """Logits that are slopes by now: what else reads them has no gradient, and is refused."""

    @staticmethod
    def forward(ctx: Any, logits: torch.Tensor) -> torch.Tensor:
        """Return the logits, which torch then knows as changed."""
        ctx.mark_dirty(logits)
        return logits

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gifts: torch.Tensor
    ) -> torch.Tensor:
        """Refuse all gradients but 0, which other rows of a larger tensor give."""
        if bool(gifts[0].any()):
            raise RuntimeError(READ_AGAIN)
        return gifts[0]


def _of_counted(gift: torch.Tensor, counts: torch.Tensor) -> torch.Tensor:
    """Return what losses are given, or 0 for rows that do not count.

    The mean over no row gives infinities, and an infinity times a slope of 0 is a nan.
    """
    return torch.where(counts, gift, 0)


class _InChunks(torch.autograd.Function):
    """The sum of the losses of all rows, and its gradients, from some rows at once."""

    @staticmethod
    def forward(
        ctx: Any,
        rows: torch.Tensor,
        weight: torch.Tensor,
        classes: torch.Tensor,
        ignored: int,
        at_once: int,
    ) -> torch.Tensor:
        """Return the sum, of 32 bits at least."""
        is_wide = rows.dtype in WIDE
        total = rows.new_zeros((), dtype=None if is_wide else torch.float32)
        d_rows = torch.empty_like(rows)
        has_weight = ctx.needs_input_grad[1]
        # A frozen weight has no gradient; the file wants a tensor of its shape, but reads nothing.
        d_weight = torch.zeros_like(weight, dtype=total.dtype) if has_weight else total
        wanted, room = "loss" if has_weight else "d_X", has_room(rows.device)
        found = kernels("linear_cross_entropy_chunk", wanted, is_wide, room)
        for first in range(0, len(rows), at_once):
            part = slice(first, first + at_once)
            sums = d_weight.expand(weight.shape)
            made = found(rows[part], weight, classes[part], sums, ignored)
            losses, slopes_of_rows = made[:2] if has_weight else made[1::-1]
            d_rows[part] = slopes_of_rows
            total += losses.sum()
        counts = classes != ignored
        ctx.save_for_backward(d_rows, d_weight if has_weight else None, counts)
        ctx.dtype = weight.dtype
        return total

    @staticmethod
    @once_differentiable
    def backward(  # pyright: ignore[reportIncompatibleMethodOverride]
        ctx: Any, *gifts: torch.Tensor
    ) -> tuple[Any, ...]:
        """Multiply what was summed for a loss that is given 1."""
        (d_rows, d_weight, counts), (gift,) = ctx.saved_tensors, gifts
        if d_weight is not None:
            # Multiplied and rounded at once: it is as large as all weights of the classes.
            rounded = torch.empty_like(d_weight, dtype=ctx.dtype)
            factor = _of_counted(gift, counts.any())
            d_weight = torch.mul(d_weight, factor, out=rounded)
        return d_rows.mul_(_of_counted(gift, counts).unsqueeze(1)), d_weight, None, None, None


def losses_in_place(
    logits: torch.Tensor, classes: torch.Tensor, ignored: int, smoothing: float
) -> torch.Tensor:
    """Return the loss of each row, and overwrite the logits by what their gradient is made of."""
    apply: Callable[..., torch.Tensor] = getattr(_InPlace, "apply")  # noqa: B009
    spoil: Callable[..., torch.Tensor] = getattr(_Slopes, "apply")  # noqa: B009
    written = list[int]()
    losses = apply(logits, classes, ignored, smoothing, written)
    # Parts that torch made of a tensor at once, as chunk does, cannot be marked one by one.
    with suppress(RuntimeError):
        spoil(logits)
    written.append(logits._version)
    return losses


def sum_in_chunks(
    rows: torch.Tensor, weight: torch.Tensor, classes: torch.Tensor, ignored: int, at_once: int
) -> torch.Tensor:
    """Return the sum of the losses of all rows."""
    apply: Callable[..., torch.Tensor] = getattr(_InChunks, "apply")  # noqa: B009
    return apply(rows, weight, classes, ignored, at_once)


def rows_that_fit(count: int, width: int, classes: int) -> int:
    """Return for how many rows logits and their slopes take what the gradients take, about.

    So the memory of a call grows as inputs, weights and their gradients do, and not by rows times
    classes.
    """
    fair = (count + classes) * width // (2 * max(classes, 1))
    return max(AT_LEAST, -(-fair // AT_LEAST) * AT_LEAST)
