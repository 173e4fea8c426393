"""Operators that are in no example train: beside differences, and beside torch's autograd.

Their kernels run in the interpreter, in 64 bits.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.algorithm.filling import filled
from dtpoly.algorithm.label_sizes import input_shapes, size_rules, sizes_of
from dtpoly.algorithm.program import Program, Tensor
from dtpoly.diagnostics import DtpolyError
from dtpoly.training.differentiable import Differentiable
from dtpoly.training.torch_operators import KNOWN
from tests.gradient.comparing import Tensors, given, read
from tests.gradient.many_operators import OPERATORS, Listed
from tests.gradient.torch_translation import Translation

F64 = torch.float64
SOME = ("softplus", "largest", "gathered", "states", "product_of_rows")
ORDINARY = 3  # the size of a label of which nothing is said
ROUNDING = 1e-9
Sizes = dict[str, int]


@cache
def made(name: str) -> tuple[Program, Differentiable]:
    """Return an algorithm, and its operator."""
    listed = OPERATORS[name]
    source = listed.text + f" {listed.of}.compile();"
    return read(source), dtpoly.differentiable(dtpoly.parse(source, verify=False), of=listed.of)


def sizes_like(name: str, wanted: Sizes) -> Sizes | None:
    """Return sizes of all labels, of which some are as wanted; None if there are none."""
    program, _ = made(name)
    assumed = {one.name: ORDINARY for one in program.labels} | OPERATORS[name].sizes | wanted
    try:
        sizes = filled(program, {}, {**assumed, **program.fixed})
        sizes_of(program, input_shapes(program, sizes), passed(program, sizes))
        inputs_of(name, sizes)  # no table names rows of a tensor that has none
    except DtpolyError:
        return None
    return sizes


def passed(program: Program, sizes: Sizes) -> Sizes:
    rules = {rule.label for rule in size_rules(program) if rule.may_be_passed}
    return {label: size for label, size in sizes.items() if label in rules}


def inputs_of(name: str, sizes: Sizes, *, has_ties: bool = False) -> Tensors:
    """Return inputs; a table names rows that are there, and rows that are not."""
    found = given(made(name)[0], sizes, seed=len(name))
    if has_ties:
        return {n: x.round() if x.is_floating_point() else x for n, x in found.items()}
    return found


def differentiated_by(name: str) -> tuple[str, ...]:
    program, _ = made(name)
    floats = (one.name for one in program.inputs if one.dtype is None)
    return OPERATORS[name].by or tuple(floats)


def called(name: str, inputs: Tensors, sizes: Sizes) -> Callable[..., torch.Tensor]:
    """Return the operator as a function of what it is differentiated by."""
    program, op = made(name)
    by = differentiated_by(name)
    words = KNOWN[op.name].content.labels
    known = {words[one]: size for one, size in passed(program, sizes).items() if one in words}

    def call(*leaves: torch.Tensor) -> torch.Tensor:
        values = {**inputs, **dict(zip(by, leaves, strict=True))}
        ordered = [
            values[one.name]
            if isinstance(one, Tensor) or one.name in by
            else values[one.name].item()
            for one in program.inputs
        ]
        found: torch.Tensor = op(*ordered, **known)
        return found

    return call


def translated(name: str, inputs: Tensors, sizes: Sizes) -> Callable[..., torch.Tensor]:
    """Return the same in operations of torch."""
    program, _ = made(name)
    by = differentiated_by(name)
    every = sizes_of(program, input_shapes(program, sizes), passed(program, sizes))

    def call(*leaves: torch.Tensor) -> torch.Tensor:
        values = {**inputs, **dict(zip(by, leaves, strict=True))}
        return Translation(program, values, every).tensors[OPERATORS[name].of]

    return call


def leaves_of(name: str, inputs: Tensors) -> list[torch.Tensor]:
    """Return what is differentiated by, in 64 bits, also numbers."""
    found = (inputs[one].detach().double().clone() for one in differentiated_by(name))
    return [one.requires_grad_() for one in found]


def agree(name: str, inputs: Tensors, sizes: Sizes, lay: Callable[..., torch.Tensor]) -> None:
    """Assert that values and gradients are torch's, with leaves that lie in memory in some way."""
    given = [lay(one.detach()).requires_grad_() for one in leaves_of(name, inputs)]
    exact = [one.detach().clone().requires_grad_() for one in given]
    found = called(name, inputs, sizes)(*given)
    wanted = translated(name, inputs, sizes)(*exact)
    # A share of nothing is 0 / 0, in torch as here.
    torch.testing.assert_close(found, wanted, rtol=ROUNDING, atol=ROUNDING, equal_nan=True)
    if not bool(wanted.isfinite().all()):
        return
    gift = torch.randn(wanted.shape, generator=torch.Generator().manual_seed(1), dtype=F64)
    options: dict[str, Any] = {"allow_unused": True, "materialize_grads": True}
    if not wanted.requires_grad:
        return
    ours = torch.autograd.grad(found, given, gift, **options)
    theirs = torch.autograd.grad(wanted, exact, gift, **options)
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=ROUNDING, atol=ROUNDING)


