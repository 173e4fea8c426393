"""Times what was prepared for batches, and compares the bits of one row in all of them.

This needs torch and triton, and neither isl nor the frontend. Each case is written at once.
"""

import json
import platform
import statistics
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from benchmarks.batches.batch_manifest import BEST, ONE, read_manifest
from benchmarks.files import write_whole
from dtpoly.runtime.load import load_module
from dtpoly.timing.clock import Clock, clock_of

RUNS, WARM = 30, 3
NUMBER = 1e-5  # for an input that is no tensor
KINDS = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SEED = 7


def versions(device: str) -> dict[str, str]:
    """Return what the times depend on; no names of hosts or users."""
    name = "cpu" if device == "cpu" else str(torch.cuda.get_device_name())
    return {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "triton": version("triton"),
        "cuda": str(torch.version.cuda),
        "device": name,
    }


def measure(
    folder: Path, output: Path, device: str, seconds: float, command: str
) -> Iterator[dict[str, Any]]:
    """Measure the cases that the file of results has not, as long as there is time."""
    end = time.monotonic() + seconds
    done: dict[str, Any] = json.loads(output.read_text()) if output.exists() else {}
    done |= {"command": command, "date": datetime.now(UTC).isoformat(timespec="seconds")}
    machine = versions(device)
    if done.setdefault("machine", machine) != machine:
        raise ValueError(f"{output} has results of another machine or other versions")
    cases: dict[str, Any] = done.setdefault("cases", {})
    clock = clock_of(device)
    for name, prepared in read_manifest(folder).items():
        if name in cases and "failed" not in cases[name]:
            continue
        if time.monotonic() > end:
            return
        try:
            cases[name] = _case(folder, prepared, device, clock)
        except Exception as error:  # one case that fails must not lose the others
            cases[name] = {"failed": f"{type(error).__name__}: {error}"[:400]}
        write_whole(output, json.dumps(done, indent=1) + "\n")
        yield {"name": name, **cases[name]}


def _case(folder: Path, prepared: dict[str, Any], device: str, clock: Clock) -> dict[str, Any]:
    """Return times by batch and kind, and whether a row has the same bits in all batches."""
    texts = prepared["texts"]
    functions = {
        one["file"]: getattr(load_module((folder / one["file"]).read_text(), "batch"), one["func"])
        for one in texts
    }
    rows: dict[str, list[Any]] = {ONE: [], BEST: []}
    batches: dict[str, Any] = {}
    row: dict[str, Any] = {}
    for size, inputs in prepared["inputs"].items():
        given = _made(inputs, row, device)
        times: dict[str, float] = {}
        for one in texts:
            if int(size) not in one["batches"]:
                continue
            function = functions[one["file"]]
            result, times[one["kind"]] = _timed(function, given, clock)
            rows[one["kind"]].append(_row(result, inputs, int(size)))
        batches[size] = {
            "milliseconds": times,
            "one_to_best": times[ONE] / times[BEST] if len(times) > 1 else None,
        }
    return {"batches": batches, "same_bits": {kind: _are_same(of) for kind, of in rows.items()}}


def _made(inputs: list[dict[str, Any]], row: dict[str, Any], device: str) -> dict[str, Any]:
    """Return inputs of a batch, in which the last row is the same in all batches."""
    generator = torch.Generator().manual_seed(SEED)
    given: dict[str, Any] = {}
    for one in inputs:
        if one["shape"] is None:
            given[one["name"]] = NUMBER
            continue
        made = torch.randn(one["shape"], generator=generator)
        if one["axis"] is None:
            made = row.setdefault(one["name"], made)
        else:
            own = made.select(one["axis"], -1)
            own.copy_(row.setdefault(one["name"], own.clone()))
        given[one["name"]] = made.to(KINDS[one["dtype"]]).to(device)
    return given


def _timed(function: Any, given: dict[str, Any], clock: Clock) -> tuple[torch.Tensor, float]:
    """Return a result, and the median of the times of some calls in milliseconds."""
    result = function(**given)
    for _ in range(WARM):
        function(**given)
    clock.wait()
    began = time.perf_counter()
    function(**given)
    host = 1000 * (time.perf_counter() - began)
    clock.wait()
    times = clock.flushed(lambda: function(**given), RUNS, host)
    tensor = result if isinstance(result, torch.Tensor) else result[0]
    return tensor, statistics.median(times)


def _row(result: torch.Tensor, inputs: list[dict[str, Any]], size: int) -> torch.Tensor:
    """Return the last row of a batch, which is the same in all."""
    axis = next(at for at, extent in enumerate(result.shape) if extent == size)
    return result.select(axis, -1).cpu()


def _are_same(rows: list[torch.Tensor]) -> bool:
    return all(torch.equal(rows[0], one) for one in rows[1:])
