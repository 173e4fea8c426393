"""`python -m tests.codegen.specializing`: a line of JSON for each kernel of a file, for three GPUs.

It says whether some of its warps load for others, and how many it has in all. None of the GPUs
need be there, in a process in which Triton does not interpret.
"""

import json

from dtpoly.compile import load
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.build import build
from dtpoly.targets.target import Target
from tests.codegen.listings import FILES

TARGETS = (Target("cuda", 90), Target("cuda", 80), Target("hip", "gfx942"))
NAMES = ("halves_by_two_groups", "turned_by_two_groups")
# Tensors of these have descriptors, and have none.
SIZES = (256, 250)


def main() -> None:
    """Compile all."""
    for name in NAMES:
        state = judge(load(Source(f"{name}.dt", FILES[name].read_text()))).scheduled
        code = code_of(state)
        for target in TARGETS:
            for size in SIZES:
                sizes = {label.name: size for label in state.program.labels}
                binary = build(state, code, target, sizes).binaries[-1]
                found = {
                    "kernel": binary.kernel,
                    "target": str(target),
                    "size": size,
                    "warps": binary.num_warps,
                    "is_so": "ttg.warp_specialize(" in str(binary.stages["ttgir"]),
                    "spilled": binary.spilled,
                }
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
