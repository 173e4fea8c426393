"""Checks, without a GPU, what chooses variants of kernels, and what is noted of a launch.

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

from tests.codegen.keeping import checks_of, do, driver, in_threads, module_of, ran

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
MOST = 10


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
    blocks = [module.dt_descriptor(args[at], (32, 32), (0, 1)) for at in which]
    return (*args, *blocks), {name: one for name, one in constants.items() if name != "fours"}


def usual_call(chance: Random) -> Any:
    """Return a call with tensors that have descriptors if their rows are aligned."""
    m, n, k = (chance.choice(SIZES) for _ in range(3))
    A, B, out = (Tensor(shape, (shape[1], 1)) for shape in ((m, k), (k, n), (m, n)))
    return given(A, B, out)


def same(strides: tuple[int, int] = (64, 1)) -> Any:
    A = Tensor((64, 64), strides)
    return given(A, A, A)


Launcher = Callable[[Any, int], Any]


def launcher_of(module: ModuleType) -> Launcher:
    """Launch the only kernel of `f` as its plan is carried out; give what is noted of it."""
    (launch,) = module.f_plan["launches"]
    kernel = module.f_kernel
    blocks = [kernel.arg_names.index(name) for name in launch.get("descriptors", {})]
    choose = module.dt_chooser(kernel, launch["tensors"].values(), blocks)

    def start(call: Any, programs: int) -> Any:
        return module.dt_start(kernel, choose, blocks, programs, [*call[0]], {**call[1]})

    return start


def launched(launch: Launcher, call: Any, programs: int = 1) -> tuple[Any, ...]:
    """Return what is run for a call."""
    ran.kept = ()
    launch(call, programs)
    return ran.kept


def again(noted: Any, call: Any, programs: int) -> tuple[Any, ...]:
    """Return what is run for a call that is like the one of which something was noted."""
    run, compiled, passed, parts, _ = noted
    passed, ran.kept = [*passed], ()
    for at, one in enumerate(call[0]):
        if isinstance(one, Tensor):
            passed[at] = one.data_ptr()
    for at, part in parts:
        passed[at : at + 1] = part(getattr(call[0][at], "base", None))
    rest = (1, 1, 1000, compiled.function, compiled.packed_metadata, None, None, None)
    run(programs, *rest, *passed)
    return ran.kept


AXES = ["m_size k_size", "k_size n_size", "m_size n_size"]


def check_what_is_noted_runs_what_triton_would_run() -> None:
    module, chance = module_of(MATMUL), Random(1)
    launch = launcher_of(module)
    choose = module.dt_chooser(module.f_kernel, AXES, [])
    for _ in range(CALLS):
        call = some_call(chance)
        args, constants = call
        noted = launch(call, 7)
        chosen, _, changed = choose([*args], {**constants})
        compiled = chosen.run(*args, grid=(7,), warmup=True, **changed)
        addresses = [one.data_ptr() if isinstance(one, Tensor) else one for one in args]
        rest = [changed[name] for name in module.f_kernel.arg_names[len(args) :]]
        for run in (ran.kept, again(noted, call, 7)):
            assert run[:4] == (7, 1, 1, 1000)
            assert run[4] == compiled.function, call
            assert run[5] == compiled.packed_metadata
            passed = [one.data_ptr() if isinstance(one, Tensor) else one for one in run[9:]]
            assert passed == [*addresses, *rest]


def check_what_is_known_of_a_variant_is_true() -> None:
    """The facts that a variant is compiled with are true for each call that runs it."""
    module, chance = module_of(MATMUL), Random(2)
    for _ in range(CALLS):
        call = some_call(chance)
        args, constants = call
        chosen, _, changed = module.dt_chooser(module.f_kernel, AXES, [])([*args], {**constants})
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
    """For each type of tensors there are at most ten, in any order of calls."""
    for seed in range(10):
        module, chance = module_of(MATMUL), Random(seed)
        launch, found = launcher_of(module), dict[torch.dtype, set[int]]()
        for _ in range(CALLS):
            call = some_call(chance)
            run = launched(launch, call)
            found.setdefault(call[0][0].dtype, set()).add(run[4])
        assert all(len(functions) <= MOST for functions in found.values()), found


def check_few_variants_with_descriptors() -> None:
    """Also where tiles are loaded through descriptors, which are passed all together or not."""
    for seed in range(6):
        module, chance = module_of(DESCRIBED), Random(seed)
        launch, found = launcher_of(module), dict[torch.dtype, set[int]]()
        passed: set[int] = set()
        for _ in range(CALLS):
            call = in_blocks(module, some_call(chance), 0, 3)
            run = launched(launch, call)
            found.setdefault(call[0][0].dtype, set()).add(run[4])
            passed.add(sum(one is not None for one in run[9 + 12 : 9 + 14]))
        assert all(len(functions) <= MOST for functions in found.values()), found
        assert passed == {0, 2}


def check_few_variants_where_some_warps_load() -> None:
    """There are no more of them, and each is of four warps just where it makes its descriptors."""
    for seed in range(6):
        module, chance = module_of(SPECIALIZED), Random(seed)
        launch, found = launcher_of(module), dict[torch.dtype, set[int]]()
        seen: set[tuple[int, int]] = set()
        for _ in range(CALLS):
            call = chance.choice((some_call(chance), usual_call(chance)))
            args, constants = in_blocks(module, call, 0, 3, 6)
            is_so = int(all(one is not None for one in args[-3:]))
            constants = {**constants, "specialized": is_so, "num_warps": 8}
            run = launched(launch, (args, constants))
            found.setdefault(args[0].dtype, set()).add(run[4])
            assert run[9 + 12 : 9 + 15] == (None, None, None)
            at = module.f_kernel.arg_names.index("specialized")
            seen.add((run[9 + at], run[5][0]))
        assert all(len(functions) <= MOST for functions in found.values()), found
        assert seen == {(0, 8), (1, 4)}


def check_descriptors_of_like_calls() -> None:
    """A call like another is passed what Triton would make of descriptors of its own tensors."""
    module, chance, count = module_of(DESCRIBED), Random(3), 0
    launch = launcher_of(module)
    driver.takes_apart = True
    for _ in range(60):
        m, n, k = (16 * chance.randint(1, 4) for _ in range(3))
        dtype = chance.choice((torch.float16, torch.float32))
        kept, noted = list[tuple[Any, ...]](), None
        for address in (1024, 4096, 1024, 2048, 4096):
            A = Tensor((m, k), (k + 16, 1), address, dtype)
            B = Tensor((k, n), (n, 1), 3072, dtype)
            call = in_blocks(module, given(A, B, Tensor((m, n), (n, 1), 65536, dtype)), 0, 3)
            noted = noted or launch(call, 1)
            kept.append(again(noted, call, 1))
            count += 1
            assert told(kept[-1]) == told(launched(launch, call))  # by Triton itself
        assert len({str(told(one)) for one in kept}) == 3
    assert count == 300
    driver.takes_apart = False


def check_few_descriptors_are_kept() -> None:
    """Of the addresses of one call; those that are forgotten are taken apart again."""
    module, made = module_of(DESCRIBED), list[int]()

    def at(address: int) -> Tensor:
        return Tensor((64, 64), (64, 1), address)

    def take_apart(descriptor: Any, what: str) -> list[Any]:
        made.append(descriptor.base.address)
        return [what, descriptor.base.address, descriptor.block_shape]

    first = module.dt_descriptor(at(1024), (32, 32), (0, 1))
    part = module.dt_replaced(first, take_apart, "box")
    known = inspect.getclosurevars(part).nonlocals["known"]
    addresses = [1024 * number for number in range(1, 200)]
    for address in [address for one in addresses for address in (one, one)]:
        assert part(at(address)) == ["box", address, [32, 32]]
        assert 0 < len(known) <= 64
    assert made == addresses
    assert part(at(1024)) == ["box", 1024, [32, 32]]
    assert made[-1] == 1024
    assert module.dt_replaced(None)(at(1024)) == (None,)


def told(run: tuple[Any, ...]) -> list[Any]:
    """Return the grid and what a kernel is passed; tensors by their addresses."""
    last: Any = run[-1]
    args: list[Any] = [*run[:5], *(last if isinstance(last, list | tuple) else run[13:])]
    return [one.data_ptr() if isinstance(one, Tensor) else one for one in args]


def lines(A: Tensor, out: Tensor, offset: Any = tl.int32) -> Any:
    """Return what a launch of a kernel of lines is given."""
    return (A, *A.stride(), out, *out.stride(), *A.shape), {"real": tl.float32, "offset": offset}


def check_few_variants_of_lines() -> None:
    for seed in range(10):
        module, chance = module_of(LINES), Random(seed)
        launch, found = launcher_of(module), dict[torch.dtype, set[int]]()
        for _ in range(CALLS):
            rows, columns = chance.choice(SIZES), chance.choice(SIZES)
            dtype = chance.choice((torch.float32, torch.bfloat16))
            A, out = (some_tensor(chance, rows, columns, dtype) for _ in range(2))
            run = launched(launch, lines(A, out, chance.choice((tl.int32, tl.int64))))
            found.setdefault(dtype, set()).add(run[4])
        assert all(len(functions) <= MOST for functions in found.values()), found


def check_lines_that_begin_anywhere_are_of_tensors_that_are_aligned() -> None:
    """Of any length: a variant knows the address of a tensor, and nothing of its lines."""
    module = module_of(LINES)
    choose = module.dt_chooser(module.f_kernel, ["- -", "- -"], [])
    found: set[int] = set()
    for columns in (64, 1000, 50257, 128256):
        A = Tensor((4, columns), (columns, 1))
        args, constants = lines(A, A)
        chosen, _, changed = choose([*args], constants)
        compiled = chosen.run(*args, grid=(1,), warmup=True, **changed)
        known = {at for (at, *_), facts in compiled.src.attrs.items() if facts}
        assert known == {0, 3}
        found.add(compiled.function)
    assert len(found) == 1


def check_all_variants() -> None:
    """There are ten, and each is for what it is said to be for."""
    module = module_of(MATMUL)
    launch = launcher_of(module)
    large = Tensor((1024, 1024), (1024, 1))
    odd = Tensor((1001, 1001), (1001, 1))
    wide = Tensor((1024, 1001), (1008, 1))
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
        "aligned inputs": given(large, wide, Tensor((1024, 1001), (1001, 1))),
        "an aligned input": given(Tensor((1001, 1024), (1024, 1)), odd, odd),
        "across": given(large, across, large),
        "across too": given(across, large, large),
        "any": given(strided, large, large),
        "wide": given(large, large, large, tl.int64),
    }
    functions = {name: launched(launch, call)[4] for name, call in calls.items()}
    assert len(set(functions.values())) == MOST, functions
    alike = {
        "fours": given(Tensor((7, 4), (4, 1)), Tensor((4, 20), (20, 1)), Tensor((7, 20), (20, 1))),
        "rows": given(high, large, large),
        "aligned inputs": given(large, wide, Tensor((1024, 77), (77, 1))),
        "any": given(across, across, across),
        "aligned": given(Tensor((1000, 1024), (1024, 1)), large, Tensor((1000, 1024), (1024, 1))),
        "wide": given(thick, thick, thick, tl.int64),
    }
    for name, call in alike.items():
        assert launched(launch, call)[4] == functions[name], name
    others = (
        given(strided, large, large, tl.int64),
        given(odd, odd, odd, tl.int64),
        given(fours, fours, fours, tl.int64),
        given(across, large, large, tl.int64),
    )
    for call in others:
        assert launched(launch, call)[4] == functions["any"], call


def check_small_tensors_take_no_variant_of_their_own() -> None:
    module = module_of(MATMUL)
    launch = launcher_of(module)
    small, across = Tensor((64, 64), (64, 1)), Tensor((64, 64), (1, 64))
    general = launched(launch, given(Tensor((64, 64), (128, 2)), small, small))[4]
    assert launched(launch, given(across, small, small))[4] == general


def check_one_tensor_that_lies_otherwise_leaves_the_others_as_they_are() -> None:
    """A variant knows of each of them where it is contiguous, and that it is aligned."""
    strides = {"expanded": (0, 0), "of one column": (0, 1), "every other": (2048, 2)}
    strides |= {"steps of three": (3072, 3), "a row of all": (1, 0)}
    large = Tensor((1024, 1024), (1024, 1))
    for name, other in strides.items():
        module = module_of(MATMUL)
        choose = module.dt_chooser(module.f_kernel, AXES, [])
        args, constants = given(large, Tensor((1024, 1024), other), large)
        chosen, _, changed = choose([*args], constants)
        compiled = chosen.run(*args, grid=(1,), warmup=True, **changed)
        known = {at for (at, *_), facts in compiled.src.attrs.items() if facts}
        ones = {at for (at, *_), one in compiled.src.constants.items() if one == 1 and at < 9}
        is_aligned = not any(one % 16 for one in other if one != 1)
        wanted = {4 + at for at, one in enumerate(other) if one not in (1, 2)}
        assert ones == {2, 8, *(4 + at for at, one in enumerate(other) if one == 1)}, name
        assert known >= ({0, 1, 3, 6, 7, *wanted} if is_aligned else set()), (name, known)
        assert changed["offset"] is tl.int32, name


def check_devices() -> None:
    """A kernel that is compiled for one device is not run on another."""
    module = module_of(MATMUL)
    launch = launcher_of(module)
    found: list[tuple[int, int]] = []
    for device in (0, 1, 0, 1):
        one = Tensor((64, 64), (64, 1), device=torch.device("cuda", device))
        with mock.patch.object(driver, "current", device):
            run = launched(launch, given(one, one, one))
        found.append((run[4], run[3]))
    assert found[:2] == found[2:]
    assert found[0][0] != found[1][0]
    assert [stream for _, stream in found[:2]] == [1000, 1001]


def check_numbers() -> None:
    """Floats may be any, and what is passed is this call's; whole numbers choose no variant."""
    module = module_of(SCALED)
    launch = launcher_of(module)
    A = Tensor((64, 64), (64, 1))
    functions: set[int] = set()
    for a, i in itertools.product((0.5, 1.0, 16.0), (1, 3, 16)):
        args = (A, 64, 1, A, 64, 1, a, i, 64, 64)
        names = module.f_kernel.arg_names[len(args) :]
        told = {"even": True, "real": tl.float32, "fours": True, "offset": tl.int32}
        call = args, {name: told[name] for name in names}
        noted = launch(call, 1)
        for run in (ran.kept, again(noted, call, 1)):
            assert run[15:17] == (a, i), run
            functions.add(run[4])
    assert len(functions) == 1


def check_threads() -> None:
    """Calls of several threads at once run what each would alone."""
    module = module_of(MATMUL)
    launch = launcher_of(module)
    calls = [some_call(Random(seed)) for seed in range(60)]
    expected = [launched(launch, call)[4] for call in calls]
    wrong: list[Any] = []

    def work(seed: int) -> None:
        order = [*range(len(calls))] * 5
        Random(seed).shuffle(order)
        for at in order:
            run = launched(launch, calls[at])
            if (run[4], run[10]) != (expected[at], calls[at][0][1]):
                wrong.append((at, run))

    in_threads(work, 8)
    assert not wrong, wrong[0]


if __name__ == "__main__":
    raise SystemExit(do(checks_of(globals())))
