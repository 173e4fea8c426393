"""The campaign finds faults that are planted in the verifier's reading of kernels."""

import pytest

from tests.attack.planted import FAULTS, Fault, found_at

# Every so many of them is planted in each run of the tests, all of them in the long ones.
EVERY = 5


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS[::EVERY], ids=lambda fault: fault.name)
def test_a_planted_fault_is_found(fault: Fault) -> None:
    assert found_at(fault) is not None


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_each_planted_fault_is_found(fault: Fault) -> None:
    assert found_at(fault) is not None


def test_there_are_enough_faults() -> None:
    assert len(FAULTS) >= 39
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
