"""Checks, without a GPU, the functions that launch kernels.

`python -m tests.codegen.launches` prints a line of JSON for each check. It runs in a process in
which Triton does not interpret; Triton's driver and compiler are replaced, and only keep their
arguments.
"""

import importlib
import inspect
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from types import ModuleType
from typing import Any
from unittest import mock

import torch

from tests.codegen.keeping import checks_of, do, driver, in_threads, module_of, ran, triton

tl: Any = importlib.import_module("triton.language")

MATMUL = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:32, n:32); f.tensorize(m:0, n:0, k:32);"
)
LINES = (
    "Func f, total; In A; Var x; RVar y; total[x] = rsum(A[x, y], y);"
    "f[x, y] = A[x, y] / reshape(total[x], x, 1); f.block(x:1); f.tensorize(x:0, y:64);"
    "total.fuse_at(f, x); f.align(A); f.alternate(y);"
)
DESCRIBED = f"{MATMUL} f.descriptor(A, B);"
SPECIALIZED = MATMUL.replace("m:32", "m:128") + (
    "f.descriptor(A, B, f); f.num_warps(8); f.warp_specialize();"
)
SCALED = (
    "Func f; In A; SIn a, i: i32; Var y, x; f[y, x] = A[y, x] * a + i;"
    "f.block(x:64); f.tensorize(x:0);"
)
FIRST = torch.device("cuda", 0)
SIZES = (1, 2, 3, 15, 16, 17, 31, 32, 48, 64, 100, 128, 250, 256, 1000, 1024)
CALLS = 400
MOST = 8


@dataclass(frozen=True)
class Tensor:
    """A tensor with only the parts that a launch looks at."""

    shape: tuple[int, ...]
    strides: tuple[int, ...]
    address: int = 1024
    dtype: torch.dtype = torch.float32
    device: torch.device = FIRST

    def data_ptr(self) -> int:
        return self.address

    def stride(self) -> tuple[int, ...]:
        return self.strides

    def element_size(self) -> int:
        return self.dtype.itemsize

    def dim(self) -> int:
        return len(self.shape)

    def numel(self) -> int:
        return self.shape[0] * self.shape[1]

    def ptr_range(self) -> int:
        return 0


def some_tensor(chance: Random, rows: int, columns: int, dtype: torch.dtype) -> Tensor:
    strides = chance.choice(
        [(columns, 1), (columns, 1), (1, rows), (columns + 16, 1), (2 * columns, 2), (0, 1), (7, 3)]
    )
    return Tensor((rows, columns), strides, chance.choice((1024, 2048, 1024 + 8)), dtype)


def some_call(chance: Random) -> Any:
    """Return the arguments of a launch of the product."""
    m, n, k = (chance.choice(SIZES) for _ in range(3))
    dtype = chance.choice((torch.float32, torch.float16))
    A, B = some_tensor(chance, m, k, dtype), some_tensor(chance, k, n, dtype)
    out = some_tensor(chance, m, n, dtype)
    return given(A, B, out, chance.choice((tl.int32, tl.int32, tl.int32, tl.int64)))


def given(A: Tensor, B: Tensor, out: Tensor, offset: Any = tl.int32) -> Any:
    (m, k), (_, n) = A.shape, B.shape
    args = (A, *A.stride(), B, *B.stride(), out, *out.stride(), m, n, k)
    operand = tl.float16 if A.dtype == torch.float16 else tl.float32
    truths = {"even": m % 32 == 0 and n % 32 == 0 and k % 32 == 0}
    rows = (A.stride()[0], B.stride()[0], out.stride()[0], n, k)
    fours = {"fours": all(one % 4 == 0 for one in rows)}
    told = {**truths, "real": tl.float32, "A_B_dtype": operand, **fours, "offset": offset}
    return args, told


def in_blocks(module: ModuleType, call: Any, *which: int) -> Any:
    """Return the same call of a kernel that loads these tensors in blocks.

    Such a kernel is not told which rows are multiples of four.
    """
    args, constants = call
    blocks = [module.dt_blocks(args[at], (32, 32)) for at in which]
    return (*args, *blocks), {name: one for name, one in constants.items() if name != "fours"}


