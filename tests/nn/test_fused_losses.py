"""Cross entropy whose gradient is computed with the loss: values, memory, and what is refused."""

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch.nn import functional as F
from torch.profiler import ProfilerActivity, profile

from dtpoly import nn
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import outputs
from dtpoly.nn.fused_losses import AT_LEAST, rows_that_fit
from dtpoly.nn.packaged_operators import LOSSES, losing
from dtpoly.verification import verified
from tests.nn.test_operators import CLASSES, ROUNDING, linear

Call = Callable[..., torch.Tensor]


def back(loss: Any) -> None:
    """Compute the gradients of a loss; torch says no type of what does so."""
    loss.backward()


def agree(ours: Call, theirs: Call, *given: torch.Tensor) -> None:
    """Assert that a loss and its gradients are those of torch in 64 bits, but for rounding."""
    mine = [one.detach().clone().requires_grad_() for one in given]
    exact = [one.detach().double().requires_grad_() for one in given]
    found, wanted = ours(*mine), theirs(*exact)
    gift = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1)).double()
    ahead = torch.autograd.grad(found, mine, gift.to(found.dtype))
    behind = torch.autograd.grad(wanted, exact, gift)
    for one, other in zip((found, *ahead), (wanted, *behind), strict=True):
        scale = max(1.0, float(other.detach().abs().max()) if other.numel() else 1.0)
        assert one.dtype is given[0].dtype
        assert bool(((one.double() - other).abs() <= ROUNDING[one.dtype] * scale).all())


def rows_of(*shape: int, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(sum(shape))).to(dtype)


def in_place(dtype: torch.dtype, rows: int, **said: Any) -> None:
    def loss(x: torch.Tensor) -> torch.Tensor:
        # A layer has computed the logits.
        return nn.cross_entropy(x * 1, CLASSES[:rows], in_place=True, **said)

    def wanted(x: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x, CLASSES[:rows], **said)

    agree(loss, wanted, rows_of(rows, 9, dtype=dtype))


