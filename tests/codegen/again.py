"""Calls like one before, tried without a GPU: they launch what the plan would launch.

`python -m tests.codegen.again` prints a line of JSON for each check, and so do the others.
"""

from dataclasses import replace
from functools import partial
from random import Random
from typing import Any

import pytest
import torch

from dtpoly.algorithm.dtypes import DType
from tests.codegen.calls import zeros
from tests.codegen.inputs import Recipe
from tests.codegen.repeated import (
    ADD,
    ATOMIC,
    EXAMPLES,
    IN_PLACE,
    LAYOUTS,
    NAMES,
    SEVERAL,
    generated,
    is_same,
    launched,
    pair,
    plans_in,
    repeat,
    seen,
)


def check_examples() -> None:
    """Of all kinds, and at sizes and in layouts of all kinds; the second call is like the first."""
    chance = Random(5)
    for name in NAMES:
        program, module = generated((EXAMPLES / f"{name}.dt").read_text())
        labels = [label.name for label in program.labels]
        (function,) = plans_in(module)
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


def check_numbers_of_like_calls() -> None:
    """A whole number or a truth is a part of what is like; a float is passed as it is."""
    text = "Func f; In A; SIn a, i: i32, c: bool; Var y, x; f[y, x] = where(c, A[y, x] * a + i, 0);"
    _, module = generated(f"{text} f.block(x:64); f.tensorize(x:0);")
    A, _ = pair()
    numbers = [(a, i, c) for a in (0.0, -0.0, 1.0, 2.5) for i in (1, 0, 7) for c in (True, False)]
    for one in numbers:
        with seen(module) as new:
            module.f(A, *one)
        assert new == (["new"] if str(one[0]) == "0.0" else []), one
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
    """If both inputs are one tensor, nothing says which of them a kernel was given."""
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
    launches, _ = launched(lambda: module.f(B=A, A=B))
    assert [one for one in launches[0] if one in (A.data_ptr(), B.data_ptr())] == [
        B.data_ptr(),
        A.data_ptr(),
    ]
    _, module = generated(ADD.replace("A", "function"))
    assert launched(lambda: module.f(function=A, B=B))[0]


def check_into_a_tensor_that_is_there() -> None:
    """Calls with `out=` are like those with one like it; it is looked at as in the first call."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    with seen(module) as new:
        assert module.f(A, B, out=torch.empty(8, 64)).shape == (8, 64)
        module.f(A, B, out=torch.empty(64, 8).t())
    assert new == ["new", "new"]
    with seen(module) as new:
        for out in (torch.empty(8, 64), torch.empty(64, 8).t()):
            before = out._version
            launches, got = launched(partial(module.f, A, B, out=out))
            assert got is out
            assert out.data_ptr() in launches[0]
            assert out._version == before + 1
            is_same(module, (A, B), out=out)
    assert not new
    told = list[str]()
    for function in (module.f, module.f.__wrapped__):
        with pytest.raises(ValueError, match="overlaps 'B'") as refused:
            function(A, B, out=B)
        told.append(str(refused.value))
    assert told[0] == told[1]


def check_several_results() -> None:
    """Each is new memory, or one of the tensors of `out=`, which must not be each other."""
    _, module = generated(SEVERAL)
    A, B = pair()

    def outs() -> tuple[torch.Tensor, ...]:
        return torch.empty(64, 8).t(), torch.empty(8), torch.empty(16)[::2]

    module.f(A)
    module.f(A, out=outs())
    with seen(module) as new:
        launches, got = launched(partial(module.f, B))
        assert [type(got), len(got)] == [tuple, 3]
        assert all(one.data_ptr() in launches[0] for one in got)
        is_same(module, (B,))
        out = outs()
        launches, got = launched(partial(module.f, B, out=out))
        assert all(one is given for one, given in zip(got, out, strict=True))
        assert all(one.data_ptr() in launches[0] for one in out)
        assert [one._version for one in out] == [1, 1, 1]
        is_same(module, (A,), out=outs())
    assert not new
    is_same(module, (A[:, :0],))  # one result is empty, and the others are not
    is_same(module, (A[:, :0],))
    whole, one, _ = outs()
    wrong: tuple[Any, ...] = (
        (whole, one, one),
        (whole, A[0, :8], one),
        (whole, one),
        [whole, one, outs()[1]],
        whole,
    )
    for other in wrong:
        told = list[str]()
        for function in (module.f, module.f.__wrapped__):
            with pytest.raises((TypeError, ValueError)) as refused:
                function(A, out=other)
            told.append(str(refused.value))
        assert told[0] == told[1]


def check_what_is_refused() -> None:
    """As by the function that keeps nothing, though the call is like one before in all else."""
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


def check_results_in_place() -> None:
    """One result is the input that is given, another one is new memory; nothing else is kept."""
    _, module = generated(IN_PLACE)
    A, B = pair()
    module.f(A, B, 0.5)
    with seen(module) as new:
        for one, other in ((B.clone(), A.clone()), (A, B)):
            before = other._version
            launches, got = launched(partial(module.f, one, other, 2.5))
            assert [type(got), len(got)] == [tuple, 2]
            assert got[1] is other
            assert got[0] is not one
            assert {t.data_ptr() for t in (one, other, got[0])} <= {*launches[0]}
            assert other._version == before + 1
            is_same(module, (one, other, -0.0))
        with torch.no_grad():
            parameter = torch.nn.Parameter(B.clone())
            launches, got = launched(partial(module.f, A, parameter, 1.0))
            assert got[1] is parameter
            is_same(module, (A, parameter, 1.0))
    assert not new
    whole = torch.randn(2, 8, 64)
    shared: tuple[Any, ...] = (
        (A, A, 0.5),
        (whole[0], whole.view(-1)[64 : 64 + 512].view(8, 64), 0.5),
        (A, B[:1].expand(8, 64), 0.5),
    )
    for inputs in shared:
        for function in (module.f, module.f, module.f.__wrapped__):
            with pytest.raises(ValueError, match="'H' overlaps"):
                function(*inputs)
    with pytest.raises(RuntimeError, match="'H' requires a gradient"):
        module.f(A, B.clone().requires_grad_(), 0.5)
    for _ in range(2):
        with pytest.raises(TypeError, match="'H' is written in place: leave out 'out'"):
            module.f(A, B, 0.5, out=(A, B))


def check_sums_that_programs_add_to() -> None:
    """The kernel that clears memory is launched each time."""
    _, module = generated(ATOMIC)
    module.f(torch.randn(8, 64))
    with seen(module) as new:
        is_same(module, [torch.randn(8, 64)])
    assert not new
    assert len(launched(lambda: module.f(torch.randn(8, 64)))[0]) == 2


if __name__ == "__main__":
    raise SystemExit(repeat(globals()))
