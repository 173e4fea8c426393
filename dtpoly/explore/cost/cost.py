"""Estimates how long each kernel of a schedule takes on a device, and says what bounds it.

A roofline: each unit has so much to do and so much it can do; what takes longest bounds the
kernel. To that come the times in which nothing overlaps: launches, loads that a program waits
for, the last programs that run alone.
"""

from collections.abc import Iterable, Mapping
from math import prod

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.explore.accesses.accesses import (
    AS_WRITTEN,
    CostedKernel,
    Orders,
    Shapes,
    all_programs,
    launched,
)
from dtpoly.explore.accesses.tile_counts import extents_of, instances
from dtpoly.explore.cost.job import Job
from dtpoly.explore.cost.sureness import Spread, kind_of, spread_of
from dtpoly.explore.cost.traffic import Operand, traffic_of
from dtpoly.explore.cost.unit_times import limits
from dtpoly.explore.cost.work import Work, work_of
from dtpoly.explore.devices.devices import Device
from dtpoly.explore.needs.resources import Resources, resources_of
from dtpoly.frozen import dataclass
from dtpoly.plan.price import Price
from dtpoly.schedule.foreign import repriced
from dtpoly.schedule.panelled import Panelled, panelled
from dtpoly.schedule.state import State

# How sharply the slowest unit decides: the others' work does not hide behind it altogether.
SHARPNESS = 8.0


@dataclass(frozen=True, slots=True)
class KernelCost:
    """One launch: seconds, those that each unit would take alone, and what it has to do."""

    name: str
    seconds: float
    launch: float
    limits: Mapping[str, float]
    programs: int
    waves: float
    resources: Resources
    work: Work
    operands: tuple[Operand, ...]
    recomputed: float  # instances that are computed, for one that is needed
    kind: str = ""  # one of those whose predictions were compared with measurements

    @property
    def bound(self) -> str:
        """Return the unit that takes longest, which bounds the kernel."""
        return max(self.limits, key=lambda name: self.limits[name])

    @property
    def fits(self) -> bool:
        """Return whether a program fits on a multiprocessor."""
        return self.resources.resident > 0


@dataclass(frozen=True, slots=True)
class Cost:
    """The predicted time of all launches of a call. `floor` counts memory and products alone."""

    device: Device
    dtype: DType
    sizes: Sizes
    kernels: tuple[KernelCost, ...]
    floor: float
    panels: tuple[Panelled, ...] = ()  # in which some are launched; times are as if it were one

    @property
    def seconds(self) -> float:
        """Return how long it takes, by the model."""
        return sum(kernel.seconds for kernel in self.kernels)

    @property
    def spread(self) -> Spread:
        """Return between which times half of the schedules like this one were measured."""
        return spread_of((kernel.kind, kernel.seconds) for kernel in self.kernels)

    @property
    def launches(self) -> int:
        """Return how many there are in a call."""
        parts = {name for one in self.panels for name in one.kernels}
        whole = sum(k.launch > 0 for k in self.kernels if k.name not in parts)
        return whole + sum(map(self.launches_of, self.panels))

    def launches_of(self, one: Panelled) -> int:
        """Return how many launches compute all panels."""
        each = sum(k.launch > 0 for k in self.kernels if k.name in one.kernels)
        return each * (one.count.at(self.sizes) or 0)

    @property
    def fits(self) -> bool:
        """Return whether each kernel can be launched, as far as tiles tell."""
        return all(kernel.fits for kernel in self.kernels)


def cost(
    state: State,
    sizes: Sizes,
    dtype: DType,
    device: Device,
    is_warm: bool = False,
    shapes: Shapes | None = None,
    orders: Orders = AS_WRITTEN,
) -> Cost:
    """Return the cost of a state that was judged legal, at the sizes of all its labels.

    Warm says that caches hold what fits into them, and that calls stand in a queue. `shapes` are
    those of the inputs, where they are known already, and `orders` how these lie in memory.
    """
    extents = extents_of(state.model, sizes)
    found = tuple(
        _kernel(one, extents, device, is_warm, number == 0)
        for number, one in enumerate(launched(state, sizes, dtype, shapes, orders))
    )
    floor = _floor(found, device, is_warm)
    return Cost(device, dtype, sizes, found, floor, tuple(panelled(state)))


def _floor(kernels: tuple[KernelCost, ...], device: Device, is_warm: bool) -> float:
    """Count the least of work: each tensor is moved once, each product is multiplied."""
    written = {o.array for k in kernels for o in k.operands if o.is_store}
    moved: dict[tuple[str, bool], int] = {}
    for kernel in kernels:
        for one in kernel.operands:
            is_between = one.array in written and not one.is_store
            if not is_between:
                key = (one.array, one.is_store)
                moved[key] = max(moved.get(key, 0), one.ideal)
    read = {o.array for k in kernels for o in k.operands if not o.is_store}
    needed = sum(
        size for (name, is_store), size in moved.items() if not (is_store and name in read)
    )
    products = sum(
        count / device.tensor(unit) for k in kernels for unit, count in k.work.useful.items()
    )
    rate = device["l2_rate"] if is_warm else device.memory
    return max(needed / rate, products)


def _kernel(
    kernel: CostedKernel, extents: Mapping[str, int], device: Device, is_warm: bool, is_first: bool
) -> KernelCost:
    programs = all_programs(kernel, extents)
    resources = resources_of(kernel, device)
    operands = traffic_of(kernel, device, programs, resources, is_warm)
    job = Job(kernel, device, programs, resources, work_of(kernel), operands, is_warm)
    launch = device["launch"] if is_first and not is_warm else device["next_launch"]
    price = repriced(Price(launch, dict(limits(job))), kernel.node)
    launch, busy = price.launch, _together(price.units.values())
    return KernelCost(
        name=kernel.node.name,
        seconds=launch + busy if programs else launch,
        launch=launch,
        limits=price.units,
        programs=programs,
        waves=job.waves,
        resources=resources,
        work=job.work,
        operands=operands,
        recomputed=_recomputed(kernel),
        kind=kind_of(kernel),
    )


def _together(seconds: Iterable[float]) -> float:
    """Return the largest, and a little of those that are near it."""
    every = tuple(seconds)
    most = max(every)
    shares = sum((one / most) ** SHARPNESS for one in every) if most else 0.0
    return most * float(shares ** (1 / SHARPNESS))


def _recomputed(kernel: CostedKernel) -> float:
    """Return how often the instances of private copies are computed, for each that there is."""
    most = 1.0
    for walk in kernel.walks:
        statement = walk.statement
        if statement.copies:
            needed = prod(walk.extents[label] for label in statement.labels)
            most = max(most, instances(walk) / needed if needed else 1.0)
    return most
