"""Say which loops Triton may pipeline: then loads run ahead of the iterations that need them."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from dtpoly.verify.algebra.kernel_values import TileValue, Value, scalar
from dtpoly.verify.algebra.whole import FALSE, Whole
from dtpoly.verify.triton.kernel_state import KernelState


def is_pipelined(state: KernelState, options: Mapping[str, Value]) -> bool:
    """Return whether Triton may start loads of a loop before the iterations that need them."""
    stages = options.get("num_stages")
    if isinstance(stages, TileValue) and isinstance(stages.item, Whole):
        count = stages.item.constant
    else:
        count = state.launch.stages
    return count is None or count > 1


def is_flattened(
    state: KernelState, options: Mapping[str, Value], body: Sequence[ast.stmt]
) -> bool:
    """Return whether Triton may merge a loop with a loop inside of it, and pipeline the result."""
    if "flatten" not in options or options["flatten"] == scalar(FALSE):
        return False
    inside = (node for statement in body for node in ast.walk(statement))
    said = any(isinstance(node, ast.keyword) and node.arg == "num_stages" for node in inside)
    return said or state.launch.stages is None or state.launch.stages > 1