def usual_call(chance: Random) -> Any:
    """Return a call with tensors that have descriptors if their rows are aligned."""
    m, n, k = (chance.choice(SIZES) for _ in range(3))
    A, B, out = (Tensor(shape, (shape[1], 1)) for shape in ((m, k), (k, n), (m, n)))
    return given(A, B, out)


def same(strides: tuple[int, int] = (64, 1)) -> Any:
    A = Tensor((64, 64), strides)
    return given(A, A, A)


def launched(launch: Callable[..., None], call: Any, grid: int = 1) -> tuple[Any, ...]:
    """Return what is run for a call."""
    ran.kept = ()
    launch((grid,), *call[0], **call[1])
    return ran.kept


def is_direct(run: tuple[Any, ...]) -> bool:
    """True if the call was run without Triton's binding, which passes hooks and tensors."""
    return run[7] is None and run[8] is None


AXES = ["m_size k_size", "k_size n_size", "m_size n_size"]


def check_a_like_call_runs_what_triton_would_run() -> None:
    """If two calls are launched alike, Triton would choose the same kernel for both."""
    module, chance = module_of(MATMUL), Random(1)
    choose = module.dt_chooser(module.f_kernel, AXES, ())
    with mock.patch.object(module, "dt_chooser", return_value=choose):
        launch = module.dt_launcher(module.f_kernel, AXES)
    calls = [some_call(chance) for _ in range(CALLS)]
    direct = 0
    for call in [*calls, *calls]:
        args, constants = call
        run = launched(launch, call, 7)
        chosen, _, changed = choose(args, constants)
        compiled = chosen.run(*args, grid=(7,), warmup=True, **changed)
        assert run[4] == compiled.function, call
        assert run[:4] == (7, 1, 1, 1000)
        assert run[5] == compiled.packed_metadata
        addresses = [one.data_ptr() if isinstance(one, Tensor) else one for one in run[9:]]
        rest = [changed[name] for name in module.f_kernel.arg_names[len(args) :]]
        assert addresses == [*(a.data_ptr() if isinstance(a, Tensor) else a for a in args), *rest]
        direct += is_direct(run)
    assert direct >= CALLS


def check_what_is_known_of_a_variant_is_true() -> None:
    """The facts that a variant is compiled with are true for each call that runs it."""
    module, chance = module_of(MATMUL), Random(2)
    for _ in range(CALLS):
        call = some_call(chance)
        args, constants = call
        chosen, _, changed = module.dt_chooser(module.f_kernel, AXES, ())(args, constants)
        compiled = chosen.run(*args, grid=(1,), warmup=True, **changed)
        for (at, *_), facts in compiled.src.attrs.items():
            for fact in facts:
                number = args[at].data_ptr() if isinstance(args[at], Tensor) else args[at]
                assert fact == ["tt.divisibility", 16]
                assert number % 16 == 0, (at, args)
        for (at, *_), constant in compiled.src.constants.items():
            name = module.f_kernel.arg_names[at]
            if at < len(args):
                assert args[at] == constant == 1, (at, args)
            elif isinstance(constant, bool):
                assert not constant or constants[name], (name, args)
            elif name == "offset":  # which may be wider than it need be
                assert constant in (constants[name], tl.int64), args
            else:
                assert constant == constants[name], (name, args)


def check_few_variants() -> None:
    """For each type of tensors there are at most eight, in any order of calls."""
    for seed in range(10):
        module, chance = module_of(MATMUL), Random(seed)
        found: dict[torch.dtype, set[int]] = {}
        for _ in range(CALLS):
            call = some_call(chance)
            run = launched(module.f_launch, call)
            found.setdefault(call[0][0].dtype, set()).add(run[4])
        assert all(len(functions) <= MOST for functions in found.values()), found


