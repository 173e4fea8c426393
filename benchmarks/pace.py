"""Measures how slow a machine is just now, so that a limit of time means the same on all.

The limits are of one machine that nothing disturbs. Other machines, and that one beside other work,
may take twice as long for everything. So if a time is over its limit, it is compared with the time
of fixed work of the libraries at that moment. That work has nothing of dtpoly in it, so a change
that makes dtpoly slower does not make the comparison slower.
"""

import time
from collections.abc import Callable
from functools import cache
from statistics import median

import islpy as isl
import pyparsing as pp

QUIET = 0.027  # seconds of the processor for `work`, on the machine of the limits
RUNS = 7
TEXT = "exp(a) + 2 * b / sqrt(a * a + 1) - f(x, (y + 3) * z)"
MAP = "[n] -> { S[i, j] -> T[i, j, k] : 0 <= i, j < n and 0 <= k < 16 and (i + j) mod 4 = 0 }"
SET = "[n] -> { T[i, j, k] : 0 <= i < n and j <= k }"
TURNED = "{ S[i, j] -> S[j, i] }"


def is_kept(limit: float, seconds: float) -> bool:
    """True if this many seconds of the processor are under a limit.

    On a slow machine it is also true if they would be under it where the limit was set.
    """
    return seconds < limit or seconds < limit * slowness()


def is_kept_once(limit: float, run: Callable[[], float], runs: int = 5) -> bool:
    """True if one of several runs is under a limit.

    A machine may be slow during one of them.
    """
    return any(is_kept(limit, run()) for _ in range(runs))


def slowness() -> float:
    """Return how many times as long as a quiet machine this one takes now, but at least 1."""
    return max(1.0, median(seconds_of(work) for _ in range(RUNS)) / QUIET)


def seconds_of(run: Callable[[], object]) -> float:
    """Return the processor time of `work` in this process."""
    start = time.process_time()
    run()
    return time.process_time() - start


def work() -> None:
    """Make objects of Python and sets of isl in the proportion of a check."""
    for _ in range(12):
        # pyparsing leaves the type of **kwargs open.
        _grammar().parse_string(TEXT, parse_all=True)  # pyright: ignore[reportUnknownMemberType]
    turned = isl.Map(TURNED)
    for _ in range(30):
        isl.Map(MAP).intersect_range(isl.Set(SET)).lexmin().apply_domain(turned).coalesce()


@cache
def _grammar() -> pp.ParserElement:
    expression = pp.Forward()
    name = pp.Word(pp.alphas, pp.alphanums)
    call = pp.Group(name + "(" + pp.DelimitedList(expression) + ")")
    atom = call | name | pp.Word(pp.nums) | pp.Group("(" + expression + ")")
    term = pp.Group(atom + pp.ZeroOrMore(pp.Char("*/") + atom))
    expression <<= pp.Group(term + pp.ZeroOrMore(pp.Char("+-") + term))
    return expression
