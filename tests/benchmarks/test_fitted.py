"""Tests that numbers of a device are found again in times that were made from them."""

from dataclasses import replace
from typing import Any

from benchmarks.files import RESULTS
from benchmarks.fitted import TRIED, fitted, quality, unseen_schedules
from benchmarks.predicted import MeasuredSchedule, read
from dtpoly.explore.devices.devices import find_device

H200 = find_device("h200")
SEVERAL = ("000_permuted", "006_running", "013_outer")


def some() -> list[MeasuredSchedule]:
    """A few schedules of the record."""
    record = read(RESULTS / "unseen_h200.json")
    cases: list[Any] = [one for one in record["cases"] if one["name"] in SEVERAL]
    return [*unseen_schedules({"cases": cases})][::3]


def test_known_numbers_are_found_again() -> None:
    values = {name: tried[1] for name, tried in TRIED.items()}
    meant = replace(H200, values={**H200.values, **values})
    measured = [replace(one, milliseconds=1e3 * one.cost(meant).seconds) for one in some()]
    assert quality(H200, measured).mean > 0.01
    found = fitted(H200, [measured])
    assert found["launch"] == values["launch"]
    assert quality(found, measured).mean < 0.01


def test_inputs_that_lie_otherwise_are_left_out() -> None:
    record = read(RESULTS / "unseen_h200.json")
    (turned,) = (one for one in record["cases"] if one["name"] == "024_columns")
    assert turned["orders"] == {"P": [1, 0]}
    assert not [*unseen_schedules({"cases": [turned]})]