def check_few_variants_with_descriptors() -> None:
    """Also where tiles are loaded through descriptors, which are passed all together or not."""
    for seed in range(6):
        module, chance = module_of(DESCRIBED), Random(seed)
        found: dict[torch.dtype, set[int]] = {}
        passed: set[int] = set()
        for _ in range(CALLS):
            call = in_blocks(module, some_call(chance), 0, 3)
            run = launched(module.f_launch, call)
            found.setdefault(call[0][0].dtype, set()).add(run[4])
            passed.add(sum(one is not None for one in run[9 + 12 : 9 + 14]))
        assert all(len(functions) <= MOST for functions in found.values()), found
        assert passed == {0, 2}


def check_few_variants_where_some_warps_load() -> None:
    """There are no more of them, and each is of four warps just where it makes its descriptors."""
    for seed in range(6):
        module, chance = module_of(SPECIALIZED), Random(seed)
        found: dict[torch.dtype, set[int]] = {}
        seen: set[tuple[int, int]] = set()
        for _ in range(CALLS):
            call = chance.choice((some_call(chance), usual_call(chance)))
            args, constants = in_blocks(module, call, 0, 3, 6)
            is_so = int(all(module.dt_descriptor(*one) is not None for one in args[-3:]))
            constants = {**constants, "specialized": is_so, "num_warps": 8}
            run = launched(module.f_launch, (args, constants))
            found.setdefault(args[0].dtype, set()).add(run[4])
            assert run[9 + 12 : 9 + 15] == (None, None, None)
            at = module.f_kernel.arg_names.index("specialized")
            seen.add((run[9 + at], run[5][0]))
        assert all(len(functions) <= MOST for functions in found.values()), found
        assert seen == {(0, 8), (1, 4)}


def check_descriptors_of_like_calls() -> None:
    """A call like another is passed what Triton would make of descriptors of its own tensors."""
    module, chance, count = module_of(DESCRIBED), Random(3), 0
    driver.takes_apart = True
    for _ in range(60):
        sizes = [16 * chance.randint(1, 4) for _ in range(3)]
        m, n, k = sizes
        dtype = chance.choice((torch.float16, torch.float32))
        kept = list[tuple[Any, ...]]()
        for address in (1024, 4096, 1024, 2048, 4096):
            A = Tensor((m, k), (k + 16, 1), address, dtype)
            B = Tensor((k, n), (n, 1), 3072, dtype)
            call = given(A, B, Tensor((m, n), (n, 1), 65536, dtype))
            run = (module.f_launch, in_blocks(module, call, 0, 3))
            launched(*run)
            kept.append(ran.kept)
            with mock.patch.object(module, "dt_is_watched", return_value=True):
                launched(*run)  # by Triton itself
            count += 1
            assert told(kept[-1]) == told(ran.kept)
        assert len({str(told(one)) for one in kept}) == 3
    assert count == 300
    driver.takes_apart = False


def told(run: tuple[Any, ...]) -> list[Any]:
    """The grid and what a kernel is passed; tensors by their addresses."""
    last: Any = run[-1]
    args: list[Any] = [*run[:5], *(last if isinstance(last, list | tuple) else run[13:])]
    return [one.data_ptr() if isinstance(one, Tensor) else one for one in args]


def lines(A: Tensor, out: Tensor, offset: Any = tl.int32) -> Any:
    """What a launch of a kernel of lines is given."""
    return (A, *A.stride(), out, *out.stride(), *A.shape), {"real": tl.float32, "offset": offset}


def check_few_variants_of_lines() -> None:
    for seed in range(10):
        module, chance = module_of(LINES), Random(seed)
        found: dict[torch.dtype, set[int]] = {}
        for _ in range(CALLS):
            rows, columns = chance.choice(SIZES), chance.choice(SIZES)
            dtype = chance.choice((torch.float32, torch.bfloat16))
            A, out = (some_tensor(chance, rows, columns, dtype) for _ in range(2))
            run = launched(module.f_launch, lines(A, out, chance.choice((tl.int32, tl.int64))))
            found.setdefault(dtype, set()).add(run[4])
        assert all(len(functions) <= MOST for functions in found.values()), found


