"""Prepares points in a worker: it emits, compiles or proves, one step in each job.

Each step is a job of its own. So a compiler that crashes spoils no text, and a proof that takes too
long spoils no compilation.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from importlib import import_module
from typing import Any

from dtpoly.algorithm.dtypes import DType
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.prune.code_sharing import Shapes
from dtpoly.explore.prune.emit import emitted, expectation
from dtpoly.explore.prune.proving import proof_of
from dtpoly.explore.prune.prune import CompiledCall
from dtpoly.plugins import with_plugins

EMIT, COMPILE, PROVE = "emit", "compile", "prove"

Job = Mapping[str, Any]


def preparing(
    model: Mapping[str, Any], plugins: Iterable[str] = ()
) -> Callable[[Job], dict[str, Any]]:
    """Return a function that does one step for one point.

    A model without a device predicts no times and compiles nothing. Plugins are files, which are
    loaded here: a class of one process is none of another. Raises DtpolyError if one is wrong.
    """
    primitives = with_plugins(plugins)
    expect, shapes = expectation(model) if model else None, Shapes()

    def do(job: Job) -> dict[str, Any]:
        match job["step"]:
            case "emit":
                about = (job["name"], job["text"], expect, job["is_legal"])
                found = emitted(*about, shapes, primitives)
                said = {"expected": found.expected, "is_legal": found.is_legal}
                return {"made": asdict(found.made), **said}
            case "compile":
                # This is imported only now because it needs Triton.
                compiling: Any = import_module("dtpoly.explore.prune.compiling")
                device = find_device(model["device"])
                call = CompiledCall(device.target, model["sizes"], DType(model["dtype"]))
                return asdict(compiling.fit_of(job["name"], job["text"], call, primitives))
            case step:
                assert step == PROVE, step
                parts = (job["name"], job["text"], job["kernels"], job["function"])
                return asdict(proof_of(*parts, primitives))

    return do
