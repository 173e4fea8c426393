"""Calls like one before, tried without a GPU: they launch what the whole plan would launch.

`python -m tests.runtime.like_calls` prints a line of JSON for each check, in a process in which
Triton does not interpret; its driver and its compiler only keep what they are asked for.
"""

import gc
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import Any
from unittest import mock

import pytest
import torch
from torch.overrides import TorchFunctionMode

from tests.codegen.keeping import anew, checks_of, do, driver, in_threads, ran, triton
from tests.codegen.repeated import empty, is_current
from tests.runtime.planned import (
    ADD,
    ADD_PLAN,
    FILL,
    FILL_PLAN,
    SCALE,
    SCALE_PLAN,
    Plan,
    changed,
    file_of,
)
from tests.runtime.test_carried_plans import TURNS, launch

addresses = set[int]()


def loaded(kernels: str, plan: Plan) -> Any:
    """Return a file that takes the CPU for a GPU."""
    text = file_of(kernels, plan)
    for one in ("tensor.is_cuda", "outs[0].is_cuda"):
        assert one in text
        text = text.replace(one, one.replace("cuda", "cpu"))
    module: Any = anew(text)
    module.dt_is_current = is_current

    def made(*given: Any) -> torch.Tensor:
        tensor = empty(*given)
        addresses.add(tensor.data_ptr())
        return tensor

    module.dt_empty = made
    return module


def launched(call: Callable[[], torch.Tensor]) -> tuple[list[Any], torch.Tensor]:
    """Return what a call launches, and gives."""
    ran.all.clear()
    make = torch.empty

    def noted(*given: Any, **named: Any) -> torch.Tensor:
        tensor = make(*given, **named)
        addresses.add(tensor.data_ptr())
        return tensor

    with mock.patch.object(torch, "empty", noted):
        out = call()
    return [*ran.all], out


def told(launches: Sequence[Any], tensors: Sequence[Any], out: torch.Tensor) -> str:
    """Launches as text, with addresses by the numbers of their tensors; and the result."""
    known = {one.data_ptr(): at for at, one in enumerate(tensors) if isinstance(one, torch.Tensor)}

    def shown(one: Any) -> Any:
        base = getattr(one, "base", None)
        if base is not None:
            return shown(base), one.shape, one.strides, one.block_shape
        address = one.data_ptr() if isinstance(one, torch.Tensor) else one
        if type(address) is int and address in addresses | known.keys():
            return f"tensor {known.setdefault(address, len(known))}"
        return one

    runs = [(*run[:6], *map(shown, run[9:])) for run in launches]
    return str([*runs, shown(out), out.shape, out.stride(), out.dtype])


@contextmanager
def kept(module: Any) -> Generator[list[Any]]:
    """Yield the keys of calls that are kept."""
    found = list[Any]()
    keep = module.dt_keep

    def noted(known: Any, key: Any, what: Any) -> None:
        found.append(key)
        keep(known, key, what)

    with mock.patch.object(module, "dt_keep", noted):
        yield found


def is_same(module: Any, *given: Any, **named: Any) -> None:
    """A call launches what the whole plan launches."""
    got = launched(lambda: module.f(*given, **named))
    wanted = launched(lambda: module.f.__wrapped__(*given, **named))
    assert got[0]
    tensors = [*given, *named.values()]
    assert told(got[0], tensors, got[1]) == told(wanted[0], tensors, wanted[1])


def is_direct(module: Any, *given: Any, **named: Any) -> bool:
    """Return whether a call is done without the plan."""
    with mock.patch.object(module, "dt_start", side_effect=AssertionError("the whole plan")):
        try:
            module.f(*given, **named)
        except AssertionError:
            return False
    return True


def pair(count: int = 64) -> tuple[torch.Tensor, torch.Tensor]:
    return torch.randn(count), torch.randn(count)


def check_the_second_call() -> None:
    module = loaded(ADD, ADD_PLAN)
    with kept(module) as keys:
        module.f(*pair())
        is_same(module, *pair())
        assert is_direct(module, *pair())
    assert len(keys) == 1


def check_what_is_like() -> None:
    """Another shape, stride, type or address is another call."""
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    calls = (
        (A, B),
        pair(65),
        (A.repeat(2)[::2], B),
        (A, B.repeat(2)[::2]),
        (A.half(), B),
        (A, B.half()),
        (torch.randn(65)[1:], B),
        (A, torch.randn(65)[1:]),
    )
    for call in calls:
        assert not is_direct(module, *call)
        module.f(*call)
        assert is_direct(module, *call)
    for call in calls:
        is_same(module, *call)


