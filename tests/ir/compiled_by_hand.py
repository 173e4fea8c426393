"""Compiles kernels that are built by hand: `python -m tests.ir.compiled_by_hand NAME...`.

A line of JSON for each. No GPU need be there, in a process in which Triton does not interpret.
"""

import json
import sys

from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.target import Target
from tests.ir.hand_kernels import KERNELS

TARGET = Target("cuda", 90)


def main(*names: str) -> int:
    """Compile the kernels of these names."""
    for name in names:
        hand = KERNELS[name]
        made = compile_kernel(hand.module, hand.kernel, hand.arguments(), TARGET)
        print(json.dumps({"name": name, "has": sorted(made.stages), "spilled": made.spilled}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
