"""Tries the kernels of a Program in the ring at small sizes, to find a mistake if there is one.

It imports torch and triton.
"""

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from math import prod
from typing import Any, TypeAlias

from dtpoly.algorithm.program import Program
from dtpoly.budget import OverBudgetError, within
from dtpoly.diagnostics import DtpolyError
from dtpoly.frozen import dataclass
from dtpoly.ring.ring_execution import agreement
from dtpoly.ring.ring_memory import TouchError
from dtpoly.ring.ring_values import NoRing
from dtpoly.ring.small_sizes import few_sizes

# Triton has no types.
errors: Any = import_module("triton.errors")
SEED = 1
# The product of all sizes; of those that are not chosen to be small, it is less. Labels that
# always have one size make it large where one number is.
MOST_CHOSEN, MOST_ELEMENTS = 200_000, 20_000
# The first sizes have so many seconds at least.
LEAST = 1.0
MOST_BYTES = 2**30  # tiles of a million lanes take a hundred million each
# Whatever a text makes go wrong when it runs, it says nothing of the algorithm.
FAILED = (
    *(ValueError, TypeError, NameError, AttributeError, LookupError, ArithmeticError),
    *(RuntimeError, AssertionError, DtpolyError, errors.TritonError),
)


@dataclass(frozen=True, slots=True)
class Equal:
    """The result of a text that agrees at these sizes, bit for bit, without a race."""

    sizes: tuple[Mapping[str, int], ...]


@dataclass(frozen=True, slots=True)
class WrongTrial:
    """The result of a text that is wrong: the sizes, the line if it is known, and the mistake."""

    sizes: Mapping[str, int]
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """The result of a text that could not be run, and why."""

    why: str


Tried: TypeAlias = Equal | WrongTrial | NotRun


def tried(
    program: Program,
    text: str,
    func: str,
    seconds: float,
    more: Iterable[Mapping[str, int]] = (),
    begin: Callable[[Mapping[str, int]], None] = lambda _: None,
) -> Tried:
    """Run a function at a few small sizes, then at others that may show a mistake.

    No more are begun once the time is over, which is that of the processor.
    """
    end = time.thread_time() + seconds
    done: list[Mapping[str, int]] = []
    few = tuple(one for one in few_sizes(program) if _is_small(one, MOST_CHOSEN))
    # What is said of all sizes at once names none.
    named = (one for one in more if few and few[0].keys() <= one.keys() and _is_small(one))
    for sizes in (*few, *named):
        if sizes in done:
            continue
        if done and time.thread_time() > end:
            break
        begin(sizes)
        try:
            with within(max(end - time.thread_time(), LEAST), most_bytes=MOST_BYTES):
                found = agreement(program, text, (func,), sizes, SEED)
        except OverBudgetError as error:
            if done:
                break
            return NotRun(f"at {shown(sizes)} it takes more than {error.limit}")
        except TouchError as error:
            return WrongTrial(sizes, error.line, str(error))
        except NoRing as error:
            return NotRun(f"the ring has no words for {error}")
        except FAILED as error:
            if sizes not in few:  # nor need there be a call of these
                continue
            return NotRun(f"it does not run at {shown(sizes)}: {error}")
        if wrong := [one for one, count in found.differing.items() if count]:
            count, first = found.differing[wrong[0]], ", ".join(map(str, found.first[wrong[0]]))
            return WrongTrial(sizes, 0, f"{count} elements are others, first {wrong[0]}[{first}]")
        done.append(sizes)
    return Equal(tuple(done))


def _is_small(sizes: Mapping[str, int], most: int = MOST_ELEMENTS) -> bool:
    """Return whether sizes are small enough to run: each element, or tile, takes a moment."""
    return prod(max(size, 1) for size in sizes.values()) <= most


def shown(sizes: Mapping[str, int]) -> str:
    """`x = 1, k = 2`."""
    return ", ".join(f"{label} = {size}" for label, size in sizes.items())
