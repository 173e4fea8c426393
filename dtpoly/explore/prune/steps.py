"""Prepares points in a worker: it emits, compiles or proves, one step in each job.

Each step is a job of its own. So a compiler that crashes spoils no text, and a proof that takes too
long spoils no compilation.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.prune.emit import emitted, expectation
from dtpoly.explore.prune.proving import proof_of
from dtpoly.explore.prune.prune import Call
from dtpoly.explore.prune.shapes import Shapes

EMIT, COMPILE, PROVE = "emit", "compile", "prove"

Job = Mapping[str, Any]


def preparing(model: Mapping[str, Any]) -> Callable[[Job], dict[str, Any]]:
    """Return a function that does one step for one point.

    A model without a device predicts no times and compiles nothing.
    """
    expect, shapes = expectation(model) if model else None, Shapes()

    def do(job: Job) -> dict[str, Any]:
        match job["step"]:
            case "emit":
                found = emitted(job["name"], job["text"], expect, job["is_legal"], shapes)
                said = {"expected": found.expected, "is_legal": found.is_legal}
                return {"made": asdict(found.made), **said}
            case "compile":
                # This is imported only now because it needs Triton.
                compiling: Any = import_module("dtpoly.explore.prune.compiling")
                device = find_device(model["device"])
                call = Call(device.target, model["sizes"], DType(model["dtype"]))
                return asdict(compiling.fit_of(job["name"], job["text"], call))
            case step:
                assert step == PROVE, step
                parts = (job["name"], job["text"], job["kernels"], job["function"])
                return asdict(proof_of(*parts))

    return do
