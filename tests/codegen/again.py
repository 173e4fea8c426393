"""Calls like one before, tried without a GPU: they launch what the whole wrapper would launch.

`python -m tests.codegen.again` prints a line of JSON for each check, and so do the others.
"""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from tests.codegen.inputs import Recipe
from tests.codegen.repeated import (
    ADD,
    ATOMIC,
    EXAMPLES,
    LAYOUTS,
    NAMES,
    generated,
    is_same,
    launched,
    pair,
    repeat,
    seen,
)
from tests.codegen.wrappers import zeros


def check_examples() -> None:
    """Of all kinds, and at sizes and in layouts of all kinds; the second call is like the first."""
    chance = Random(5)
    for name in NAMES:
        program, module = generated((EXAMPLES / f"{name}.dt").read_text())
        labels = [label.name for label in program.labels]
        (function,) = (one for one, made in vars(module).items() if hasattr(made, "__wrapped__"))
        for _ in range(8):
            sizes = {one: chance.choice((1, 3, 16, 24, 64, 129)) for one in labels}
            if name == "conv2d":
                sizes |= {"r": 3, "s": 3}
            recipe = Recipe(1, chance.choice((DType.F32, DType.F16)), chance.choice(LAYOUTS))
            first, second = (
                [*replace(recipe, seed=seed).inputs(program, sizes).values()] for seed in (1, 2)
            )
            both = zip(first, second, strict=True)  # with the same numbers
            first = [one if isinstance(one, torch.Tensor) else other for one, other in both]
            getattr(module, function)(*first)
            with seen(module) as new:
                is_same(module, second, function)
                is_same(module, first, function)
            assert not new, (name, sizes, recipe)


def check_what_is_like() -> None:
    """Another shape, stride, type or address is another call."""
    _, module = generated(ADD)
    A, B = pair()
    calls = {
        "first": (A, B),
        "another shape": pair(9),
        "the other shape": pair(8, 65),
        "another stride": (A.t().contiguous().t(), B),
        "of the other": (A, B.t().contiguous().t()),
        "another type": (A.half(), B.half()),
        "of one": (A, B.half()),
        "another address": (torch.randn(8 * 64 + 1)[1:].view(8, 64), B),
        "the other address": (A, torch.randn(8 * 64 + 2)[2:].view(8, 64)),
    }
    for name, inputs in calls.items():
        with seen(module) as new:
            module.f(*inputs)
        assert new, name
    for name, inputs in calls.items():
        with seen(module) as new:
            is_same(module, inputs)
            is_same(module, [one.clone(memory_format=torch.preserve_format) for one in inputs])
        assert not new, name


def check_numbers() -> None:
    """A number is a part of what is like, with its type and its sign."""
    text = "Func f; In A; SIn a, i: i32, c: bool; Var y, x; f[y, x] = where(c, A[y, x] * a + i, 0);"
    _, module = generated(f"{text} f.block(x:64); f.tensorize(x:0);")
    A, _ = pair()
    numbers = [(a, i, c) for a in (0.0, -0.0, 1.0, 2.5) for i in (1, 0, 7) for c in (True, False)]
    for one in numbers:
        with seen(module) as new:
            module.f(A, *one)
        assert new, one
    for one in numbers:
        with seen(module) as new:
            is_same(module, (pair(seed=2)[0], *one))
        assert not new, one
    others: list[tuple[Any, ...]] = [(float("nan"), 1, True), (1, 1, True), (True, 1, 1)]
    for one in others:
        for _ in range(2):
            try:
                is_same(module, (A, *one))
            except TypeError:
                assert one[2] is not True


def check_numbers_in_tensors() -> None:
    """Of a tensor that is a number, the value counts; of one that a kernel reads, it does not."""
    text = "Func f; In A; SIn a, i: i32; Var y, x; f[y, x] = A[y, x] * a + i;"
    _, module = generated(f"{text} f.block(x:64); f.tensorize(x:0);")
    A, _ = pair()
    scale = torch.nn.Parameter(torch.tensor(1.0))
    with torch.no_grad():
        for value in (2.0, 5.0, -1.0, 5.0):
            scale.fill_(value)
            for a in (torch.tensor(value), scale):
                is_same(module, (A, a, 3))
                is_same(module, (A, a, torch.tensor(int(value))))
        module.f(A, 2.0, torch.tensor(3))
        with pytest.raises(ValueError, match="must be from"):
            module.f(A, 2.0, torch.tensor(2**40))
    text = "Func f; In A, s; Var y, x; f[y, x] = A[y, x] * s[];"
    _, module = generated(f"{text} f.block(x:64); f.tensorize(x:0);")
    module.f(A, torch.tensor(2.0))
    with seen(module) as new:
        is_same(module, (A, torch.tensor(5.0)))
    assert not new


def check_one_tensor_twice() -> None:
    """Where both inputs are one, nothing says which of them a kernel was given."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, A)
    is_same(module, (A, B))
    is_same(module, (B, B))
    is_same(module, (A, B))
    view = A.view(8, 64)
    is_same(module, (A, view))
    is_same(module, (A, B))


def check_what_is_given_by_name() -> None:
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    out = torch.empty(8, 64)
    launches, got = launched(lambda: module.f(A, B, out=out))
    assert got is out
    assert out.data_ptr() in launches[0]
    launches, _ = launched(lambda: module.f(B=A, A=B))
    assert [one for one in launches[0] if one in (A.data_ptr(), B.data_ptr())] == [
        B.data_ptr(),
        A.data_ptr(),
    ]
    _, module = generated(ADD.replace("A", "function"))
    assert launched(lambda: module.f(function=A, B=B))[0]


def check_what_is_refused() -> None:
    """As by the whole wrapper, though the call is like one before in all else."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    negative = torch.complex(A, A).conj().imag
    assert negative.is_neg()
    freed = A.clone()
    freed.untyped_storage().resize_(0)
    wrong: tuple[tuple[Any, ...], ...] = (
        (A.clone().requires_grad_(), B),
        (A, negative),
        (A, freed),
        (A, zeros(8, 64)),
        (A,),
        (A, B, A),
        (A, 3.0),
        (3.0, 3.0),
        (A, None),
        (A.to_sparse(), B),
    )
    for inputs in wrong:
        told = list[str]()
        for function in (module.f, module.f.__wrapped__):
            try:
                function(*inputs)
            except (RuntimeError, TypeError, ValueError) as error:
                told.append(f"{type(error).__name__}: {error}")
        assert len(told) == 2, inputs
        assert told[0] == told[1], told
    with torch.no_grad():
        is_same(module, (A.clone().requires_grad_(), torch.nn.Parameter(B)))


def check_sums_that_programs_add_to() -> None:
    """What clears memory is launched each time."""
    _, module = generated(ATOMIC)
    module.f(torch.randn(8, 64))
    with seen(module) as new:
        is_same(module, [torch.randn(8, 64)])
    assert not new
    assert len(launched(lambda: module.f(torch.randn(8, 64)))[0]) == 2


if __name__ == "__main__":
    raise SystemExit(repeat(globals()))
