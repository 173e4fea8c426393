"""Runs and times kernels on the GPU of this machine by torch and triton, which it imports."""

import importlib
from collections.abc import Callable
from typing import Any

import torch as typed

from dtpoly.checking import check
from dtpoly.explore.devices.probe import DeviceFacts
from dtpoly.generate import code_of
from dtpoly.runtime.load import load_module
from dtpoly.source import Source

# Much of torch that is used here has no types.
torch: Any = typed
WARM, REPEATED = 3, 10
# The lanes of f32 of a multiprocessor, by architecture; most have 128.
LANES = {"cuda:80": 64}
FORMATS: dict[str, Any] = {
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "tf32": torch.float32,
    "f64": torch.float64,
    "i8": torch.int8,
    "f8": getattr(torch, "float8_e4m3fn", None),
}
# Each lane reads one number and computes a chain of exponentials, none of which can be left out.
# The minus signs keep the values finite.
CHAIN = """Func chain; In A; Var x; chain[x] = {body};
chain.block(x:1024); chain.tensorize(x:0); chain.compile();"""
# Each lane adds a number at a place that a table says.
ADDING = """Func sums into O at [T[x]] add; In O, T: i64, A; Var x; sums[x] = A[x];
sums.block(x:1024); sums.tensorize(x:0); sums.compile();"""
NUMBERS = 1 << 20  # chains start from these; they are run as often as necessary


def local_gpu() -> "Gpu | None":
    """Return the GPU that torch would use; None if there is none."""
    return Gpu() if torch.cuda.is_available() else None


class Gpu:
    """Runs kernels on the current device and times them by its events."""

    def __init__(self) -> None:
        self._chains: dict[int, Callable[[Any], Any]] = {}
        self._adding: Callable[..., Any] | None = None

    def facts(self) -> DeviceFacts:
        """Return the properties that torch and Triton's driver report."""
        index = torch.cuda.current_device()
        said: Any = torch.cuda.get_device_properties(index)
        # Triton has no types.
        driver: Any = importlib.import_module("triton.runtime.driver")
        more: dict[str, int] = driver.driver.active.utils.get_device_properties(index)
        is_amd = torch.version.hip is not None
        arch = said.gcnArchName.partition(":")[0] if is_amd else f"{said.major}{said.minor}"
        target = f"{'hip' if is_amd else 'cuda'}:{arch}"
        clock = 1e3 * more["sm_clock_rate"]
        # Memory makes two transfers a clock, each as wide as its bus.
        rate = 2 * 1e3 * more["mem_clock_rate"] * more["mem_bus_width"] / 8
        many = int(said.multi_processor_count)
        f32 = 2 * LANES.get(target, 128) * clock * many
        l2 = int(said.L2_cache_size)
        return DeviceFacts(said.name, target, many, clock, int(said.total_memory), rate, l2, f32)

    def copy(self, size: int) -> float:
        """Return the seconds to copy this number of bytes."""
        source = torch.empty(size, dtype=torch.uint8, device="cuda")
        goal = torch.empty_like(source)
        return _seconds(lambda: goal.copy_(source))

    def product(self, unit: str, side: int) -> float | None:
        """Return the seconds of torch's product of two square matrices."""
        dtype = FORMATS[unit]
        if dtype is None:
            return None
        before = torch.backends.cuda.matmul.allow_tf32
        torch.backends.cuda.matmul.allow_tf32 = unit == "tf32"
        try:
            left = torch.ones(side, side, device="cuda").to(dtype)
            return _seconds(_multiplied(unit, left))
        except (RuntimeError, ValueError, AttributeError):
            return None  # this dtype cannot be multiplied here
        finally:
            torch.backends.cuda.matmul.allow_tf32 = before

    def exponentials(self, numbers: int, depth: int) -> float:
        """Return the seconds for chains of exponentials, by a kernel of our own."""
        run = self._chains.setdefault(depth, _chain(depth))
        values = torch.zeros(NUMBERS, device="cuda")
        return _seconds(lambda: run(values)) * numbers / NUMBERS

    def additions(self, numbers: int, places: int) -> float:
        """Return the seconds for additions to places in turn, by a kernel of our own."""
        table = torch.arange(numbers, device="cuda") % places
        sums, values = torch.zeros(places, device="cuda"), torch.zeros(numbers, device="cuda")
        run = self._adding = self._adding or _made(ADDING).sums
        return _seconds(lambda: run(sums, table, values))

    def nothing(self) -> float:
        """Return the seconds of a kernel that fills one number."""
        one = torch.empty(1, device="cuda")
        return min(_seconds(lambda: one.fill_(0.0), repeated=1) for _ in range(REPEATED))


def _multiplied(unit: str, left: Any) -> Callable[[], Any]:
    right = left.t()  # for 8 bits, each column of the second matrix must be contiguous
    if unit == "i8":
        whole: Any = torch._int_mm
        return lambda: whole(left, right)
    if unit == "f8":
        scale = torch.ones((), device="cuda")
        product: Any = torch._scaled_mm
        return lambda: product(left, right, scale_a=scale, scale_b=scale, out_dtype=torch.bfloat16)
    return lambda: torch.matmul(left, right)


def _chain(depth: int) -> Callable[[Any], Any]:
    """Return a function that computes a chain of this many exponentials of each number."""
    body = "A[x]"
    for _ in range(depth):
        body = f"exp2(-{body})"
    found: Callable[[Any], Any] = _made(CHAIN.format(body=body)).chain
    return found


def _made(text: str) -> Any:
    """Return the module of a .dt file."""
    checked = check(Source("probe.dt", text))
    assert checked.verdict is not None
    return load_module(code_of(checked.verdict.scheduled).text, "probe")


def _seconds(run: Callable[[], Any], repeated: int = REPEATED) -> float:
    """Return the seconds of one run among several that the device runs without a pause."""
    for _ in range(WARM):
        run()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize()
    start.record()
    for _ in range(repeated):
        run()
    end.record()
    torch.cuda.synchronize()
    return float(start.elapsed_time(end)) / 1e3 / repeated
