"""What memory is, held against what the verifier's reading says it is."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

from tests.attack.case import Case
from tests.attack.executing import Execution
from tests.attack.numbers import Array
from tests.attack.reading import KINDS, numbers_of


def differences(
    case: Case, execution: Execution, tensors: Mapping[str, torch.Tensor]
) -> tuple[list[str], int, int]:
    """Where memory is something else: in words; how many elements were compared, and how exactly.

    The second number counts those of which something is known, the third those that must be right
    to the last bit.
    """
    found: list[str] = []
    known = exact = 0
    for one in case.tensors:
        wanted, real = execution.memory[one.name], numbers_of(KINDS[one.dtype], tensors[one.name])
        with np.errstate(all="ignore"):
            wrong = _wrong(wanted.data, wanted.slack, real)
        if one.is_output:
            known += int(np.sum(np.isfinite(wanted.slack)))
            exact += int(np.sum(wanted.slack == 0))
        for at in np.argwhere(wrong)[:1]:
            place = tuple(int(index) for index in at)
            count = int(np.sum(wrong))
            found.append(
                f"{one.name}{list(place)} is {real[place]!r}, and read as {wanted.data[place]!r}"
                f" +- {wanted.slack[place]:g} ({count} of {wrong.size} differ)"
            )
    return found, known, exact


def _wrong(wanted: Array, slack: Array, real: Array) -> Array:
    is_right: Array = (wanted == real) | np.isinf(slack)
    if wanted.dtype.kind == "f":
        apart = np.abs(wanted.astype(np.float64) - real.astype(np.float64))
        is_right = is_right | (np.isnan(wanted) & np.isnan(real)) | (apart <= slack)
    return ~is_right
