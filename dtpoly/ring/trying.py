"""A Program and the text of its kernels in; whether running them in the ring shows a mistake, out.

Imports torch and triton.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import DtpolyError
from dtpoly.ring.algorithm import NoRing
from dtpoly.ring.execute import agreement
from dtpoly.ring.memory import TouchError
from dtpoly.ring.sizes import few_sizes

# Triton has no types.
errors: Any = import_module("triton.errors")
SEED = 1
# Whatever a text makes go wrong when it runs, it says nothing of the algorithm.
FAILED = (ValueError, TypeError, NameError, AttributeError, LookupError, ArithmeticError)
FAILED += (RuntimeError, AssertionError, DtpolyError, errors.TritonError)


@dataclass(frozen=True, slots=True)
class Equal:
    """It agrees at these sizes, bit for bit; all accesses were inside, and nothing raced."""

    sizes: tuple[Mapping[str, int], ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """It does not: at which sizes, in which line if that is known, what."""

    sizes: Mapping[str, int]
    line: int
    what: str


@dataclass(frozen=True, slots=True)
class NotRun:
    """It says nothing, and why."""

    why: str


Tried: TypeAlias = Equal | Wrong | NotRun


def tried(
    program: Program,
    text: str,
    func: str,
    seconds: float,
    begin: Callable[[Mapping[str, int]], None] = lambda _: None,
) -> Tried:
    """Run a function at a few small sizes; no more are begun once the time is over."""
    end = time.monotonic() + seconds
    done: list[Mapping[str, int]] = []
    for sizes in few_sizes(program):
        if done and time.monotonic() > end:
            break
        begin(sizes)
        try:
            found = agreement(program, text, (func,), sizes, SEED)
        except TouchError as error:
            return Wrong(sizes, error.line, str(error))
        except NoRing as error:
            return NotRun(f"the ring has no words for {error}")
        except FAILED as error:
            return NotRun(f"it does not run at {shown(sizes)}: {error}")
        if count := found.differing[func]:
            first = ", ".join(map(str, found.first[func]))
            return Wrong(sizes, 0, f"{count} elements are others, first {func}[{first}]")
        done.append(sizes)
    return Equal(tuple(done))


def shown(sizes: Mapping[str, int]) -> str:
    """`x = 1, k = 2`."""
    return ", ".join(f"{label} = {size}" for label, size in sizes.items())
