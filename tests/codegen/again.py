"""Calls like one before, tried without a GPU: they launch what the whole wrapper would launch.

`python -m tests.codegen.again` prints a line of JSON for each check. Tensors are of the CPU, which
generated files are made to take for a GPU, and no kernel runs.
"""

import gc
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.program import Program
from dtpoly.compile import load
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.inputs import Layout, Recipe
from tests.codegen.keeping import anew, checks_of, do, in_threads, ran, triton

EXAMPLES = Path(__file__).parents[2] / "examples"
# Of one kernel and of several; with memory between, with descriptors, and early ones.
NAMES = (
    *("swiglu", "softmax", "cross_entropy", "tvd", "row_sum", "conv2d", "dyt", "layer_norm"),
    *("half_matmul", "ragged_matmul", "tf32_matmul", "mmsigmoid", "two_mm_outer", "attention"),
)
ATOMIC = (
    "Func f; In A; Var x; RVar k; f[x] = rsum(A[x, k], k); f.block(x:4, k:16); f.atomic(k);"
    "f.tensorize(x:0, k:0);"
)
ADD = "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[x, y]; f.block(x:1, y:64);"
ADD_PROGRAM = load(Source("test.dt", ADD))
LAYOUTS = (Layout.PLAIN, Layout.PLAIN, Layout.TRANSPOSED, Layout.SLICED)
Launches = list[tuple[Any, ...]]
made = set[int]()  # the addresses of all memory that was asked for


def generated(text: str) -> tuple[Program, ModuleType]:
    """A file that takes the CPU for a GPU."""
    program = load(Source("test.dt", text))
    made = code_of(judge(program).scheduled).text
    for one in ("tensor.is_cuda", "tensors[0].is_cuda"):
        assert one in made
        made = made.replace(one, one.replace("cuda", "cpu"))
    module: Any = anew(made)
    module.dt_is_current, module.dt_empty = is_current, empty
    return program, module


def empty(shape: Any, strides: Any, dtype: torch.dtype) -> torch.Tensor:
    """Memory of the CPU; it is as particular as what makes that of a GPU."""
    assert [type(shape), type(strides)] == [tuple, tuple]
    return torch.empty_strided(shape, strides, dtype=dtype)


def is_current(_: torch.device) -> bool:
    """What a machine with one GPU says."""
    return True


