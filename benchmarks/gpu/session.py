"""Measures the rows of a prepared folder one by one, and writes each down."""

import platform
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import torch

from benchmarks.gpu.candidates import Candidate, candidates, ours
from benchmarks.gpu.ceilings import ceilings
from benchmarks.gpu.compile_candidates import Ahead, compile_ahead
from benchmarks.gpu.host import host_times
from benchmarks.gpu.manifest import Manifest
from benchmarks.gpu.manifest import read as read_manifest
from benchmarks.gpu.measure import Plan, measured
from benchmarks.gpu.peers import kinds_here
from benchmarks.gpu.results import (
    HostTime,
    Results,
    RowResult,
    Timed,
    began_file,
    lacks,
    read,
    write,
)
from benchmarks.gpu.rows import Row, is_named, rows, tiny_rows
from benchmarks.gpu.steps import Step, Tell
from benchmarks.gpu.survivors import survivors, watched
from dtpoly.timing.clock import Clock, clock_of

HOST_SECONDS = 30.0
OVER = "the time is over: the same command goes on where it was"


class OtherMachine(Exception):
    """A file of results is of another machine, or of other versions."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The user's choice: what to measure, for how long, and where to write it."""

    folder: Path
    output: Path
    command: str
    kinds: tuple[str, ...]
    plan: Plan
    kernels: tuple[str, ...] = ()
    seconds: float = 540.0
    device: str = "cuda"
    again: bool = False
    host: bool = True
    tiny: bool = False  # rows that an interpreter can run
    ahead: int = 0  # processes that compile everything before anything is timed


def session(chosen: Chosen, tell: Tell) -> Results:
    """Measure what the file of results lacks, and write it after each row.

    Raises LostDevice where only a new process can go on; who lost it is written down.
    """
    end = time.monotonic() + chosen.seconds
    manifest = read_manifest(chosen.folder)
    kinds = kinds_here(chosen.kinds)
    clock = clock_of(chosen.device)
    results = _begun(chosen, manifest, kinds, clock)
    began_file(chosen.output).unlink(missing_ok=True)  # of a process that was killed
    write(chosen.output, results)
    left = [*_left(chosen, results, manifest, kinds)]
    if chosen.ahead:
        jobs = [(row, one) for row, given in left for one in given if one.can_be_ahead]
        compile_ahead(jobs, Ahead(chosen.ahead, chosen.device, chosen.seconds), tell)
    took: list[float] = []
    for at, (row, given) in enumerate(left):
        if end - time.monotonic() < (sum(took) / len(took) if took else 0.0):
            tell(Step(OVER, at, len(left), is_row=False))
            return results
        tell(Step(row.name, at, len(left)))
        results = results.with_row(_one_row(chosen, results, row, given, clock))
        write(chosen.output, results)
        took.append(results.rows[-1].seconds)
        tell(Step(row.name, at + 1, len(left), results.rows[-1]))
    return _with_host(chosen, results, manifest, kinds, clock, end, tell)


def _left(
    chosen: Chosen, results: Results, manifest: Manifest, kinds: Mapping[str, str]
) -> Iterator[tuple[Row, list[Candidate]]]:
    """Yield the rows that were asked for and are not all there, with who takes part."""
    known = {row.name: row for row in results.rows}
    for row in wanted_rows(chosen, manifest):
        given = candidates(row, chosen.folder, manifest, kinds)
        names = ((one.name, one.text_hash) for one in given)
        if lacks(known.get(row.name), names, chosen.again):
            yield row, given


def wanted_rows(chosen: Chosen, manifest: Manifest) -> Iterator[Row]:
    """Return the rows that were asked for, and for which a text could be prepared."""
    for row in tiny_rows() if chosen.tiny else rows():
        texts = [one.text for one in ours(row, chosen.folder, manifest)]
        if is_asked_for(row, chosen.kernels) and any(text and text.file for text in texts):
            yield row


