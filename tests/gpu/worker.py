"""`python -m tests.gpu.worker FOLDER`: runs the cases whose numbers come in, a line of JSON each.

A process of its own, because an error of the GPU leaves nothing to go on with.
"""

import json
import sys
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import torch

from dtpoly.algorithm.program import Program
from tests.codegen.inputs import Layout
from tests.codegen.running import Wrong, called, compared, expected, imported, nothing_to_run
from tests.gpu.plan import AGAIN, Case, read

# Without a GPU, the interpreter takes the place of Triton, to try this out.
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
GPU_ERRORS = ("CUDA error", "CUDA driver error", "Triton Error [CUDA]", "illegal memory access")


def main() -> None:
    """Run the cases that are asked for, until nothing more comes."""
    torch.set_num_threads(1)
    folder = Path(sys.argv[1])
    cases = list(read(folder))
    print("ready", flush=True)
    for line in sys.stdin:
        number = int(line)
        outcome, why = ran(folder, cases[number])
        print(json.dumps({"case": number, "outcome": outcome, "why": why}), flush=True)
        if outcome == "GPU error":
            # Later cases would fail as well.
            raise SystemExit(1)


def ran(folder: Path, case: Case) -> tuple[str, str]:
    """Return the outcome of a case."""
    try:
        program = case.program
        inputs = case.recipe.inputs(program, case.sizes, DEVICE)
        module = imported((folder / case.file).read_text())
        known = expected(program, inputs, case.sizes)
        compare = partial(compared, module, program, case.funcs, inputs, case.sizes, known=known)
        checked = compare(device=DEVICE, layout=case.out, watched=DEVICE == "cpu")
        again = ""
        if DEVICE == "cuda":
            torch.cuda.synchronize()
            again = done_again(module, case, program, compare)
    except Wrong as error:
        return "wrong", str(error)
    except Exception as error:  # any error is reported
        if reason := nothing_to_run(error):
            return "nothing to run", reason
        text = "".join(traceback.format_exception(error))
        if any(sign in text for sign in GPU_ERRORS):
            return "GPU error", text[-2000:]
        return "failed", f"{_first(error)}\n{text[-1500:]}"
    return "right", f"{checked.known} of {checked.elements} elements known{again}"


def done_again(module: Any, case: Case, program: Program, compare: Callable[..., object]) -> str:
    """Compare again, after a call with other inputs of the same shapes.

    Returns AGAIN if this call launched what the other one launched.
    """
    others = replace(case.recipe, seed=case.recipe.seed + 1).inputs(program, case.sizes, DEVICE)
    for func in case.funcs:
        called(module, program, func, others, case.sizes, None, DEVICE)
    with mock.patch.object(module, "dt_keep", wraps=module.dt_keep) as keep:
        compare(device=DEVICE, layout=Layout.PLAIN, watched=False)
        torch.cuda.synchronize()
    return "" if keep.called else AGAIN


def _first(error: BaseException) -> str:
    """Return the first error."""
    while error.__cause__ is not None:
        error = error.__cause__
    return f"{type(error).__name__}: {error}"[:500]


if __name__ == "__main__":
    main()
