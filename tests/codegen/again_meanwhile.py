"""Calls like one before while others are made, by threads and by what interrupts."""

import gc
import inspect
import weakref
from collections.abc import Callable
from random import Random
from typing import Any
from unittest import mock

import torch

from tests.codegen.keeping import in_threads, ran
from tests.codegen.repeated import (
    ADD,
    EXAMPLES,
    generated,
    is_same,
    launched,
    pair,
    repeat,
)


def check_a_call_that_interrupts_another() -> None:
    """As a finalizer may: what either launches is not taken for a part of the other."""
    _, module = generated(ADD)
    _, other = generated(ADD.replace("+", "*"))
    A, B = pair()
    out = torch.empty(8, 64)
    interruptions: tuple[Callable[[], object], ...] = (
        lambda: other.f(A, B),
        lambda: other.f(A, B, out=out),
        lambda: other.f.__wrapped__(A, B),
        lambda: module.f(*pair(9)),
        lambda: module.f(A, B, out=out),
    )
    for number, interrupt in enumerate(interruptions):
        inputs = pair(10 + number)
        offset, left = module.dt_offset, [interrupt]

        def between(*args: Any, whole: Any = offset, calls: list[Any] = left, **named: Any) -> Any:
            if calls:
                calls.pop()()
            return whole(*args, **named)

        with mock.patch.object(module, "dt_offset", between):
            module.f(*inputs)
        assert not left
        is_same(module, inputs)
        is_same(module, inputs)
        is_same(other, inputs)


def check_another_function_that_interrupts() -> None:
    """One of the same file, of which nothing is kept: what it launches is not this one's."""
    _, module = generated(
        "Func f, g; In A, B; Var x, y; f[x, y] = A[x, y] + B[x, y]; g[x, y] = A[x, y] * B[x, y];"
        "f.block(x:1, y:64); f.compile(); g.compile();"
    )
    A, B = pair()
    offset, left = module.dt_offset, ["g"]

    def between(*args: Any, **named: Any) -> Any:
        if left and left.pop():
            module.g.__wrapped__(*pair())
        return offset(*args, **named)

    with mock.patch.object(module, "dt_offset", between):
        assert len(launched(lambda: module.f(A, B))[0]) == 2
    is_same(module, (A, B))
    is_same(module, (A, B))


def check_nothing_holds_tensors() -> None:
    """A call that is kept does not keep the memory of its tensors."""
    _, module = generated((EXAMPLES / "ragged_matmul.dt").read_text())
    A, B = torch.randn(64, 40).half(), torch.randn(40, 72).half()
    alive = [weakref.ref(one) for one in (A, B, module.ragged_matmul(A, B))]
    del A, B
    ran.all.clear()
    ran.kept = ()
    gc.collect()
    assert [one() is None for one in alive] == [True] * 3


def check_many_calls() -> None:
    """No more are kept than fit, and those that are forgotten are done all the same."""
    _, module = generated(ADD)
    known = inspect.getclosurevars(module.f).nonlocals["known"]
    for columns in range(1, 4200):
        A = torch.empty(columns)[None, :].expand(1, columns)
        module.f(A, A.clone())
    assert 0 < len(known) <= 4096
    is_same(module, pair(1, 1))


def check_calls_of_threads() -> None:
    """Calls of several threads at once launch what each would alone."""
    _, module = generated((EXAMPLES / "ragged_matmul.dt").read_text())
    shapes = [(m, n, k) for m in (8, 24) for n in (16, 40) for k in (3, 64)]
    wrong = list[Any]()
    inputs_of = {
        (m, n, k): [torch.randn(m, k).half(), torch.randn(k, n).half()] for m, n, k in shapes
    }
    for inputs in inputs_of.values():  # Triton may compile twice what two threads ask for at once
        module.ragged_matmul.__wrapped__(*inputs)

    def work(seed: int) -> None:
        chance = Random(seed)
        for _ in range(40):
            inputs = inputs_of[chance.choice(shapes)]
            try:
                is_same(module, inputs, "ragged_matmul")
            except BaseException as error:
                wrong.append(error)

    in_threads(work, 6)
    assert not wrong, wrong[0]


if __name__ == "__main__":
    raise SystemExit(repeat(globals()))
