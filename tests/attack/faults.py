"""Lists what some versions of Triton are known to compute otherwise than the verifier reads it.

A difference is put down to such a fault only if all is as it should be once the evaluator has the
fault as well: nothing else is excused. Each fault has a kernel that shows it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from tests.attack.arithmetic import applied, arithmetic, extreme
from tests.attack.numbers import Number


@dataclass(frozen=True)
class Fault:
    """A fault: its operations, where it matters, the result, and the versions that have it."""

    name: str
    operations: tuple[str, ...]
    # The first version that computes what the verifier reads.
    mended: tuple[int, int]
    # True if compiled kernels have it, too; else only the interpreter has it.
    is_compiled: bool
    differs: Callable[[Sequence[Number]], bool]
    instead: Callable[[str, Sequence[Number]], Number]
    # A value of tiles `a_f32` and `b_f32` that shows it.
    shown: str


def _has_nan(operands: Sequence[Number]) -> bool:
    return any(one.is_float and bool(np.isnan(one.data).any()) for one in operands)


def _with_nan(operation: str, operands: Sequence[Number]) -> Number:
    first, second = operands
    return extreme(operation.startswith("maximum"), first, second, nan_wins=True)


def _has_zero(operands: Sequence[Number]) -> bool:
    return any(one.is_float and bool((one.data == 0).any()) for one in operands)


def _from_zero(_: str, operands: Sequence[Number]) -> Number:
    (operand,) = operands
    zero = Number(np.zeros((), operand.data.dtype), None, operand.is_written)
    return arithmetic("sub", zero, operand)


NAN = Fault(
    "a number beside a nan is lost in tl.maximum and tl.minimum",
    ("maximum without nan", "minimum without nan"),
    mended=(3, 8),
    is_compiled=False,
    differs=_has_nan,
    instead=_with_nan,
    shown="tl.maximum(a_f32, b_f32)",
)
SIGN = Fault(
    "-x is 0 - x, so that the sign of 0 is another one",
    ("neg",),
    mended=(3, 8),
    is_compiled=True,
    differs=_has_zero,
    instead=_from_zero,
    shown="(1.0 / (-a_f32))",
)
FAULTS = (NAN, SIGN)


def faults_of(version: str, *, is_compiled: bool) -> tuple[Fault, ...]:
    """Return the faults of a version of Triton, in its interpreter or in compiled kernels."""
    found = re.match(r"(\d+)\.(\d+)", version)
    assert found is not None, version
    known = int(found[1]), int(found[2])
    return tuple(
        one for one in FAULTS if known < one.mended and (one.is_compiled or not is_compiled)
    )


@dataclass
class Faulty:
    """The faults that an evaluation has, and those that would make a difference in it."""

    has: tuple[Fault, ...] = ()
    met: set[Fault] = field(default_factory=set[Fault])

    def computed(self, operation: str, operands: Sequence[Number], looseness: float) -> Number:
        """Compute one operation, with the faults."""
        for one in FAULTS:
            if operation in one.operations and one.differs(operands):
                self.met.add(one)
                if one in self.has:
                    with np.errstate(all="ignore"):
                        return one.instead(operation, operands)
        return applied(operation, operands, looseness)
