"""Cases of a folder that `tests.attack.prepare` made: what they do on a GPU, and should do.

The folder is said by the variable ATTACK_FOLDER; a seed is the number of a case.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import torch

from tests.attack.case import Case
from tests.attack.elements import difference
from tests.attack.folder import FOLDER, loaded, path_of
from tests.attack.inputs import tensors_of
from tests.attack.launching import launched, launched_on_gpu
from tests.attack.numbers import Array
from tests.attack.outcome import Outcome, Verdict


def attempt(seed: int) -> Outcome:
    """Launch one case, and look at what it left."""
    return judged(*loaded(path_of(Path(os.environ[FOLDER]), seed)))


def judged(case: Case, wanted: dict[str, Array]) -> Outcome:
    """Return whether all calls of a case do what they should."""
    counted: Counter[str] = Counter({"cases": 1})
    launch = launched_on_gpu if torch.cuda.is_available() else launched
    for number, call in enumerate(case.calls):
        tensors = tensors_of(case, call)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                launch(case, call, tensors)
        except Exception as error:
            counted["cases that Triton does not take"] += 1
            why = " ".join(f"{type(error).__name__}: {error}".splitlines())[:300]
            return Outcome(Verdict.SKIPPED, why, case.shown(), counted)
        counted["calls"] += 1
        for one in case.tensors:
            if not one.is_output:
                continue
            data, slack = (wanted[f"{number} {one.name} {word}"] for word in ("data", "slack"))
            counted["outputs"] += 1
            counted["elements"] += int(np.sum(np.isfinite(slack)))
            counted["elements to the last bit"] += int(np.sum(slack == 0))
            said = difference(one, data, slack, tensors)
            if said is not None:
                what = f"{said} in {dict(call.sizes)} with {call.values} values"
                return Outcome(Verdict.WRONG, what, case.shown(), counted)
    return Outcome(Verdict.AGREE, "", "", counted)
