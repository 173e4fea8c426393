"""A part of the tests: another part for each seed.

    pytest -m "not gpu and not long" --sampled SEED

Of a test that is marked `sampled`, few cases run: a tenth, and of a test with many cases two and a
hundredth. Of all other cases a twelfth runs, and of those that take long a fifteenth, but of tests
that are marked `always` all: those read the sources of the project and cost little. All cases run
also of tests that compare with a text that is kept, unless they take long: any change may alter one
of these texts. Which cases run follows from the seed and from the names of the cases, so that all
workers choose the same ones. Without the option all cases run. CI gives each commit a seed of its
own, and so does the longer suite; `python3 tasks.py test --all` runs all.
"""

from collections.abc import Iterable
from hashlib import sha256
from math import ceil

import pytest

SHARE = 0.1
AT_MOST, SHARE_OF_MANY = 2, 0.01
OTHERS = 12  # of so many cases of tests that are not marked, one runs
OTHERS_LONG = 15  # and of those that take seconds or minutes


def chosen_of(count: int) -> int:
    """Return how many cases of a test run that has so many."""
    return min(ceil(count * SHARE), AT_MOST + ceil(count * SHARE_OF_MANY))


def add_options(parser: pytest.Parser) -> None:
    """Add the option of a run that leaves cases out."""
    parser.addoption(
        "--sampled", type=int, metavar="SEED", help="run a part of the cases of sampled tests"
    )


def sampled(names: Iterable[str], seed: int) -> set[str]:
    """Return the names of cases that are run: the name of a test, with its case in brackets."""
    cases: dict[str, list[str]] = {}
    for name in names:
        cases.setdefault(name.partition("[")[0], []).append(name)
    chosen: set[str] = set()
    for mine in cases.values():
        mine.sort(key=lambda name: _number(name, seed))
        chosen.update(mine[: chosen_of(len(mine))])
    return chosen


def is_drawn(name: str, seed: int, others: int = OTHERS) -> bool:
    """Return whether a case of a test that is not marked runs, one of so many."""
    return _number(name, seed) % others == 0


def _number(name: str, seed: int) -> int:
    return int.from_bytes(sha256(f"{seed} {name}".encode()).digest())


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Remove the cases that are not chosen from a run, if it asks for that."""
    seed = config.getoption("--sampled")
    if seed is None:
        return
    number = int(str(seed))
    long = _with_mark(items, "long")
    kept = _with_mark(items, "kept") - long
    always = _with_mark(items, "always") | kept
    marked = _with_mark(items, "sampled") - kept
    others = (item.nodeid for item in items if item.nodeid not in marked)
    shares = {one: OTHERS_LONG if one in long else OTHERS for one in others}
    drawn = (one for one, of in shares.items() if one in always or is_drawn(one, number, of))
    chosen = sampled(marked, number).union(drawn)
    left_out = [item for item in items if item.nodeid not in chosen]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        without = {id(item) for item in left_out}
        items[:] = [item for item in items if id(item) not in without]


def _with_mark(items: Iterable[pytest.Item], name: str) -> set[str]:
    return {item.nodeid for item in items if item.get_closest_marker(name) is not None}