def check_lines_that_begin_anywhere_are_of_tensors_that_are_aligned() -> None:
    """Of any length: a variant knows the address of a tensor, and nothing of its lines."""
    module = module_of(LINES)
    choose = module.dt_chooser(module.f_kernel, ["- -", "- -"], ())
    found: set[int] = set()
    for columns in (64, 1000, 50257, 128256):
        A = Tensor((4, columns), (columns, 1))
        args, constants = lines(A, A)
        chosen, _, changed = choose(args, constants)
        compiled = chosen.run(*args, grid=(1,), warmup=True, **changed)
        known = {at for (at, *_), facts in compiled.src.attrs.items() if facts}
        assert known == {0, 3}
        found.add(compiled.function)
    assert len(found) == 1


def check_all_variants() -> None:
    """There are eight, and each is for what it is said to be for."""
    module = module_of(MATMUL)
    large = Tensor((1024, 1024), (1024, 1))
    odd = Tensor((1001, 1001), (1001, 1))
    fours = Tensor((1000, 1000), (1000, 1))
    thick = Tensor((1040, 1040), (1040, 1))
    across = Tensor((1024, 1024), (1, 1024))
    strided = Tensor((1024, 1024), (2048, 2))
    high = Tensor((1024, 1024), (1024, 1), 1032)
    calls = {
        "whole": given(large, large, large),
        "aligned": given(thick, thick, thick),
        "fours": given(fours, fours, fours),
        "rows": given(odd, odd, odd),
        "across": given(large, across, large),
        "across too": given(across, large, large),
        "any": given(strided, large, large),
        "wide": given(large, large, large, tl.int64),
    }
    functions = {name: launched(module.f_launch, call)[4] for name, call in calls.items()}
    assert len(set(functions.values())) == MOST, functions
    alike = {
        "fours": given(Tensor((7, 4), (4, 1)), Tensor((4, 20), (20, 1)), Tensor((7, 20), (20, 1))),
        "rows": given(high, large, large),
        "any": given(across, across, across),
        "aligned": given(Tensor((1000, 1024), (1024, 1)), large, Tensor((1000, 1024), (1024, 1))),
        "wide": given(thick, thick, thick, tl.int64),
    }
    for name, call in alike.items():
        assert launched(module.f_launch, call)[4] == functions[name], name
    others = (
        given(strided, large, large, tl.int64),
        given(odd, odd, odd, tl.int64),
        given(fours, fours, fours, tl.int64),
        given(across, large, large, tl.int64),
    )
    for call in others:
        assert launched(module.f_launch, call)[4] == functions["any"], call


def check_small_tensors_take_no_variant_of_their_own() -> None:
    module = module_of(MATMUL)
    small, across = Tensor((64, 64), (64, 1)), Tensor((64, 64), (1, 64))
    general = launched(module.f_launch, given(Tensor((64, 64), (128, 2)), small, small))[4]
    assert launched(module.f_launch, given(across, small, small))[4] == general


def check_devices() -> None:
    """A kernel that is compiled for one device is not run on another."""
    module = module_of(MATMUL)
    found: list[tuple[int, int]] = []
    for device in (0, 1, 0, 1):
        one = Tensor((64, 64), (64, 1), device=torch.device("cuda", device))
        with mock.patch.object(driver, "current", device):
            run = launched(module.f_launch, given(one, one, one))
        found.append((run[4], run[3]))
    assert found[:2] == found[2:]
    assert found[0][0] != found[1][0]
    assert [stream for _, stream in found[:2]] == [1000, 1001]


def check_hooks() -> None:
    """Who looks at launches, or wants other code, sees them by Triton's own launcher."""
    module, knobs = module_of(MATMUL), triton.knobs
    function = launched(module.f_launch, same())[4]
    assert is_direct(launched(module.f_launch, same()))
    seen: list[Any] = []

    def stages(*_: object) -> tuple[str, str]:
        return "key", "hash"

    def before(*_: object, **__: object) -> None:
        seen.append("before")

    for hooks in (knobs.runtime.launch_enter_hook, knobs.runtime.launch_exit_hook):
        hooks.add(seen.append)
        assert not is_direct(launched(module.f_launch, same()))
        hooks.remove(seen.append)
        assert is_direct(launched(module.f_launch, same()))
    changes: list[tuple[Any, str, Any]] = [
        (knobs.runtime, "launch_enter_hook", seen.append),
        (knobs.runtime, "debug", True),
        (knobs.runtime, "add_stages_inspection_hook", stages),
        (knobs.compilation, "instrumentation_mode", "other"),
    ]
    for where, name, value in changes:
        usual = getattr(where, name)
        setattr(where, name, value)
        assert not is_direct(launched(module.f_launch, same((80, 1)))), name
        assert not is_direct(launched(module.f_launch, same((80, 1)))), name
        setattr(where, name, usual)
        # What was compiled for who looked is not run now.
        assert launched(module.f_launch, same((80, 1)))[4] == function, name
        assert is_direct(launched(module.f_launch, same())), name
    module.f_kernel.add_pre_run_hook(before)
    assert not is_direct(launched(module.f_launch, same()))
    assert seen == ["before"]


