"""Compiles schedules of the unseen lists for a GPU that need not be there, and records their needs.

The record has the compiler's registers, spills and shared memory beside those that the cost model
estimates, so that anybody can mend the estimate: `python -m benchmarks registers`.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.files import write_whole
from benchmarks.unseen.cases import Case
from benchmarks.unseen.fillings import sizes_of
from benchmarks.unseen.orders import orders_of
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.show import show, show_directive
from dtpoly.autoschedule.choose import candidates
from dtpoly.autoschedule.operand_copies import sizes_with_copies
from dtpoly.autoschedule.plans import with_directives
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.settle import Settled, settled
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.checking import understand
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.resources import WARP
from dtpoly.explore.prune.compiling import outcome
from dtpoly.explore.prune.prune import CompiledCall, KeyedSchedule, Needs, PruneOutcome, pruned
from dtpoly.frontend.parse import parse
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.source import Source
from dtpoly.targets.target import Target

WORK = f"{__name__}:compiled"
COMMAND = "python -m benchmarks registers"
NEVER = 10**9  # bytes of a lane: a kernel that spills is recorded like any other
SECONDS = 90.0
NEAR = 4.0  # times what the best schedule should take: others are not drawn
TRIED = 8  # schedules that are drawn, of which some may be refused

Line = dict[str, Any]


def lines_of(
    name: str, drawn: Iterable[Case], device: Device, known: Sequence[Line], each: int
) -> Iterator[Line]:
    """Yield a line for each case that is not known yet, with the needs of `each` schedules."""
    done = {one["name"]: one["algorithm"] for one in known if one["list"] == name}
    left = (one for one in drawn if done.get(one.name) != one.drawn.text)
    begun: dict[str, Line] = {}
    jobs = _jobs(name, left, device, each, begun)
    waiting: dict[str, int] = {}
    for made in pruned(jobs, CompiledCall(device.target, {}), seconds=SECONDS, work=WORK):
        key = json.loads(made.key)
        line = begun[key["name"]]
        line["schedules"][key["place"]] |= {
            "reason": made.reason or "",
            "kernels": [_needs(kernel) for kernel in made.kernels],
        }
        waiting[key["name"]] = waiting.get(key["name"], len(line["schedules"])) - 1
        if not waiting[key["name"]]:
            for schedule in line["schedules"]:
                schedule["estimated"] = estimated(schedule, DType(line["dtype"]), device)
            yield line


def _needs(kernel: Needs) -> Line:
    return {name: value for name, value in asdict(kernel).items() if name != "occupancy"}


def estimated(schedule: Line, dtype: DType, device: Device) -> list[Line]:
    """Return what the cost model estimates of the kernels of a schedule, as it is now."""
    parsed = parse(Source("kernels", text_of(schedule)))
    checked = understand(parsed.file, parsed.found, DIRECTIVES)
    assert checked.program is not None
    state = resolve(checked.program, bind(checked.program.directives, DIRECTIVES).primitives)
    return [
        {
            "kernel": one.name,
            "kind": one.kind,
            "registers": one.resources.registers,
            "spilled": one.resources.spilled // (WARP * one.resources.warps),
            "shared": one.resources.shared,
            "microseconds": round(1e6 * one.seconds, 2),
        }
        for one in cost(state, schedule["sizes"], dtype, device).kernels
    ]


def _jobs(
    name: str, drawn: Iterable[Case], device: Device, each: int, begun: dict[str, Line]
) -> Iterator[KeyedSchedule]:
    for case in drawn:
        if orders_of(case):
            continue  # it would be compiled as if its inputs were not turned
        line = _line(name, case, device, each)
        begun[case.name] = line
        for place, one in enumerate(line["schedules"]):
            key = {
                "name": case.name,
                "place": place,
                "sizes": one["sizes"],
                "dtype": case.dtype,
                "target": str(device.target),
            }
            yield KeyedSchedule(json.dumps(key), text_of(one))


def _line(name: str, case: Case, device: Device, each: int) -> Line:
    program = bare(algorithm_of(case.source, DIRECTIVES))
    sizes = sizes_of(case, program, is_tiny=False)
    words = (program, sizes, DType(case.dtype), device, DIRECTIVES, case.drawn.precision)
    call = PricedCall(*words)
    return {
        "list": name,
        "name": case.name,
        "algorithm": case.drawn.text,
        "dtype": case.dtype,
        "schedules": [_schedule(call, one) for one in _chosen(call, case.name, each)],
    }


def _schedule(call: PricedCall, one: Settled) -> Line:
    return {
        "algorithm": show(with_directives(one.program, ())),
        "schedule": [show_directive(line.directive) for line in one.lines],
        "sizes": dict(sizes_with_copies(call, one.program)),
        "microseconds": round(1e6 * one.seconds, 2),
    }


def _chosen(call: PricedCall, name: str, each: int) -> Iterator[Settled]:
    """Yield the first schedule, and others that are drawn: those near the best may be all alike."""
    first = None
    try:
        for first in islice(schedules(call), 1):
            yield first
        ranked = candidates(call)
        near = [one for one in ranked if one.score < NEAR * ranked[0].score]
        drawn = Random(name).sample(near, min(TRIED, len(near)))
        found = (one for one in settled(call, drawn) if isinstance(one, Settled))
        others = (one for one in found if first is None or one.text != first.text)
        yield from islice(others, each - 1)
    except DtpolyError:
        return


def text_of(schedule: Mapping[str, Any]) -> str:
    """Return the .dt text of a schedule of a record."""
    return "\n".join((schedule["algorithm"].rstrip(), "", *schedule["schedule"], ""))


def compiled(candidate: KeyedSchedule, call: CompiledCall) -> PruneOutcome:
    """Compile a schedule for what its key says; a process of its own calls this."""
    key = json.loads(candidate.key)
    words: tuple[Target, dict[str, int], DType, int] = (
        *(call.target, key["sizes"]),
        *(DType(key["dtype"]), NEVER),
    )
    found = outcome(KeyedSchedule("kernels", candidate.text), CompiledCall(*words))
    return replace(found, key=candidate.key)


def estimate_again(lines: Iterable[Line], device: Device) -> None:
    """Replace the estimates of a record by those of today."""
    for line in lines:
        for schedule in line["schedules"]:
            schedule["estimated"] = estimated(schedule, DType(line["dtype"]), device)


def written(path: Path, lines: Sequence[Line], versions: Mapping[str, str]) -> None:
    """Write the record as it is so far."""
    each = ",\n".join(json.dumps(one) for one in lines)
    head = json.dumps({"command": COMMAND, **versions})[:-1]
    write_whole(path, f'{head}, "cases": [\n{each}\n]}}\n')


def known_lines(path: Path) -> list[Line]:
    """Return what a record has so far."""
    return list(json.loads(path.read_text())["cases"]) if path.exists() else []
