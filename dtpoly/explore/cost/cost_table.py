"""Shows a cost as rows of tables, sentences, and data for JSON."""

from collections.abc import Sequence

from dtpoly.explore.cost.cost import Cost, KernelCost
from dtpoly.explore.cost.sentences import what_would_help
from dtpoly.explore.cost.traffic import Operand
from dtpoly.render.as_json import Data
from dtpoly.schedule.panelled import Panelled

KERNELS = (
    "kernel",
    "time",
    "bound by",
    "programs",
    "waves",
    "at once",
    "warps",
    "registers",
    "shared",
)
OPERANDS = ("kernel", "operand", "at least", "asked for", "from L2", "from memory", "side by side")
LITTLE = 0.05
UNITS = ("kernel", "unit", "time", "work")


def head(cost: Cost, name: str) -> str:
    """Return the line that repeats the question: file, sizes, dtype and device."""
    sizes = ", ".join(f"{label}={size}" for label, size in cost.sizes.items())
    return f"{name} on {cost.device.name}, {cost.dtype}, {sizes}"


def summary(cost: Cost) -> str:
    """Return how long it takes, and how long it takes at the least."""
    each = f" in {cost.launches} launches" if cost.launches > 1 else ""
    if cost.panels:
        each = " if there were one panel"
    return (
        f"about {time(cost.seconds)}{each}; what it must move and multiply takes"
        f" {time(cost.floor)}, {cost.floor / cost.seconds:.0%} of that"
    )


def panel_lines(cost: Cost) -> list[str]:
    """Return lines on Funcs that are computed in panels, which the times do not consider."""
    return [
        f"{one}: {one.count.at(cost.sizes)} of them, in {cost.launches_of(one)} launches; times "
        f"and programs are those of one panel, as large as all of {one.label}"
        for one in cost.panels
    ]


Table = tuple[Sequence[str], Sequence[Sequence[str]]]


def tables(cost: Cost) -> tuple[Table, ...]:
    """Return the words above each table, and its rows: kernels, units, operands."""
    return (
        (KERNELS, kernel_rows(cost)),
        (UNITS, unit_rows(cost)),
        (OPERANDS, operand_rows(cost)),
    )


def lines_above(cost: Cost, name: str) -> str:
    """Return what is said above the tables, a line for each sentence."""
    lines = (head(cost, name), summary(cost), *panel_lines(cost))
    return "".join(f"{line}\n" for line in lines)


def kernel_rows(cost: Cost) -> list[tuple[str, ...]]:
    """Return a row for each launch."""
    return [
        (
            kernel.name,
            time(kernel.seconds),
            kernel.bound if kernel.seconds < 2 * kernel.limits[kernel.bound] else "launch",
            f"{kernel.programs:,}",
            f"{kernel.waves:.3g}",
            f"{kernel.resources.resident} each ({kernel.resources.limit})",
            str(kernel.resources.warps),
            str(kernel.resources.registers),
            size(kernel.resources.shared),
        )
        for kernel in cost.kernels
    ]


def operand_rows(cost: Cost) -> list[tuple[str, ...]]:
    """Return a row for each array that a kernel loads or stores."""
    return [
        (
            kernel.name,
            f"{one.array} {'stored' if one.is_store else 'loaded'}",
            size(one.ideal),
            _times(one, one.asked),
            _times(one, one.from_l2),
            _times(one, one.from_memory),
            f"{one.run} bytes{'' if one.is_wide else ', one by one'}",
        )
        for kernel in cost.kernels
        for one in kernel.operands
    ]


def _times(one: Operand, moved: float) -> str:
    """Bytes, and how often that is all of it."""
    times = moved / one.ideal if one.ideal else 0.0
    return size(moved) if round(times, 1) in (0.0, 1.0) else f"{size(moved)} ({times:.3g} x)"


def unit_rows(cost: Cost) -> list[tuple[str, ...]]:
    """Return a row for each unit of a kernel that has something to do."""
    return [
        (kernel.name, unit, time(seconds), _work(kernel, unit))
        for kernel in cost.kernels
        for unit, seconds in sorted(kernel.limits.items(), key=lambda item: -item[1])
        if seconds > kernel.seconds / 100
    ]


def _work(kernel: KernelCost, unit: str) -> str:
    work = kernel.work
    match unit:
        case "memory":
            return size(sum(one.from_memory for one in kernel.operands))
        case "L2":
            return size(sum(one.from_l2 for one in kernel.operands))
        case "tensor cores":
            return ", ".join(f"{many:.3g} in {name}" for name, many in work.products.items())
        case "instructions":
            return f"{work.instructions:.3g} of a lane"
        case "special functions":
            return f"{work.special:.3g}"
        case "atomic additions":
            return size(sum(one.asked for one in kernel.operands if one.is_added))
        case "shared memory":
            return "operands that threads read"
        case _:
            return "loads and sums that programs wait for"


def advice(cost: Cost) -> list[str]:
    """Sentences on what would help, of kernels that take a part worth speaking of."""
    return [
        f"{kernel.name}: {sentence}"
        for kernel in cost.kernels
        if kernel.seconds > LITTLE * cost.seconds
        for sentence in what_would_help(cost, kernel)
    ]


def cost_data(cost: Cost) -> Data:
    """Return the cost as data for JSON: times in seconds, sizes in bytes."""
    return {
        "device": cost.device.key,
        "dtype": str(cost.dtype),
        "sizes": dict(cost.sizes),
        "seconds": cost.seconds,
        "floor": cost.floor,
        "fits": cost.fits,
        "launches": cost.launches,
        "panels": [_panels_data(cost, one) for one in cost.panels],
        "kernels": [_kernel_data(cost, kernel) for kernel in cost.kernels],
    }


def _panels_data(cost: Cost, one: Panelled) -> Data:
    """Times and programs are as if there were one."""
    count = one.count.at(cost.sizes)
    return {"label": one.label, "size": one.size, "count": count, "kernels": list(one.kernels)}


def _kernel_data(cost: Cost, kernel: KernelCost) -> Data:
    taken, work = kernel.resources, kernel.work
    return {
        "name": kernel.name,
        "seconds": kernel.seconds,
        "launch": kernel.launch,
        "bound": kernel.bound,
        "limits": dict(kernel.limits),
        "programs": kernel.programs,
        "waves": kernel.waves,
        "recomputed": kernel.recomputed,
        "resources": {
            "warps": taken.warps,
            "registers": taken.registers,
            "spilled": taken.spilled,
            "shared": taken.shared,
            "resident": taken.resident,
            "limit": taken.limit,
        },
        "work": {
            "products": dict(work.products),
            "useful": dict(work.useful),
            "instructions": work.instructions,
            "special": work.special,
        },
        "operands": [_operand_data(one) for one in kernel.operands],
        "advice": list(what_would_help(cost, kernel)),
    }


def _operand_data(one: Operand) -> Data:
    return {
        "array": one.array,
        "is_store": one.is_store,
        "ideal": one.ideal,
        "asked": one.asked,
        "from_l2": one.from_l2,
        "from_memory": one.from_memory,
        "run": one.run,
        "is_wide": one.is_wide,
    }


def time(seconds: float) -> str:
    """Write a time as a person reads it."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"


SIZES: Sequence[tuple[str, int]] = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3))


def size(many: float) -> str:
    """Return a number of bytes as a person reads it."""
    for unit, scale in SIZES:
        if many >= scale:
            return f"{many / scale:.3g} {unit}"
    return f"{many:.0f} bytes" if many else "-"
