"""`dtpoly device` on a simulated GPU: what is measured, and what is taken over."""

import json
from dataclasses import dataclass, replace

import pytest

from dtpoly.explore.devices.devices import REQUIRED, UNITS, entry_of, find_device, read_device
from dtpoly.explore.devices.probe import DeviceFacts, UnknownTarget, probed

FACTS = DeviceFacts(
    "Some GPU 9000", "cuda:90", 100, 1.5e9, 64 << 30, 4.0e12, 40 << 20, 2 * 128 * 1.5e9 * 100
)
ADDED, BETWEEN = 2e11, 3e-9
LAUNCH, MEMORY, L2, PRODUCTS, EXPONENTIALS = 4e-6, 3e12, 6e12, 5e14, 2e12


@dataclass(frozen=True)
class Simulated:
    """A GPU of which all rates are known."""

    said: DeviceFacts = FACTS

    def facts(self) -> DeviceFacts:
        return self.said

    def copy(self, size: int) -> float:
        return LAUNCH / 4 + 2 * size / (L2 if size <= FACTS.l2_bytes // 2 else MEMORY)

    def product(self, unit: str, side: int) -> float | None:
        return None if unit == "f8" else 2 * side**3 / PRODUCTS * (2 if unit == "tf32" else 1)

    def exponentials(self, numbers: int, depth: int) -> float:
        return numbers * depth / EXPONENTIALS

    def additions(self, numbers: int, places: int) -> float:
        return LAUNCH + max(4 * numbers / ADDED, numbers / places * BETWEEN)

    def nothing(self) -> float:
        return LAUNCH


def test_rates_are_found_again() -> None:
    device = probed(Simulated())
    assert device.key == "some-gpu-9000"
    assert device.memory == pytest.approx(MEMORY, rel=0.01)
    assert device["l2_rate"] == pytest.approx(L2)
    assert device.tensor("bf16") == pytest.approx(PRODUCTS)
    assert device.tensor("tf32") == pytest.approx(PRODUCTS / 2)
    assert "tensor_f8" not in device.values
    assert device["launch"] == LAUNCH
    assert device.atomic_rate == pytest.approx(ADDED)
    assert device.atomic_wait == pytest.approx(BETWEEN)
    assert device["special"] == pytest.approx(EXPONENTIALS / FACTS.multiprocessors / FACTS.clock)


def test_what_is_taken_over_says_so() -> None:
    device = probed(Simulated())
    assert set(REQUIRED) <= device.values.keys() <= UNITS.keys()
    assert device["memory_latency"] == find_device("h200")["memory_latency"]
    assert device.sources["memory_latency"].startswith("not measured")
    assert device["threads"] == 2048


def test_the_entry_is_read_back() -> None:
    device = probed(Simulated())
    assert read_device(json.dumps({device.key: entry_of(device)})) == device


def test_an_architecture_without_known_limits() -> None:
    with pytest.raises(UnknownTarget, match="cuda:75"):
        probed(Simulated(replace(FACTS, target="cuda:75")))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"a": 1}', '{"a": {"name": "b"}}'])
def test_what_is_no_entry(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read_device(text)
