"""Calls like one before where something around is not: what torch looks at, devices, memory."""

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from typing import Any
from unittest import mock

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from tests.codegen.keeping import triton
from tests.codegen.repeated import ADD, generated, is_same, launched, pair, repeat, seen


class Looked(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Something that sees each operator."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Half(TorchFunctionMode):
    """Something that makes all new memory of another type."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        other = {"dtype": torch.float16} if func.__name__ == "empty" else {}
        return func(*args, **{**(kwargs or {}), **other})


class Own(torch.Tensor):
    """A class of tensors that a user defines."""


class Stopped(Exception):
    """That the plan was looked at."""


def check_what_torch_looks_at() -> None:
    """The plan is carried out while torch compiles, records or transforms; so for other classes."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)

    def stop(*_: Any, **__: Any) -> Any:
        raise Stopped

    def seen_by(act: Callable[[], Any]) -> bool:
        with mock.patch.object(module, "dt_is_traced", stop):
            try:
                act()
            except Stopped:
                return True
        return False

    looked: Any = Looked

    def watched() -> None:
        with looked():
            module.f(A, B)

    def dual() -> None:
        with torch.autograd.forward_ad.dual_level():
            module.f(A, B)

    def compiling() -> None:
        with mock.patch.object(torch.compiler, "_is_compiling_flag", True):
            module.f(A, B)

    record: Callable[..., Any] = make_fx
    trace: Callable[..., Any] = getattr(torch.jit, "trace")  # noqa: B009 - it has no types

    def called(A: torch.Tensor, B: torch.Tensor) -> Any:
        return module.f(A, B)

    others: dict[str, Callable[[], Any]] = {
        "a trace": lambda: trace(called, (A, B)),
        "an early record": lambda: record(called, pre_dispatch=True)(A, B),
        "a mode": watched,
        "a level of tangents": dual,
        "vmap": lambda: torch.vmap(module.f)(A[None], B[None]),
        "another class": lambda: module.f(A.as_subclass(Own), B),
        "an export": compiling,
    }
    assert not seen_by(lambda: module.f(A, B))
    assert not seen_by(lambda: module.f(A, torch.nn.Parameter(B, requires_grad=False)))
    for name, act in others.items():
        assert seen_by(act), name
    is_same(module, (A.as_subclass(Own), B))


def check_what_changes_functions_of_torch() -> None:
    """Nothing is kept of what another mode made, and nothing launched again in one.

    A default device is such a mode, too, and changes nothing here.
    """
    _, module = generated(ADD)
    A, B = pair()
    half: Any = Half
    with half():
        assert module.f(A, B).dtype is torch.float16
    assert module.f(A, B).dtype is torch.float32
    with half():
        assert module.f(A, B).dtype is torch.float16
    with torch.device("cpu"), seen(module) as new:
        is_same(module, (A, B))
        with mock.patch.object(module, "dt_is_traced", side_effect=Stopped):
            module.f(A, B)
    assert not new


def check_what_torch_runs_itself() -> None:
    """It saw the operator, and is looking still: then the operator launches, and asks no more."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    with mock.patch.object(torch.compiler, "_is_compiling_flag", True):
        launches, _ = launched(lambda: module.f(A, B))
        assert len(launches) == 1
    is_same(module, (A, B))


def check_who_looks_at_launches() -> None:
    """A watcher, or a hook, sees the launches of Triton itself."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)

    def is_direct() -> bool:
        ((*_, run),) = (launched(lambda: module.f(A, B))[0],)
        return run[7] is None and run[8] is None

    assert is_direct()
    with mock.patch.object(triton.knobs.runtime, "debug", True):
        assert not is_direct()
    assert is_direct()
    looked = list[str]()

    def before(*_: object, **__: object) -> None:
        looked.append("before")

    module.f_kernel.add_pre_run_hook(before)
    assert not is_direct()
    assert looked == ["before"]
    module.f_kernel.pre_run_hooks.clear()
    assert is_direct()


def check_another_device() -> None:
    """A call for a device that is not the current one is done with that as the current one."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    # For a call like one before it is asked before that is looked at, too.
    for inputs, count in (((A, B), 2), (pair(9), 1)):
        entered, answers = list[torch.device](), iter([False] * count)

        def is_it(_: torch.device, left: Iterator[bool] = answers) -> bool:
            return next(left, True)

        def enter(device: torch.device, met: list[torch.device] = entered) -> nullcontext[None]:
            met.append(device)
            return nullcontext()

        with (
            mock.patch.object(module, "dt_is_current", is_it),
            mock.patch.object(torch.cuda, "device", enter),
        ):
            launches, out = launched(partial(module.f, *inputs))
        assert entered == [A.device]
        assert [run[:4] for run in launches] == [(len(out), 1, 1, 1000)]
        is_same(module, inputs)


def check_memory_that_begins_anywhere() -> None:
    """If an allocator gives memory that is not aligned, no wrong kernel runs."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    whole = torch.empty(8 * 64 + 1)
    with mock.patch.object(torch, "empty_strided", return_value=whole[1:].view(8, 64)):
        launches, out = launched(lambda: module.f(A, B))
    assert out.data_ptr() % 16 == 0
    assert len(launches) == 1
    assert out.data_ptr() in [
        getattr(one, "data_ptr", lambda one=one: one)() for one in launches[0]
    ]


def check_memory_that_began_anywhere() -> None:
    """Nor is what is launched for such memory launched again for other."""
    _, module = generated(ADD)
    A, B = pair()
    whole = torch.empty(8 * 64 + 1)
    with mock.patch.object(torch, "empty", return_value=whole[1:].view(8, 64)):
        module.f(A, B)
    with seen(module) as new:
        is_same(module, (A, B))
    assert new


def check_nothing_is_kept_of_what_is_not_launched_alike() -> None:
    """A call that raises, one of an unknown version of Triton, and one with room for Triton."""
    _, module = generated(ADD)
    A, B = pair()
    with (
        mock.patch.object(module, "dt_offset", side_effect=ValueError("no")),
        pytest.raises(ValueError, match="no"),
    ):
        module.f(A, B)
    is_same(module, (A, B))
    with mock.patch.object(module, "dt_is_direct", False):
        assert module.dt_again(Stopped, {}, [], None, 0, [0]) is Stopped
    _, module = generated(ADD)
    with mock.patch.object(module, "dt_start", return_value=None), seen(module) as new:
        module.f(A, B)
    assert not new
    _, module = generated(ADD)
    empty = (torch.empty(0, 4), torch.empty(0, 4))
    assert [module.f(*empty).shape for _ in range(3)] == [(0, 4)] * 3
    with seen(module) as new:
        is_same(module, (A, B))
        is_same(module, (A, B))
    assert new == ["new"]


if __name__ == "__main__":
    raise SystemExit(repeat(globals()))
