"""Makes an entry for a GPU from the times of a few runs on it.

Numbers that cannot be measured so simply are copied from a known device, and the entry says so.
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
SPECIAL = 1 << 26  # numbers; DEPTH exponentials are computed of each
DEPTH = 64
ADDED, TO_ONE = 1 << 22, 1 << 16  # numbers that are added, far apart and to one element
TINY = 1e-9  # s, less than any of these runs takes
ROUNDS = 5
UNITS = ("f16", "bf16", "tf32", "f8", "i8", "f64")
# The numbers that such a short run cannot measure.
TAKEN = ("memory_latency", "l2_latency", "next_launch", "warp_share", "issue", "special", "blocks")


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    """The properties of a GPU that its driver reports."""

    name: str
    target: str
    multiprocessors: int
    clock: float  # Hz, the highest
    memory_bytes: int
    memory_rate: float  # bytes/s, from the clock and the width of the memory
    l2_bytes: int
    # Lanes of a multiprocessor, times its clock, times two, times the number of multiprocessors.
    f32: float


class Laboratory(Protocol):
    """A place where kernels can be run and timed; each answer is in seconds."""

    def facts(self) -> DeviceFacts:
        """Return the properties that the driver reports."""
        ...

    def copy(self, size: int) -> float:
        """Time reading this number of bytes and writing them to another place."""
        ...

    def product(self, unit: str, side: int) -> float | None:
        """Time a product of two square matrices; None if the GPU or torch cannot compute it."""
        ...

    def exponentials(self, numbers: int, depth: int) -> float:
        """Time numbers * depth exponentials that need little memory traffic."""
        ...

    def additions(self, numbers: int, places: int) -> float:
        """Time atomic additions of so many numbers of f32, in turn to so many places."""
        ...

    def nothing(self) -> float:
        """Time a kernel that does almost nothing."""
        ...


class UnknownTarget(Exception):
    """Raised if no limits are known for the architecture of the GPU."""


def probed(laboratory: Laboratory) -> Device:
    """Return the device of the laboratory. Raises UnknownTarget."""
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
    _additions(laboratory, put)
    put("launch", _time(laboratory.nothing), "measured: a kernel that does next to nothing")
    known = find_device(DEFAULT)
    for name in TAKEN:
        if name not in values:
            put(name, known[name], f"not measured: as on {known.name}")
    measured = SPECIAL * DEPTH / _time(lambda: laboratory.exponentials(SPECIAL, DEPTH))
    each = measured / facts.multiprocessors / facts.clock
    put("special", each, "measured: exponentials")
    return Device(_key(facts.name), facts.name, target, values, sources)


def _memory(laboratory: Laboratory, facts: DeviceFacts, put: "NoteNumber") -> None:
    rate = 2 * COPIED / _time(lambda: laboratory.copy(COPIED))
    put("memory_share", rate / facts.memory_rate, f"measured: a copy at {rate:.3g} bytes/s")


def _l2_rate(laboratory: Laboratory, size: int) -> float:
    """Return the bytes a second of a copy from L2, without the time of a launch.

    The time of a small copy is subtracted from that of a large one.
    """
    large = _time(lambda: laboratory.copy(size))
    small = _time(lambda: laboratory.copy(size // 2))
    return 2 * (size - size // 2) / max(large - small, large / 4)


def _products(laboratory: Laboratory, put: "NoteNumber") -> None:
    """Measure the rates of products.

    These are rates that are reached, not peaks of the hardware.
    """
    put("tensor_share", 1.0, "the rates are measured ones")
    for unit in UNITS:
        times = [laboratory.product(unit, SIDE) for _ in range(ROUNDS)]
        known = [seconds for seconds in times if seconds]
        if known:
            side = f"a product of {SIDE} x {SIDE}"
            put(f"tensor_{unit}", 2 * SIDE**3 / median(known), f"measured: {side}")


def _additions(laboratory: Laboratory, put: "NoteNumber") -> None:
    """Measure atomic additions to places that lie side by side, and to a single one."""
    # What two runs have in common, as the launch, is left out.
    apart = _time(lambda: laboratory.additions(2 * ADDED, 2 * ADDED))
    apart -= _time(lambda: laboratory.additions(ADDED, ADDED))
    put("atomic_rate", 4 * ADDED / max(apart, TINY), "measured: additions of f32, side by side")
    one = _time(lambda: laboratory.additions(2 * TO_ONE, 1))
    one -= _time(lambda: laboratory.additions(TO_ONE, 1))
    put("atomic_wait", max(one, TINY) / TO_ONE, "measured: additions of f32 to one element")


class NoteNumber(Protocol):
    """A function that notes a number."""

    def __call__(self, name: str, value: float, source: str) -> None:
        """Note the number of that name, and its source."""
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
    """Return the name of a GPU as one word."""
    words = "".join(c if c.isalnum() else " " for c in name.lower()).split()
    return "-".join(words)
