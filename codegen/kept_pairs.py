"""Writes the partial results of `rargmax` and `rargmin`: the best value of a block, and its index.

The kernel of a block stores both, and a second kernel takes the best pair of all blocks.
"""

from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.expressions import Expr, Read
from dtpoly.ir.tile_values import Value, Variable
from dtpoly.poly.model import Model

from .building import Building
from .elements import NOWHERE, VALUE
from .storage import INDEX
from .tensor_loads import loaded
from .tile_lanes import Tiling


def is_paired(building: Building, operand: Expr) -> bool:
    """Return whether an operand is a partial result that has an index."""
    if not isinstance(operand, Read) or operand.tensor not in building.model.arrays:
        return False
    return building.model.arrays[operand.tensor].is_paired


def pair_of(tiling: Tiling, operand: Expr, nothing: int | float) -> tuple[Value, Value]:
    """Return a partial result and its index; where there is no part, a value that never wins."""
    assert isinstance(operand, Read)
    value = loaded(tiling, operand, tiling.lanes, nothing)
    return value, loaded(tiling, _index_of(operand), tiling.lanes, NOWHERE)


def _index_of(operand: Read) -> Read:
    return replace(operand, tensor=operand.tensor + INDEX)


def passes_values(model: Model, accumulator: str) -> bool:
    """Return whether something stores the best value of an accumulator beside its index."""
    return any(
        model.arrays[one.writes.array].is_paired
        and isinstance(one.body, Read)
        and one.body.tensor == accumulator
        for one in model.statements
    )


def best_of(tiling: Tiling, body: Expr | None) -> tuple[Value, Value]:
    """Return the best value of an accumulator, and its index."""
    building = tiling.building
    assert isinstance(body, Read)
    if body.tensor not in building.storage.registers:
        return loaded(tiling, body, tiling.lanes), loaded(tiling, _index_of(body), tiling.lanes)
    element = building.passing(building.elements.of(body.tensor + VALUE))
    here = dict(zip(building.model.arrays[body.tensor].dims, body.indices, strict=True))

    def held(name: str) -> tuple[str, tuple[str, ...]]:
        tile = building.find_held(name)
        labels = (here[label].plain or "" for label in dict.fromkeys(tile.labels))
        return tile.name, tuple(lane for label in labels for lane in tiling.lanes_of(label))

    value, at = held(body.tensor + VALUE), held(body.tensor)
    return Variable(*value, element), Variable(*at, DType.I64)
