"""Finds a GPU by name and returns its rates and limits, as numbers that each have a source."""

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from dtpoly.frozen import dataclass
from dtpoly.targets.target import Target, parse_target

DEFAULT = "h200"
FILE = "devices.json"

# The numbers of an entry with their units. A device has only some of the `tensor_` numbers.
UNITS: Mapping[str, str] = {
    "multiprocessors": "",
    "clock": "Hz",
    "memory_bytes": "bytes",
    "memory_rate": "bytes/s",
    "memory_share": "of that rate, reached by a large copy",
    "memory_latency": "s, under load",
    "l2_bytes": "bytes",
    "l2_rate": "bytes/s",
    "l2_latency": "s",
    "shared_bytes": "bytes a multiprocessor",
    "block_shared": "bytes a block",
    "registers": "of 32 bits a multiprocessor",
    "threads": "a multiprocessor",
    "blocks": "a multiprocessor",
    "issue": "instructions of one lane a clock and multiprocessor",
    "special": "special functions a clock and multiprocessor",
    "f32": "operations/s",
    "f64": "operations/s",
    "tensor_f16": "operations/s",
    "tensor_bf16": "operations/s",
    "tensor_tf32": "operations/s",
    "tensor_f8": "operations/s",
    "tensor_i8": "operations/s",
    "tensor_f64": "operations/s",
    "tensor_share": "of these rates, reached by a large product",
    "warp_share": "of these rates, reached by products of one warp",
    "atomic_rate": "bytes/s, of atomic additions",
    "atomic_wait": "s, between two atomic additions to one element",
    "launch": "s, of an empty kernel",
    "next_launch": "s, of each kernel that waits in the queue behind another one",
}
# What an entry need not have: files that were written before have none, or the device has not.
OPTIONAL = ("f64", "atomic_rate", "atomic_wait")
REQUIRED = tuple(n for n in UNITS if not n.startswith("tensor_") and n not in OPTIONAL)
# Where nobody measured them: the share of L2's rate at which sectors are added to, and the clocks
# between two additions to one element.
ADDED_SHARE, ADDED_CLOCKS = 1 / 8, 2.0


class UnknownDevice(Exception):
    """Raised if no entry has that name."""


@dataclass(frozen=True, slots=True)
class Device:
    """A GPU: its numbers by name, and the source of each."""

    key: str
    name: str
    target: Target
    values: Mapping[str, float]
    sources: Mapping[str, str]

    def __getitem__(self, name: str) -> float:
        """Return one of the numbers."""
        return self.values[name]

    def tensor(self, unit: str) -> float:
        """Return how many operations of a product it computes in a second.

        If it has no tensor cores for this unit, ordinary instructions compute the product.
        """
        found = self.values.get(f"tensor_{unit}")
        if found is not None:
            return found * self["tensor_share"]
        return self.values.get(unit, self["f32"])

    @property
    def atomic_rate(self) -> float:
        """Return how many bytes of atomic additions there are in a second."""
        return self.values.get("atomic_rate", self["l2_rate"] * ADDED_SHARE)

    @property
    def atomic_wait(self) -> float:
        """Return the seconds between two atomic additions to one element."""
        return self.values.get("atomic_wait", ADDED_CLOCKS / self["clock"])

    @property
    def memory(self) -> float:
        """Return how many bytes a large copy moves in a second."""
        return self["memory_rate"] * self["memory_share"]

    @property
    def issue(self) -> float:
        """Return how many instructions of a lane all multiprocessors issue in a second."""
        return self["issue"] * self["multiprocessors"] * self["clock"]


def device_of(key: str, entry: Mapping[str, Any]) -> Device:
    """Return the device that an entry of the file describes."""
    numbers: Mapping[str, Any] = entry["numbers"]
    missing = [name for name in REQUIRED if name not in numbers]
    if missing:
        raise ValueError(f"the entry '{key}' lacks {', '.join(missing)}")
    values = {name: float(one["value"]) for name, one in numbers.items()}
    sources = {name: str(one["from"]) for name, one in numbers.items()}
    return Device(key, str(entry["name"]), parse_target(entry["target"]), values, sources)


def entry_of(device: Device) -> dict[str, Any]:
    """Return a device as an entry of the file."""
    numbers = {
        name: {
            "value": int(value) if float(value).is_integer() else value,
            "from": device.sources[name],
        }
        for name, value in device.values.items()
    }
    return {"name": device.name, "target": str(device.target), "numbers": numbers}


@cache
def devices() -> Mapping[str, Device]:
    """Return every device that the package knows."""
    text = files("dtpoly.explore.devices").joinpath(FILE).read_text(encoding="utf-8")
    entries: dict[str, Any] = json.loads(text)
    return {key: device_of(key, entry) for key, entry in entries.items()}


def find_device(word: str) -> Device:
    """Return the device of that name. Raises UnknownDevice."""
    found = devices().get(word.lower())
    if found is None:
        raise UnknownDevice(word)
    return found


def read_device(text: str) -> Device:
    """Return the device of a file that `dtpoly device` wrote. Raises ValueError."""
    try:
        entries: dict[str, Any] = json.loads(text)
        ((key, entry),) = entries.items()
        return device_of(key, entry)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"it is no entry of a device: {error}") from None
