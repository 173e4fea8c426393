"""A part of the long suite, another one for each seed, in a bounded time.

    pytest -m "long and not gpu and not alone" --rotating SEED --rotating-seconds 60

One case of every test comes first, then a second one of each, and so on, in an order that follows
from the seed. What has not begun when the time is over is skipped: another seed begins elsewhere.
What has begun has as much time again, and is skipped if it is not over by then.
"""

import signal
import time
from collections.abc import Generator, Hashable, Iterable
from itertools import zip_longest
from random import Random
from typing import TypeVar

import pytest

T = TypeVar("T")
SECONDS = 30.0  # With two workers this is a minute of tests.


def rotated(items: Iterable[tuple[Hashable, T]], seed: int) -> list[T]:
    """Mix items with their groups: one of each group, then a second one of each, and so on."""
    groups: dict[Hashable, list[T]] = {}
    for group, item in items:
        groups.setdefault(group, []).append(item)
    random = Random(seed)
    rows = list(groups.values())
    for row in rows:
        random.shuffle(row)
    random.shuffle(rows)
    # Items are wrapped, because one of them may be None itself.
    columns = zip_longest(*([(item,) for item in row] for row in rows))
    return [one[0] for column in columns for one in column if one is not None]


def add_options(parser: pytest.Parser) -> None:
    """Add the options of a run that rotates."""
    parser.addoption("--rotating", type=int, metavar="SEED", help="order long tests by a seed")
    said = f"begin no test after so many seconds; {SECONDS:g} if not said"
    parser.addoption("--rotating-seconds", type=float, default=SECONDS, help=said)


class Rotation:
    """The plugin of a run that rotates."""

    def __init__(self, seed: int, seconds: float) -> None:
        self.seed = seed
        self.seconds = seconds
        self.end = float("inf")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Put the tests into the order of the seed; all workers compute the same order."""
        items[:] = rotated(((item.nodeid.partition("[")[0], item) for item in items), self.seed)

    def pytest_runtest_setup(self) -> None:
        """Start the clock with the first test, because the time to collect tests does not count."""
        now = time.monotonic()
        self.end = min(self.end, now + self.seconds)
        if now > self.end:
            pytest.skip("the time of this part of the long suite is over")

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Generator[None]:
        """End a test that would make the whole run too long."""
        if not hasattr(signal, "SIGALRM"):  # Windows does not have this signal.
            return (yield)

        def ended(_number: int, _frame: object) -> None:
            raise pytest.skip.Exception("it was not over in the time of this part")

        before = signal.signal(signal.SIGALRM, ended)
        signal.setitimer(signal.ITIMER_REAL, max(self.end - time.monotonic(), 0) + self.seconds)
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
