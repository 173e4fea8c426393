"""Defines the step that scans the lanes of a tile, and carries its last lane to the next tile."""

from dtpoly.frozen import dataclass
from dtpoly.ir.kinds import Element
from dtpoly.ir.tile_values import Axes, Value


@dataclass(frozen=True, slots=True)
class ScanLanes:
    """`name` = what a value was reduced to up to each lane along an axis, behind the `carry`.

    Then the `carry` is the result at the last lane. Without an axis there is one lane. A recurrence
    has a `factor` for the result before; `factors` names the products of these up to each lane.
    """

    name: str
    carry: str
    reduction: str
    value: Value
    axes: Axes
    along: str | None
    count: int | str  # lanes along the axis
    dtype: Element
    is_reverse: bool = False  # the first lane comes last
    factor: Value | None = None
    factors: str = ""
