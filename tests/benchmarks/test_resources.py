"""First choices for cases of the generator need no more than the device has, as Triton says."""

import pytest

from tests.cli.server import Server

KEYS = ("h200", "a100")  # sm_90 and sm_80
FEW, MANY, AT_ONCE = 5, 100, 10  # cases, for each of the devices


def check(served: Server, key: str, numbers: range) -> None:
    words = map(str, numbers)
    code, out, err = served("call", "tests.benchmarks.fitting:main", key, *words)
    assert code == 0, out + err


@pytest.mark.parametrize("key", KEYS)
def test_first_choices_fit(served: Server, key: str) -> None:
    check(served, key, range(FEW))


@pytest.mark.long
@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("first", range(FEW, MANY + FEW, AT_ONCE))
def test_many_first_choices_fit(served: Server, key: str, first: int) -> None:
    check(served, key, range(first, min(first + AT_ONCE, MANY + FEW)))
