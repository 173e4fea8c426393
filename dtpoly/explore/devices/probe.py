"""Makes an entry for a GPU from the times of a few runs on it.

What cannot be measured so simply is taken over from a device that is known, and the entry says so.
"""

from collections.abc import Callable, Mapping
from statistics import median
from typing import Protocol

from dtpoly.explore.devices.devices import DEFAULT, Device, find_device
from dtpoly.frozen import dataclass
from dtpoly.targets.target import LIMITS, Target, parse_target

MIB = 1 << 20
COPIED = 1 << 30  # bytes of the large copy, far more than any cache
SIDE = 8192  # of the square matrices that are multiplied
SPECIAL = 1 << 26  # numbers, of each of which so many exponentials are computed
DEPTH = 64
ROUNDS = 5
UNITS = ("f16", "bf16", "tf32", "f8", "i8", "f64")
# What a run this short does not tell.
TAKEN = ("memory_latency", "l2_latency", "next_launch", "warp_share", "issue", "special", "blocks")


@dataclass(frozen=True, slots=True)
class Facts:
    """The properties of a GPU that its driver reports."""

    name: str
    target: str
    multiprocessors: int
    clock: float  # Hz, the highest
    memory_bytes: int
    memory_rate: float  # bytes/s, by the clock and the width of its memory
    l2_bytes: int
    f32: float  # lanes of a multiprocessor, times its clock, times two, times how many there are


class Laboratory(Protocol):
    """Where kernels can be run and timed; each answer is in seconds."""

    def facts(self) -> Facts:
        """Return the properties that the driver reports."""
        ...

    def copy(self, size: int) -> float:
        """Reading so many bytes and writing them somewhere else."""
        ...

    def product(self, unit: str, side: int) -> float | None:
        """Multiplying two square matrices; None where the GPU or torch cannot."""
        ...

    def exponentials(self, numbers: int, depth: int) -> float:
        """As many exponentials as numbers times depth, of which little is read or written."""
        ...

    def nothing(self) -> float:
        """A kernel that does next to nothing."""
        ...


class UnknownTarget(Exception):
    """No limits are known of the GPU's architecture."""


def probed(laboratory: Laboratory) -> Device:
    """The device that the laboratory is in. Raises UnknownTarget."""
    facts = laboratory.facts()
    if facts.target not in LIMITS:
        raise UnknownTarget(facts.target)
    target = parse_target(facts.target)
    values: dict[str, float] = {}
    sources: dict[str, str] = {}

    def put(name: str, value: float, source: str) -> None:
        values[name], sources[name] = value, source

    driver = "the driver"
    put("multiprocessors", facts.multiprocessors, driver)
    put("clock", facts.clock, driver)
    put("memory_bytes", facts.memory_bytes, driver)
    put("memory_rate", facts.memory_rate, f"{driver}: clock and width of the memory")
    _memory(laboratory, facts, put)
    put("l2_bytes", facts.l2_bytes, driver)
    put("l2_rate", _l2_rate(laboratory, facts.l2_bytes // 4), "measured: copies inside of L2")
    for name, value in _limits(target).items():
        put(name, value, "the limits of the architecture")
    put("f32", facts.f32, f"{driver}: two operations a lane and clock")
    _products(laboratory, put)
    put("launch", _time(laboratory.nothing), "measured: a kernel that does next to nothing")
    known = find_device(DEFAULT)
    for name in TAKEN:
        if name not in values:
            put(name, known[name], f"not measured: as on {known.name}")
    measured = SPECIAL * DEPTH / _time(lambda: laboratory.exponentials(SPECIAL, DEPTH))
    each = measured / facts.multiprocessors / facts.clock
    put("special", each, "measured: exponentials")
    return Device(_key(facts.name), facts.name, target, values, sources)


def _memory(laboratory: Laboratory, facts: Facts, put: "Put") -> None:
    rate = 2 * COPIED / _time(lambda: laboratory.copy(COPIED))
    put("memory_share", rate / facts.memory_rate, f"measured: a copy at {rate:.3g} bytes/s")


def _l2_rate(laboratory: Laboratory, size: int) -> float:
    """Bytes a second of a copy, without what a launch takes: a large one less a small one."""
    large = _time(lambda: laboratory.copy(size))
    small = _time(lambda: laboratory.copy(size // 2))
    return 2 * (size - size // 2) / max(large - small, large / 4)


def _products(laboratory: Laboratory, put: "Put") -> None:
    """Measure the rates of products; they are rates that are reached, not peaks of the hardware."""
    put("tensor_share", 1.0, "the rates are measured ones")
    for unit in UNITS:
        times = [laboratory.product(unit, SIDE) for _ in range(ROUNDS)]
        known = [seconds for seconds in times if seconds]
        if known:
            side = f"a product of {SIDE} x {SIDE}"
            put(f"tensor_{unit}", 2 * SIDE**3 / median(known), f"measured: {side}")


class Put(Protocol):
    """Notes a number."""

    def __call__(self, name: str, value: float, source: str) -> None:
        """The number of that name, and from where it is known."""
        ...


def _time(run: Callable[[], float]) -> float:
    return median(run() for _ in range(ROUNDS))


def _limits(target: Target) -> Mapping[str, float]:
    limits, lanes = target.limits, target.warp_size
    return {
        "shared_bytes": limits.shared,
        "block_shared": limits.block_shared,
        "registers": limits.registers * lanes,
        "threads": limits.warps * lanes,
        "blocks": limits.blocks,
    }


def _key(name: str) -> str:
    """A GPU's name as a word."""
    words = "".join(c if c.isalnum() else " " for c in name.lower()).split()
    return "-".join(words)
