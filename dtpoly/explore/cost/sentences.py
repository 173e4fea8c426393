"""Words what would make a launch faster, from what it costs."""

from collections.abc import Iterator

from dtpoly.explore.cost.cost import Cost, KernelCost
from dtpoly.explore.cost.traffic import SECTOR, Operand
from dtpoly.explore.cost.unit_times import ADDITIONS, INSTRUCTIONS, L2, LATENCY, MEMORY, TENSOR
from dtpoly.explore.cost.work import PLAIN

# From which share on something is worth a sentence.
MORE, PADDED, MOSTLY, NEARLY = 1.3, 0.9, 0.5, 0.9
KIB = 1024


def what_would_help(cost: Cost, kernel: KernelCost) -> tuple[str, ...]:
    """Return the most telling sentences, first what keeps it from running."""
    found = [*_resources(cost, kernel), *_bound(cost, kernel)]
    if kernel.recomputed > MORE:
        found.append(
            f"what is fused in is computed {kernel.recomputed:.3g} times: fuse it further out"
        )
    if kernel.launch > MOSTLY * kernel.seconds and len(cost.kernels) > 1:
        found.append("most of it is the launch: fewer kernels help")
    return tuple(found)


def _resources(cost: Cost, kernel: KernelCost) -> Iterator[str]:
    taken = kernel.resources
    most = int(cost.device["block_shared"])
    if taken.shared > most:
        yield (
            f"it cannot be launched: its tiles need {taken.shared // KIB} KiB of shared memory of"
            f" {most // KIB}: take smaller tiles, or fewer with num_stages"
        )
    if taken.spilled:
        yield (
            f"its tiles need more registers than there are, by {taken.spilled // KIB} KiB:"
            " take smaller tiles, or more of num_warps"
        )


def _bound(cost: Cost, kernel: KernelCost) -> Iterator[str]:
    """Yield sentences on the units that take about as long as the slowest one."""
    told = [*_moved(cost, kernel), *_asked(kernel), *_computed(kernel), *_added(kernel)]
    told += _waiting(cost, kernel)
    busiest = max(kernel.limits, key=lambda unit: kernel.limits[unit] * (unit != LATENCY))
    if not told and busiest in (MEMORY, L2):
        told = ["it moves what it must: only fewer bytes, in a smaller dtype or by fusion, help"]
    if not told and busiest == TENSOR:
        told = [
            "tensor cores are as busy as its tiles let them be: fewer bits help, or larger tiles"
        ]
    yield from told


def _matters(kernel: KernelCost, unit: str) -> bool:
    return kernel.limits[unit] > MOSTLY * kernel.seconds


def _moved(cost: Cost, kernel: KernelCost) -> Iterator[str]:
    for one in kernel.operands:
        times = one.from_memory / one.ideal if one.ideal else 1.0
        if not one.is_store and times > MORE and _matters(kernel, MEMORY):
            yield f"'{one.array}' comes from memory {times:.3g} times: {_sharing(one, kernel)}"
        if one.run < SECTOR and one.asked > cost.device["l2_bytes"]:
            pieces = f"in pieces of {one.run} bytes"
            yield f"'{one.array}' moves {pieces}: take lanes along its last axis"


def _sharing(one: Operand, kernel: KernelCost) -> str:
    """Return how an operand would be read less often."""
    if kernel.work.products:
        return "let programs that run together share it, with groups in map, or take larger tiles"
    return "take more of it at once, so that it is still near when it is read again"


def _asked(kernel: KernelCost) -> Iterator[str]:
    worst = max(kernel.operands, key=lambda one: one.asked, default=None)
    if kernel.bound == L2 and worst is not None and worst.again > MORE:
        times = f"{worst.again:.3g} times"
        yield f"each element of '{worst.array}' is asked for {times}: take larger tiles"


def _computed(kernel: KernelCost) -> Iterator[str]:
    done, asked = sum(kernel.work.products.values()), sum(kernel.work.useful.values())
    if _matters(kernel, TENSOR) and asked < PADDED * done:
        share = f"{1 - asked / done:.0%}"
        yield f"{share} of the lanes of its products are padding: take tiles that divide sizes"
    if not _matters(kernel, INSTRUCTIONS):
        return
    if PLAIN in kernel.work.useful:
        yield "its products do not use tensor cores: tensorize all labels, or allow precision(tf32)"
    alone = [f"'{one.array}'" for one in kernel.operands if not one.is_wide and one.run >= SECTOR]
    if alone:
        names = ", ".join(alone)
        yield f"{names}: each element moves by itself, since rows are no multiple of 16 elements"
    elif kernel.bound == INSTRUCTIONS and PLAIN not in kernel.work.useful:
        yield "it computes more than it moves: cheaper operations help, other tiles hardly"


def _added(kernel: KernelCost) -> Iterator[str]:
    """Yield what would help where memory is added to most of the time."""
    for one in kernel.operands:
        if one.is_added and kernel.bound == ADDITIONS:
            if one.again > MORE:
                many = f"{one.again:.3g} numbers are added to each element of '{one.array}'"
                yield f"{many}, one after another: take larger parts, which are fewer"
            else:
                yield f"most of it is adding to '{one.array}': lanes along its last axis help"


def _waiting(cost: Cost, kernel: KernelCost) -> Iterator[str]:
    many = int(cost.device["multiprocessors"])
    others = [seconds for unit, seconds in kernel.limits.items() if unit != LATENCY]
    if not kernel.programs or max(others) > NEARLY * kernel.limits[LATENCY]:
        return
    if kernel.programs < many:
        few = f"{kernel.programs} program{'s' if kernel.programs > 1 else ''}"
        yield f"it has {few} for {many} multiprocessors: take smaller blocks"
    elif kernel.resources.resident == 1:
        limit = kernel.resources.limit
        yield f"programs wait one by one, limited by {limit}: take smaller tiles or other num_warps"
    else:
        yield "it waits for what it loads: take larger tiles, fewer steps, or num_stages"