def check_versions() -> None:
    """Of a version of Triton that is not known, or another maker's GPU, nothing is taken."""
    module = module_of(MATMUL)
    for changed in (
        mock.patch.object(module, "dt_versions", set[str]()),
        mock.patch.object(torch.version, "hip", "7.0"),
    ):
        with changed:
            launch = module.dt_launcher(module.f_kernel, AXES)
        for _ in range(3):
            assert not is_direct(launched(launch, same()))


def check_interpreter() -> None:
    module = module_of(MATMUL)
    kernel = mock.MagicMock()
    # There is no interpreter in this process: what it is asked for is all that there is to see.
    with (
        mock.patch.object(module, "dt_interpreted", True),
        mock.patch.object(module, "dt_interpret") as interpret,
    ):
        launch = module.dt_launcher(kernel, AXES)
        launch((3,), 1, 2, three=3)
    interpret.assert_called_once_with(kernel, (3,), [1, 2], {"three": 3})


def check_cleared() -> None:
    """What Triton forgets is still there to be run; what it compiles again, too."""
    module = module_of(MATMUL)
    first = launched(module.f_launch, same())[4]
    for one in (module.f_kernel, module.dt_chooser(module.f_kernel, AXES, ())(*same())[0]):
        one.device_caches.clear()
    assert launched(module.f_launch, same())[4] == first


def check_many_shapes() -> None:
    """No more calls are kept than fit, and those that are forgotten are launched all the same."""
    module = module_of(MATMUL)
    for stride in range(2, 4200):
        launched(module.f_launch, same((stride, 1)))
    launch = module.f_launch
    known: dict[Any, Any] = inspect.getclosurevars(launch).nonlocals["known"]
    assert 0 < len(known) <= 4096
    assert launched(module.f_launch, same((2, 1)))[9 + 1] == 2


def check_numbers() -> None:
    """Floats may be any, and what is passed is this call's; whole numbers choose no variant."""
    module = module_of(SCALED)
    A = Tensor((64, 64), (64, 1))
    functions: set[int] = set()
    for number, (a, i) in enumerate(itertools.product((0.5, 1.0, 16.0), (1, 3, 16))):
        args = (A, 64, 1, A, 64, 1, a, i, 64, 64)
        names = module.f_kernel.arg_names[len(args) :]
        told = {"even": True, "real": tl.float32, "fours": True, "offset": tl.int32}
        run = launched(module.f_launch, (args, {name: told[name] for name in names}))
        assert run[15:17] == (a, i), run
        assert is_direct(run) == (number > 2)
        functions.add(run[4])
    assert len(functions) == 1


def check_threads() -> None:
    """Calls of several threads at once run what each would alone."""
    module = module_of(MATMUL)
    calls = [some_call(Random(seed)) for seed in range(60)]
    expected = [launched(module.f_launch, call)[4] for call in calls]
    wrong: list[Any] = []

    def work(seed: int) -> None:
        order = [*range(len(calls))] * 5
        Random(seed).shuffle(order)
        for at in order:
            run = launched(module.f_launch, calls[at])
            if (run[4], run[10]) != (expected[at], calls[at][0][1]):
                wrong.append((at, run))

    in_threads(work, 8)
    assert not wrong, wrong[0]


if __name__ == "__main__":
    raise SystemExit(do(checks_of(globals())))
