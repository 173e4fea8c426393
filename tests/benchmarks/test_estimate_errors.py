"""The comparison of estimated registers with the compiler's."""

from typing import Any

from benchmarks.estimate_errors import HELD_OUT, groups, told
from dtpoly.explore.cost.sureness import PRODUCT, REDUCTION


def case(name: str, kind: str, actual: tuple[int, int, int], found: tuple[int, int, int]) -> Any:
    """A case with one schedule of one kernel: registers, spilled bytes, shared bytes."""
    words = ("registers", "spilled", "shared")
    kernel = {"kernel": "f", **dict(zip(words, actual, strict=True))}
    estimate = {"kernel": "f", "kind": kind, **dict(zip(words, found, strict=True))}
    return {
        "list": name,
        "name": "000_case",
        "schedules": [{"kernels": [kernel], "estimated": [estimate]}],
    }


def test_what_spills_unforeseen_is_counted() -> None:
    cases = [
        case("seed 1", PRODUCT, (255, 400, 16384), (200, 0, 16384)),
        case("seed 1", PRODUCT, (100, 0, 16384), (255, 64, 32768)),
        case(HELD_OUT, REDUCTION, (40, 0, 0), (30, 0, 0)),
    ]
    found = groups(cases, "now")
    assert [one.registers for one in found["products, now"]] == [355, 100]
    assert [one.error for one in found["others, held out, now"]] == [0.25]
    (row,) = (line for line in told(found).splitlines() if line.startswith("| products, now"))
    cells = [one.strip() for one in row.strip("|").split("|")]
    assert cells[1] == "2"
    assert cells[4:9] == ["1", "1", "1", "1", "1"]
