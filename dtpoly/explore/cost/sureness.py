"""Says how far predicted times are off, for each kind of kernel, as far as that was measured."""

from collections.abc import Iterable, Mapping

from dtpoly.explore.accesses.accesses import CostedKernel
from dtpoly.explore.cost.lane_products import is_multiplied_by_lanes
from dtpoly.frozen import dataclass
from dtpoly.poly.model import Role

ELEMENTWISE, REDUCTION, EXACT, PRODUCT, CHAIN = (
    *("elementwise kernels", "reductions", "exact products of f32"),
    *("products", "several products"),
)


@dataclass(frozen=True, slots=True)
class Spread:
    """Half of the kernels of a kind took between `low` and `high` times the predicted time."""

    kind: str
    low: float
    high: float
    kernels: int  # that were measured


# What `python -m benchmarks fit` prints, of all records.
SPREADS: Mapping[str, Spread] = {
    one.kind: one
    for one in (
        Spread(ELEMENTWISE, 0.93, 1.05, 163),
        Spread(REDUCTION, 0.94, 1.15, 343),
        Spread(EXACT, 0.95, 1.21, 274),
        Spread(PRODUCT, 0.90, 1.55, 114),
        Spread(CHAIN, 0.85, 1.28, 27),
    )
}


def kind_of(kernel: CostedKernel) -> str:
    """Return the kind of a kernel: what it does most decides how well its time is known."""
    if kernel.operand_dtypes:
        if len(kernel.operand_dtypes) > 1:
            return CHAIN
        return EXACT if is_multiplied_by_lanes(kernel) else PRODUCT
    is_reduced = any(walk.statement.role is not Role.VALUE for walk in kernel.walks)
    return REDUCTION if is_reduced else ELEMENTWISE


def spread_of(kernels: Iterable[tuple[str, float]]) -> Spread:
    """Return the spread of the kind of the kernel that takes longest, of kinds and seconds."""
    kind, _ = max(kernels, key=lambda one: one[1])
    return SPREADS[kind]