def in_chunks(dtype: torch.dtype, rows: int, at_once: int, reduction: str) -> None:
    def loss(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        said: dict[str, Any] = {"reduction": reduction, "rows_at_once": at_once}
        return nn.linear_cross_entropy(x, w, CLASSES[:rows], **said)

    def wanted(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return linear(x, w, CLASSES[:rows], reduction=reduction)

    agree(loss, wanted, rows_of(rows, 16, dtype=dtype), rows_of(9, 16, dtype=dtype))


def test_cross_entropy_in_place() -> None:
    in_place(torch.float32, 5, label_smoothing=0.1)


@pytest.mark.long
@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_cross_entropy_in_place_of_each_kind(
    dtype: torch.dtype, reduction: str, smoothing: float
) -> None:
    for rows in (1, 5):
        in_place(dtype, rows, reduction=reduction, label_smoothing=smoothing)


def test_linear_cross_entropy_in_chunks() -> None:
    in_chunks(torch.float32, 5, 2, "mean")


@pytest.mark.long
@pytest.mark.parametrize("dtype", ROUNDING, ids=str)
@pytest.mark.parametrize("reduction", ["mean", "sum"])
@pytest.mark.parametrize("at_once", [1, 2, 5, 9])
def test_linear_cross_entropy_in_chunks_of_each_kind(
    dtype: torch.dtype, reduction: str, at_once: int
) -> None:
    in_chunks(dtype, 5, at_once, reduction)


def test_logits_are_overwritten_only_where_a_gradient_is_asked_for() -> None:
    x = rows_of(2, 3, dtype=torch.float32)
    classes = torch.tensor([0, 2])
    kept = x.clone()
    nn.cross_entropy(x, classes, in_place=True)
    assert torch.equal(x, kept)
    with torch.no_grad():
        nn.cross_entropy(x.requires_grad_() * 1, classes, in_place=True)
    logits = x * 1
    loss = nn.cross_entropy(logits, classes, in_place=True, reduction="sum")
    slopes = kept.softmax(1) - F.one_hot(classes, 3)
    torch.testing.assert_close(logits.detach(), slopes)
    back(loss)
    torch.testing.assert_close(x.grad, slopes)


def test_what_else_reads_the_logits_is_refused_and_not_wrong() -> None:
    x = rows_of(2, 3, dtype=torch.float32).requires_grad_()
    logits = x * 1
    other = (logits * logits).sum()  # its gradient reads the logits
    loss = nn.cross_entropy(logits, torch.tensor([0, 2]), in_place=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        back(loss + other)


def test_a_second_backward_is_refused_and_not_wrong() -> None:
    x, w = (rows_of(n, 4, dtype=torch.float32).requires_grad_() for n in (2, 3))
    classes = torch.tensor([0, 2])
    for loss in (
        nn.cross_entropy(x @ w.t(), classes, in_place=True),
        nn.linear_cross_entropy(x, w, classes, rows_at_once=1),
    ):
        first = torch.autograd.grad(loss, x, retain_graph=True)
        assert bool(first[0].isfinite().all())
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            torch.autograd.grad(loss, x)


def test_what_reads_the_logits_later_is_refused_and_not_wrong() -> None:
    classes = torch.tensor([0, 2])

    def square(one: torch.Tensor) -> torch.Tensor:
        return one * one

    def again(one: torch.Tensor) -> torch.Tensor:
        return nn.cross_entropy(one, classes)

    for shape, later in (((2, 3), square), ((2, 3), again), ((1, 2, 3), torch.sum)):
        x = rows_of(*shape, dtype=torch.float32).requires_grad_()
        logits = x * 1
        loss = nn.cross_entropy(logits.view(2, 3), classes, in_place=True)
        with pytest.raises(RuntimeError, match="wrote slopes over its logits"):
            back(loss + later(logits).sum())


def test_other_rows_of_a_tensor_may_be_read_later() -> None:
    x = rows_of(4, 3, dtype=torch.float32).requires_grad_()
    classes = torch.tensor([0, 2])

    def computed(**said: Any) -> torch.Tensor:
        logits = x * 1
        loss = nn.cross_entropy(logits[:2], classes, **said) + (logits[2:] * 3).sum()
        return torch.autograd.grad(loss, x)[0]

    torch.testing.assert_close(computed(in_place=True), computed())
    # One of two parts that are made at once is computed, too.
    first, _ = (x * 1).chunk(2)
    (found,) = torch.autograd.grad(nn.cross_entropy(first, classes, in_place=True), x)
    torch.testing.assert_close(found[:2], computed()[:2])


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (6,)])
def test_views_of_a_parameter_are_not_overwritten(shape: tuple[int, ...]) -> None:
    weight = torch.nn.Parameter(rows_of(*shape, dtype=torch.float32))
    kept = weight.detach().clone()
    rows = weight.t() if shape == (3, 2) else weight.view(2, 3)
    with pytest.raises(DtpolyError, match="DT277"):
        nn.cross_entropy(rows, torch.tensor([0, 2]), in_place=True)
    assert torch.equal(weight.detach(), kept)


def test_rows_that_do_not_count_have_no_gradient() -> None:
    """Their mean is a nan, and what it gives its losses is infinite; torch gives logits 0."""
    x, w = (rows_of(n, 4, dtype=torch.float32).requires_grad_() for n in (2, 3))
    classes = torch.full((2,), -100)
    for loss in (
        nn.cross_entropy(x @ w.t(), classes, in_place=True),
        nn.linear_cross_entropy(x, w, classes, rows_at_once=1),
    ):
        assert bool(loss.isnan())
        for one in torch.autograd.grad(loss, (x, w)):
            assert torch.equal(one, torch.zeros_like(one))


@pytest.mark.parametrize("is_in_place", [False, True])
def test_classes_that_cannot_be(is_in_place: bool) -> None:
    """A logit of -inf is a class that a mask leaves out; its mean may not spoil the loss."""

    def loss(x: torch.Tensor) -> torch.Tensor:
        return nn.cross_entropy(x * 1, CLASSES[:2], reduction="none", in_place=is_in_place)

    def wanted(x: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(x, CLASSES[:2], reduction="none")

    x = rows_of(2, 9, dtype=torch.float32)
    for row in (0, 1):
        x[row, (int(CLASSES[row]) + 1) % 9] = float("-inf")
    assert bool(wanted(x).isfinite().all())
    agree(loss, wanted, x)


def test_a_weight_without_gradient_gets_none() -> None:
    x, w = (rows_of(n, 4, dtype=torch.float32) for n in (2, 3))
    classes = torch.tensor([0, 2])
    loss = nn.linear_cross_entropy(x.requires_grad_(), w, classes, rows_at_once=1)
    back(loss)
    again = x.detach().clone().requires_grad_()
    back(F.cross_entropy(again @ w.t(), classes))
    torch.testing.assert_close(x.grad, again.grad)
    assert w.grad is None
    with torch.no_grad():
        torch.testing.assert_close(
            nn.linear_cross_entropy(x, w, classes, rows_at_once=1), loss.detach()
        )


def test_chunks_under_autocast() -> None:
    x, w = (rows_of(n, 16, dtype=torch.float32).requires_grad_() for n in (5, 9))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = nn.linear_cross_entropy(x, w, CLASSES, rows_at_once=2)
    assert found.dtype is torch.float32
    torch.testing.assert_close(found, linear(x, w, CLASSES), rtol=2e-2, atol=2e-2)
    back(found)
    assert x.grad is not None
    assert x.grad.dtype is torch.float32


def most_memory(call: Callable[[], object]) -> int:
    """Return the most bytes that tensors of torch took at a time."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as found:
        call()
    results: Any = vars(found.profiler)["kineto_results"]
    steps = [(one.start_ns(), one.nbytes()) for one in results.events() if one.name() == "[memory]"]
    total = most = 0
    for _, step in sorted(steps):
        total += step
        most = max(most, total)
    return most


def kept(call: Callable[[], object]) -> int:
    """Return the bytes that are kept for the backward."""
    found: list[int] = []

    def note(one: torch.Tensor) -> torch.Tensor:
        found.append(one.numel() * one.element_size())
        return one

    with torch.autograd.graph.saved_tensors_hooks(note, lambda one: one):
        call()
    return sum(found)


def step(rows: int, classes: int, at_once: int | None) -> Callable[[], None]:
    x = rows_of(rows, 8, dtype=torch.float32).requires_grad_()
    w = rows_of(classes, 8, dtype=torch.float32).requires_grad_()
    target = torch.arange(rows) % classes

    def computed() -> None:
        back(nn.linear_cross_entropy(x, w, target, rows_at_once=at_once))

    return computed


@pytest.mark.long
def test_the_memory_of_chunks_does_not_grow_by_rows_times_classes() -> None:
    classes, at_once = 256, 8
    for chunk in (at_once, None):
        step(96, classes, chunk)()  # what is made once, as kernels are, is there already
    few, many = (most_memory(step(rows, classes, at_once)) for rows in (32, 96))
    wide = most_memory(step(96, classes, None))
    logits = 4 * classes  # bytes of those of a row
    # In chunks each further row needs its gradient, and what is kept of its inputs.
    assert many - few < (96 - 32) * logits / 4
    assert wide > 96 * logits
    assert many < wide / 2
    # Logits and slopes of a chunk are all that is of rows times classes.
    assert many < 3 * at_once * logits + 4 * (8 * classes * 4 + 8 * 96 * 4)


@pytest.mark.long
def test_in_place_keeps_one_tensor_of_the_size_of_the_logits() -> None:
    x = rows_of(16, 64, dtype=torch.float32).requires_grad_()
    target = torch.arange(16)
    size = x.numel() * 4

    def ordinary() -> None:
        back(nn.cross_entropy(x * 1, target))

    def over() -> None:
        back(nn.cross_entropy(x * 1, target, in_place=True))

    assert kept(over) < kept(ordinary) + 1
    x.grad = torch.zeros_like(x)  # what it is added to is there already, and kernels are
    over()
    ordinary()
    first, second = most_memory(ordinary), most_memory(over)
    assert second < first - size / 2


def test_rows_that_fit() -> None:
    assert rows_that_fit(1, 8, 100) == AT_LEAST
    fit = rows_that_fit(16384, 768, 50304)
    assert fit % AT_LEAST == 0
    # Two of these are not more than inputs and weights, but for a block.
    assert 2 * (fit - AT_LEAST) * 50304 <= (16384 + 50304) * 768
    assert rows_that_fit(32768, 768, 50304) < 2 * fit


def test_wrong_numbers_of_rows_are_refused() -> None:
    x, w = (rows_of(n, 4, dtype=torch.float32).requires_grad_() for n in (2, 3))
    for wrong in (0, -1, "all", True):
        with pytest.raises(DtpolyError, match=r"DT275.*rows_at_once"):
            nn.linear_cross_entropy(x, w, torch.tensor([0, 2]), rows_at_once=wrong)


@pytest.mark.long
@pytest.mark.parametrize("has_room", [False, True])
@pytest.mark.parametrize("is_wide", [True, False])
@pytest.mark.parametrize("name", LOSSES)
def test_kernels_are_proved(name: str, is_wide: bool, has_room: bool) -> None:
    """Those for inputs of 32 bits, and those with losses of 32 bits for inputs of 16."""
    one = losing(name, is_wide=is_wide, has_room=has_room)
    report = verified(one.program, one.source, outputs(one.program), 100)
    assert report.verdict == "proved", str(report)