def is_asked_for(row: Row, kernels: tuple[str, ...]) -> bool:
    """Return whether one of these is its name, family, kernel or file, or matches one of them."""
    is_part = any(row.name.startswith(f"{one} ") for one in kernels)
    return is_part or is_named((row.name, row.kernel, row.family, *row.files), kernels)


def _begun(chosen: Chosen, manifest: Manifest, kinds: Mapping[str, str], clock: Clock) -> Results:
    """Return the results that are known already, for this machine and these texts."""
    here = machine(chosen.device)
    known = read(chosen.output) if chosen.output.exists() else None
    if known is not None and known.machine != here:
        differ = sorted(k for k in {*here, *known.machine} if here.get(k) != known.machine.get(k))
        raise OtherMachine(
            f"{chosen.output} was measured elsewhere ({', '.join(differ)} differ): "
            "choose another file"
        )
    results = known or Results(ceilings=ceilings(clock, chosen.device))
    new = {(one.name, one.text_hash) for one in manifest.texts}
    # Rows that were not measured again speak of these.
    old = tuple(o for o in results.texts if o.text_hash and (o.name, o.text_hash) not in new)
    return replace(
        results,
        command=chosen.command,
        date=datetime.now(UTC).isoformat(timespec="seconds"),
        machine=here,
        texts=(*manifest.texts, *old),
        missing=manifest.missing,
        absent={kind: why for kind, why in kinds.items() if why},
    )


def _one_row(
    chosen: Chosen, results: Results, row: Row, given: Sequence[Candidate], clock: Clock
) -> RowResult:
    """Return a row without those that broke the device before: their failures are told again."""
    left, lost = survivors(results, row.name, given)
    failed = (Timed(o.name, o.kind, o.text_hash, failure=why) for o, why in lost)
    with watched(chosen.output, results, row.name) as begins:
        made = measured(row, left, clock, chosen.device, chosen.plan, begins)
    return replace(made, times=(*made.times, *failed))


def _with_host(
    chosen: Chosen,
    results: Results,
    manifest: Manifest,
    kinds: Mapping[str, str],
    clock: Clock,
    end: float,
    tell: Tell,
) -> Results:
    """Return the host's times of each kernel, which are of one text of ours alone."""
    asked = {row.kernel for row in wanted_rows(chosen, manifest)} if chosen.host else set[str]()
    tiny = [one for one in tiny_rows() if one.kernel in asked]
    for at, row in enumerate(tiny):
        where = f"{row.kernel}, host"
        given = [
            one
            for one in candidates(row, chosen.folder, manifest, kinds)
            if one.text is None or one.name == row.files[0]
        ]
        there = {(one.name, one.text_hash) for one in results.host if one.kernel == row.kernel}
        if {(one.name, one.text_hash) for one in given} <= there:
            continue
        if end - time.monotonic() < HOST_SECONDS:
            tell(Step(OVER, at, len(tiny), is_row=False))
            break
        tell(Step(where, at, len(tiny)))
        left, lost = survivors(results, where, given)
        failed = [HostTime(row.kernel, o.name, o.kind, o.text_hash, failure=why) for o, why in lost]
        with watched(chosen.output, results, where) as begins:
            times = host_times(row, left, clock, chosen.device, HOST_SECONDS, begins)
        results = results.with_host(row.kernel, [*times, *failed])
        write(chosen.output, results)
    return results


def machine(device: str) -> dict[str, str]:
    """Device and versions, which one file of results has one each of."""
    triton: Any = import_module("triton")
    cudnn: Any = torch.backends.cudnn
    found = {
        "python": platform.python_version(),
        "torch": str(torch.__version__),
        "triton": str(triton.__version__),
        "device": device,
    }
    if device != "cpu":
        found["device"] = torch.cuda.get_device_name()
        found["cuda"] = str(torch.version.cuda)
        found["cudnn"] = str(cudnn.version())
    return found