def check_one_tensor_twice() -> None:
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    module.f(A, A)
    assert is_direct(module, A, B)
    is_same(module, A, B)
    is_same(module, B, B)


def check_into_memory_that_is_there() -> None:
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    out, other = torch.empty(64), torch.empty(64)
    module.f(A, B, out=out)
    assert is_direct(module, A, B, out=other)
    assert not is_direct(module, A, B)
    assert module.f(A, B, out=other) is other
    is_same(module, A, B, out=other)
    before = other._version
    module.f(A, B, out=other)
    assert other._version == before + 1
    assert not is_direct(module, A, B, out=torch.empty(128)[::2])


def check_overlaps_are_looked_at_in_each_call() -> None:
    module = loaded(ADD, ADD_PLAN)
    whole, B = torch.randn(256), torch.randn(64)
    module.f(whole[:64], B, out=whole[64:128])
    assert is_direct(module, whole[:64], B, out=whole[128:192])
    for begin in (0, 4, 60):
        with pytest.raises(ValueError, match="'out' overlaps 'A'"):
            module.f(whole[:64], B, out=whole[begin : begin + 64])
    with pytest.raises(ValueError, match="'out' overlaps 'B'"):
        module.f(B, whole[:64], out=whole[32:96])
    module.f(whole[:128:2], B, out=whole[1:129:2])
    with pytest.raises(ValueError, match="'out' overlaps 'A'"):
        module.f(whole[4:132:2], B, out=whole[:128:2])
    assert is_direct(module, whole[4:132:2], B, out=whole[1:129:2])


def check_sizes_by_name() -> None:
    sizes = {"x": "A.shape[0]", "y": None, "z": "A.shape[0] // 2"}
    passed = {"y": (), "z": ()}
    launch_ = {"numbers": {"x_size": "x + y + z"}}
    module = loaded(ADD, changed(ADD_PLAN, sizes=sizes, passed=passed, launch=launch_))
    A, B = pair()
    for named in ({"y": 1}, {"y": 2}, {"y": 1, "z": 0}, {"y": 1, "z": 1}):
        assert not is_direct(module, A, B, **named)
        module.f(A, B, **named)
        assert is_direct(module, A, B, **named)
        is_same(module, A, B, **named)
    for wrong in (1.0, "1", None, -1):
        with pytest.raises((TypeError, ValueError), match="'y'"):
            module.f(A, B, y=wrong)
    is_same(module, A, B, y=torch.tensor(2))
    is_same(module, A, B, y=True)


def check_numbers() -> None:
    """Whole ones are a part of what is like; floats are given to the kernel as they are."""
    module = loaded(SCALE, SCALE_PLAN)
    A = torch.randn(4, 64)
    module.f(A, 0.5, 1)
    for a in (0.5, 1.5, -0.0, float("nan"), float("inf")):
        assert is_direct(module, A, a, 1)
        is_same(module, A, a, 1)
    assert not is_direct(module, A, 0.5, 2)
    module.f(A, 2, 3)  # floats from now on
    assert is_direct(module, A, 2.0, 3)
    others: tuple[tuple[Any, Any], ...] = (
        (2, 3),
        (True, 3),
        (torch.tensor(2.0), torch.tensor(3)),
        (2.0, True),
    )
    for x, n in others:
        is_same(module, A, x, n)
    with pytest.raises(TypeError, match="'n' must be a whole number"):
        module.f(A, 1.0, 1.0)
    with pytest.raises(TypeError, match="'a' must be a number"):
        module.f(A, None, 1)


def check_triton_is_asked_once_for_a_variant() -> None:
    """Sizes do not matter to what was compiled, but types do, and numbers of more than 32 bits."""
    numbers = {"A": ("float", 2), "a": "float", "n": ("int", -(2**63), 2**63 - 1)}
    module = loaded(SCALE, changed(SCALE_PLAN, inputs=numbers))
    A = torch.randn(4, 64)

    def is_asked(*given: Any) -> bool:
        with mock.patch.object(triton.runtime.jit.JITFunction, "run", side_effect=AssertionError):
            try:
                module.f(*given)
            except AssertionError:
                return True
        return False

    assert is_asked(A, 0.5, 2)
    module.f(A, 0.5, 2)
    for n in (3, 2**31 - 1, -(2**31)):
        assert not is_asked(torch.randn(8, 64), 1.5, n)
        is_same(module, torch.randn(8, 64), 1.5, n)
    for n in (2**31, -(2**31) - 1):
        assert is_asked(A, 0.5, n)
    assert is_asked(A.half(), 0.5, 2)
    assert is_asked(torch.randn(4, 80), 0.5, 2)  # lanes(y) is another number