def noted(make: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """What makes tensors, with their addresses noted."""

    def make_one(*args: Any, **named: Any) -> torch.Tensor:
        tensor = make(*args, **named)
        made.add(tensor.data_ptr())
        return tensor

    return make_one


def launched(call: Callable[[], torch.Tensor]) -> tuple[Launches, torch.Tensor]:
    """What a call launches, and gives."""
    ran.all.clear()
    out = call()
    return [*ran.all], out


def named(launches: Launches, inputs: Sequence[torch.Tensor], out: torch.Tensor) -> list[Any]:
    """The grids, kernels and arguments of launches; addresses by the numbers of their tensors."""
    known = {tensor.data_ptr(): at for at, tensor in enumerate(inputs)}

    def told(one: Any) -> Any:
        base = getattr(one, "base", None)
        if base is not None:
            return told(base), one.shape, one.strides, one.block_shape
        address = one.data_ptr() if isinstance(one, torch.Tensor) else one
        if isinstance(address, int) and (address in known or address in made):
            return "tensor", known.setdefault(address, len(known))
        return address

    found = [(*run[:5], run[5], *map(told, run[9:])) for run in launches]
    return [*found, told(out), out.shape, out.stride(), out.dtype]


@contextmanager
def seen(module: ModuleType) -> Generator[list[str]]:
    """Which calls were like none before."""
    found = list[str]()
    keep = module.__dict__["dt_keep"]

    def noted(*args: Any) -> Any:
        found.append("new")
        return keep(*args)

    with mock.patch.object(module, "dt_keep", noted):
        yield found


def is_same(module: ModuleType, inputs: Sequence[Any], function: str = "f") -> None:
    """What is launched for inputs is what the whole wrapper launches."""
    f = getattr(module, function)
    got, wanted = launched(lambda: f(*inputs)), launched(lambda: f.__wrapped__(*inputs))
    assert got[0], "nothing was launched"
    tensors = [one for one in inputs if isinstance(one, torch.Tensor)]
    first, second = (str(named(launches, tensors, out)) for launches, out in (got, wanted))
    assert first == second  # as texts, since 0.0 is equal to -0.0


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


def pair(rows: int = 8, columns: int = 64, seed: int = 1) -> tuple[torch.Tensor, torch.Tensor]:
    """Two inputs of the same shape."""
    made = Recipe(seed).inputs(ADD_PROGRAM, {"x": rows, "y": columns})
    first, second = made.values()
    assert isinstance(first, torch.Tensor)
    assert isinstance(second, torch.Tensor)
    return first, second


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


def check_what_is_refused() -> None:
    """As by the whole wrapper, though the call is like one before in all else."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)
    negative = torch.complex(A, A).conj().imag
    assert negative.is_neg()
    wrong: tuple[tuple[Any, ...], ...] = (
        (A.clone().requires_grad_(), B),
        (A, negative),
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


class Looked(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Something that sees each operator."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


class Own(torch.Tensor):
    """Of a class of its own."""


class Stopped(Exception):
    """That the whole wrapper was called."""


def check_what_torch_looks_at() -> None:
    """Where it compiles, records or transforms, and for other classes: the whole wrapper."""
    _, module = generated(ADD)
    A, B = pair()
    module.f(A, B)

    def stop(*_: Any, **__: Any) -> Any:
        raise Stopped

    def seen_by(act: Callable[[], Any]) -> bool:
        with mock.patch.object(module, "dt_aside", stop):
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


def check_who_looks_at_launches() -> None:
    """Who watches, or has hooks, sees the launches of Triton itself."""
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
    for inputs in ((A, B), pair(9)):  # like a call before, and like none
        entered, answers = list[torch.device](), iter([False, False])

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
    """What an allocator gives that does not align is no reason for a wrong kernel."""
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
    assert module.dt_seen.launches is None
    is_same(module, (A, B))
    with mock.patch.object(module, "dt_versions", set[str]()):
        assert module.dt_again(module.f.__wrapped__) is module.f.__wrapped__
    with mock.patch.object(torch.version, "hip", "7.0"):
        assert module.dt_again(module.f.__wrapped__) is module.f.__wrapped__
    _, module = generated(ADD)
    with mock.patch.object(module, "f_launch"):  # which notes nothing
        module.f(A, B)
    is_same(module, (A, B))
    _, module = generated(ADD)
    empty = (torch.empty(0, 4), torch.empty(0, 4))
    assert [module.f(*empty).shape for _ in range(3)] == [(0, 4)] * 3
    with mock.patch.object(module, "dt_launches", return_value=None):
        module.f(A, B)
    with seen(module) as new:
        is_same(module, (A, B))
        is_same(module, (A, B))
    assert new == ["new"]


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
        assert module.dt_seen.launches is None
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
    """What is kept of a call keeps no memory of its tensors."""
    _, module = generated((EXAMPLES / "ragged_matmul.dt").read_text())
    A, B = torch.randn(64, 40).half(), torch.randn(40, 72).half()
    alive = [weakref.ref(one) for one in (A, B, module.ragged_matmul(A, B))]
    del A, B
    ran.all.clear()
    ran.kept = ()
    gc.collect()
    assert [one() is None for one in alive] == [True] * 3


def check_sums_that_programs_add_to() -> None:
    """What clears memory is launched each time."""
    _, module = generated(ATOMIC)
    module.f(torch.randn(8, 64))
    with seen(module) as new:
        is_same(module, [torch.randn(8, 64)])
    assert not new
    assert len(launched(lambda: module.f(torch.randn(8, 64)))[0]) == 2


def check_many_calls() -> None:
    """No more are kept than fit, and those that are forgotten are done all the same."""
    _, module = generated(ADD)
    known = module.f.__closure__[module.f.__code__.co_freevars.index("known")].cell_contents
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


def checks() -> dict[str, Callable[[], None]]:
    """All of them, by name."""
    return checks_of(globals())


if __name__ == "__main__":
    with (
        mock.patch.object(torch, "empty", noted(torch.empty)),
        mock.patch.object(torch, "empty_strided", noted(torch.empty_strided)),
    ):
        raise SystemExit(do(checks()))
