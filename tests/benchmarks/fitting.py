"""Compiles first choices for cases of the generator, and says what needs more than a device has.

`python -m tests.benchmarks.fitting KEY NUMBER...` prints a line of JSON for each kernel that does,
in a process in which Triton does not interpret. No GPU need be there.
"""

import json
import sys
from collections.abc import Iterator
from itertools import islice

from benchmarks.unseen.cases import Case, cases
from benchmarks.unseen.fillings import sizes_of
from benchmarks.unseen.orders import orders_of
from dtpoly.algorithm.dtypes import DType
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.schedules import schedules
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.diagnostics import DtpolyError
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.devices.devices import find_device
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.targets.build import build

SEED = 28  # of this test, and of nothing else
REGISTERS = 255  # that a thread can name
SPILLED = 256  # bytes of a thread: what goes to memory once costs little beside its loop


def too_much(case: Case, key: str) -> Iterator[str]:
    """Yield what the kernels of the first choice need that the device does not have."""
    device = find_device(key)
    program = bare(algorithm_of(case.source, DIRECTIVES))
    sizes = sizes_of(case, program, is_tiny=False)
    words = (program, sizes, DType(case.dtype), device, DIRECTIVES, case.drawn.precision)
    call = PricedCall(*words, orders=orders_of(case))
    found = [*islice(schedules(call), 1)]
    if not found:
        yield "there is no schedule"
        return
    state = judge(found[0].program, DIRECTIVES).scheduled
    try:
        made = build(state, code_of(state), device.target, sizes, DType(case.dtype))
    except DtpolyError as error:
        yield from (f"{one.code}: {one.title}" for one in error.diagnostics)
        return
    for one in made.binaries:
        if one.shared > device["block_shared"]:
            yield f"{one.kernel} has {one.shared} bytes of shared memory"
        if one.registers > REGISTERS or one.spilled > SPILLED:
            yield f"{one.kernel} has {one.registers} registers, and spills {one.spilled} bytes"


def main(key: str, *numbers: str) -> int:
    """Print what does not fit of the cases with these numbers."""
    wanted = {int(number) for number in numbers}
    every = [*cases(SEED, max(wanted) + 1)]
    found = [
        (every[at].name, key, what) for at in sorted(wanted) for what in too_much(every[at], key)
    ]
    print(*map(json.dumps, found), sep="\n", flush=True)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