def check_panels_and_memory_between() -> None:
    tensors = {"A": "x_size y_size", "g": "x_size y_size"}
    how = {"programs": ("x", "y"), "turns": 2, "numbers": {"x_size": "x", "y_size": "y"}}
    plan: Plan = {
        "function": "f",
        "inputs": {"A": ("f32", 2)},
        "sizes": {"x": "A.shape[0]", "y": "A.shape[1]"},
        "results": {"f": {"shape": ("x", "y"), "dtype": "A", "pitched": True}},
        "between": {"g": {"shape": ("x", "y"), "dtype": "A"}},
        "panels": {"labels": ("y",), "size": 4, "cut": {"A": 1, "g": 1, "f": 1}},
        "launches": [
            launch("first", tensors, panel="first") | how,
            launch("last", {"g": "x_size y_size", "f": "x_size y_size"}, panel="last") | how,
        ],
    }
    first = TURNS.replace("turn", "first").replace("PANEL", "panel,").replace("VALUE", "panel")
    last = TURNS.replace("turn", "last").replace("PANEL", "").replace("VALUE", "1")
    module = loaded(first + last, plan)
    for width in (3, 4, 11):
        A = torch.randn(3, width)
        module.f(A)
        assert is_direct(module, A)
        launches, out = launched(partial(module.f, A))
        wanted, whole = launched(partial(module.f.__wrapped__, A))
        assert len(launches) == len(wanted) == 2 * -(-width // 4)
        for one, other in zip(launches, wanted, strict=True):
            assert [*one[:6]] == [*other[:6]]  # as many programs, of the same kernel
            assert sum(type(value) is int and value > 1 << 20 for value in one[9:]) == 2
        assert out.stride() == whole.stride()


def check_descriptors() -> None:
    block = {"of": "A", "block": (16,), "axes": (0,)}
    text = ADD.replace("x_size,", "x_size, A_blocks,", 1)
    for takes_apart in (False, True):
        driver.takes_apart = takes_apart
        module = loaded(text, changed(ADD_PLAN, launch={"descriptors": {"A_blocks": block}}))
        A, B = pair()
        module.f(A, B)
        assert is_direct(module, A, B)
        C, _ = pair()
        launches, _ = launched(partial(module.f, C, B))
        if not takes_apart:
            (one,) = [value for value in launches[0][9:] if hasattr(value, "base")]
            assert one.base.data_ptr() == C.data_ptr()
            assert (one.shape, one.block_shape) == ([64], [16])
            is_same(module, C, B)
    driver.takes_apart = False


def check_what_torch_or_a_person_watches() -> None:
    """Hooks, modes and tracing lead to the whole plan; a default device does not."""
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    module.f(A, B)
    assert is_direct(module, A, B)
    with mock.patch.object(triton.knobs.runtime, "debug", True):
        assert not is_direct(module, A, B)
    looked = list[str]()

    def before(*_: object, **__: object) -> None:
        looked.append("before")

    module.add_kernel.add_pre_run_hook(before)
    assert not is_direct(module, A, B)
    module.f(A, B)
    assert looked == ["before"]
    module.add_kernel.pre_run_hooks.clear()
    assert is_direct(module, A, B)

    class Mode(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            return func(*args, **(kwargs or {}))

    mode: Any = Mode
    with mode():
        assert not is_direct(module, A, B)
    with torch.device("cpu"):
        assert is_direct(module, A, B)
    with torch.autograd.forward_ad.dual_level():
        assert not is_direct(module, A, B)
    assert is_direct(module, A, torch.nn.Parameter(B, requires_grad=False))
    with torch.no_grad():
        assert is_direct(module, A, torch.nn.Parameter(B))
    with pytest.raises(RuntimeError, match="'B' requires a gradient"):
        module.f(A, torch.nn.Parameter(B))


def check_another_device() -> None:
    """A call for a device that is not the current one is done with that as the current one."""
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    module.f(A, B)
    for inputs, asked in (((A, B), 2), (pair(9), 1)):  # like a call before, and like none
        entered, answers = list[torch.device](), iter([False] * asked)

        def is_it(_: torch.device, left: Iterator[bool] = answers) -> bool:
            return next(left, True)

        @contextmanager
        def enter(device: torch.device, met: list[torch.device] = entered) -> Generator[None]:
            met.append(device)
            yield

        with (
            mock.patch.object(module, "dt_is_current", is_it),
            mock.patch.object(torch.cuda, "device", enter),
        ):
            launches, _ = launched(partial(module.f, *inputs))
        assert entered == [A.device]
        assert len(launches) == 1
        is_same(module, *inputs)


def check_memory_that_begins_anywhere() -> None:
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    room = torch.empty(65)
    with mock.patch.object(torch, "empty", return_value=room[1:]), kept(module) as keys:
        module.f(A, B)
    assert not keys
    module.f(A, B)
    with mock.patch.object(torch, "empty_strided", return_value=room[1:]):
        assert not is_direct(module, A, B)
        assert module.f(A, B).data_ptr() % 16 == 0
    is_same(module, A, B)


def check_memory_for_triton() -> None:
    """A kernel that asks for memory of its own is launched whole, unless it is specialized."""
    module = loaded(ADD, ADD_PLAN)
    A, B = pair()
    start = module.dt_in_parts

    def asking(run: Any, descriptors: Any) -> Any:
        class Run:
            global_scratch_size = 128

            def __call__(self, *given: Any) -> None:
                run(*given)

        return Run(), start(run, descriptors)[1]

    with mock.patch.object(module, "dt_in_parts", asking), kept(module) as keys:
        module.f(A, B)
    assert not keys


def check_nothing_holds_tensors() -> None:
    block = {"of": "A", "block": (16,), "axes": (0,)}
    plan = changed(
        ADD_PLAN,
        launch={"descriptors": {"A_blocks": block}},
        between={"g": {"shape": ("x",), "dtype": "A"}},
    )
    module = loaded(ADD.replace("x_size,", "x_size, A_blocks,", 1), plan)
    A, B = pair()
    alive = [weakref.ref(one) for one in (A, B, module.f(A, B), module.f(A, B, out=B.clone()))]
    del A, B
    ran.all.clear()
    ran.kept = ()
    gc.collect()
    assert [one() is None for one in alive] == [True] * 4


def check_many_calls() -> None:
    """No more are kept than fit, and those that are forgotten are done all the same."""
    module = loaded(ADD, ADD_PLAN)
    sizes = list[int]()
    keep = module.dt_keep

    def noted(known: Any, key: Any, what: Any) -> None:
        keep(known, key, what)
        sizes.append(len(known))

    A = torch.empty(4400)
    with mock.patch.object(module, "dt_keep", noted):
        for count in range(1, 4200):
            module.f(A[:count], A[:count])
    assert max(sizes) == 4096
    is_same(module, A[:1], A[:1])


def check_calls_of_threads() -> None:
    module = loaded(ADD, ADD_PLAN)
    inputs = [pair(count) for count in range(1, 9)]
    for one in inputs:  # Triton may compile twice what two threads ask for at once
        module.f.__wrapped__(*one)
    wrong = list[BaseException]()

    def work(seed: int) -> None:
        chance = Random(seed)
        for _ in range(60):
            try:
                launches = len(launched_here(module, *chance.choice(inputs)))
                assert launches == 1
            except BaseException as error:
                wrong.append(error)

    in_threads(work, 6)
    assert not wrong, wrong[0]


def launched_here(module: Any, *given: Any) -> list[Any]:
    """Return the launches of this thread."""
    ran.all.clear()
    module.f(*given)
    return [*ran.all]


def check_without_tensors() -> None:
    """A call without tensors is not kept: nothing but its arguments says where it runs."""
    module = loaded(FILL, FILL_PLAN)
    with mock.patch.object(module, "dt_device", return_value=torch.device("cpu")):
        for _ in range(2):
            assert not is_direct(module, 0.5, x=20)
            assert len(launched(lambda: module.f(0.5, x=20))[0]) == 1


def check_an_unknown_triton() -> None:
    """A version of Triton whose launches are not known launches all calls itself."""
    text = file_of(ADD, ADD_PLAN).replace('"3.9."', '"2.9."')
    module: Any = anew(text.replace("tensor.is_cuda", "tensor.is_cpu"))
    module.dt_is_current = is_current
    A, B = pair()
    for _ in range(2):
        assert len(launched(lambda: module.f(A, B))[0]) == 1
        assert not is_direct(module, A, B)


if __name__ == "__main__":
    raise SystemExit(do(checks_of(globals())))