def test_there_are_many_of_them() -> None:
    assert len(OPERATORS) >= 60
    assert all(isinstance(one, Listed) for one in OPERATORS.values())


def first_order(name: str) -> None:
    sizes = sizes_like(name, {})
    assert sizes is not None
    inputs = inputs_of(name, sizes)
    call = called(name, inputs, sizes)
    assert torch.autograd.gradcheck(call, leaves_of(name, inputs), fast_mode=True)
    agree(name, inputs, sizes, torch.clone)


@pytest.mark.parametrize("name", SOME)
def test_first_order_of_some(name: str) -> None:
    first_order(name)


@pytest.mark.long
@pytest.mark.parametrize("name", OPERATORS)
def test_first_order(name: str) -> None:
    first_order(name)


@pytest.mark.long
@pytest.mark.parametrize("name", [one for one, own in OPERATORS.items() if own.orders > 1])
def test_second_order(name: str) -> None:
    sizes = sizes_like(name, {})
    assert sizes is not None
    inputs = inputs_of(name, sizes)
    call = called(name, inputs, sizes)
    assert torch.autograd.gradgradcheck(call, leaves_of(name, inputs), fast_mode=True)


@pytest.mark.long
@pytest.mark.parametrize("name", OPERATORS)
def test_sizes(name: str) -> None:
    """Each label is 0, 1 and larger by itself, so that others are ragged beside it."""
    program, _ = made(name)
    count = 0
    for label in program.labels:
        for size in (0, 1, 5):
            sizes = sizes_like(name, {label.name: size})
            if sizes is None or sizes.get(label.name) != size:
                continue
            if sizes.get(OPERATORS[name].chosen_from) == 0:
                inputs = inputs_of(name, sizes)
                with pytest.raises(DtpolyError, match="has nothing to choose from"):
                    called(name, inputs, sizes)(*leaves_of(name, inputs))
            else:
                agree(name, inputs_of(name, sizes), sizes, torch.clone)
            count += 1
    assert count


def turned(one: torch.Tensor) -> torch.Tensor:
    return one.movedim(0, -1).contiguous().movedim(-1, 0) if one.dim() else one


def part_of_more(one: torch.Tensor) -> torch.Tensor:
    if not one.dim():
        return one
    wide = torch.full((*one.shape[:-1], 2 * one.shape[-1] + 1), 3, dtype=one.dtype)
    wide[..., 1::2] = one
    return wide[..., 1::2]


def expanded(one: torch.Tensor) -> torch.Tensor:
    return one[:1].expand(one.shape) if one.dim() and len(one) else one


def backwards(one: torch.Tensor) -> torch.Tensor:
    """Return a tensor that begins in the middle of its memory."""
    return torch.cat([one, one])[len(one) :] if one.dim() else one


@pytest.mark.long
@pytest.mark.parametrize("lay", [turned, part_of_more, expanded, backwards])
@pytest.mark.parametrize("name", OPERATORS)
def test_layouts(name: str, lay: Callable[[torch.Tensor], torch.Tensor]) -> None:
    sizes = sizes_like(name, {})
    assert sizes is not None
    agree(name, inputs_of(name, sizes), sizes, lay)


@pytest.mark.long
@pytest.mark.parametrize("name", OPERATORS)
def test_ties(name: str) -> None:
    """Whole numbers have many equal elements, and stand where functions have kinks."""
    sizes = sizes_like(name, {})
    assert sizes is not None
    agree(name, inputs_of(name, sizes, has_ties=True), sizes, torch.clone)
