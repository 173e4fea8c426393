"""`python -m tests.codegen.swapped`: what tensor cores multiply at once, with `swap` and without.

A line of JSON for each GPU and each of both. No GPU need be there, in a process in which Triton
does not interpret.
"""

import json
import re

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.build import build
from dtpoly.targets.target import Target

PRODUCT = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:{0}, n:128); f.tensorize(m:0, n:0, k:{1}); f.descriptor(A, B, f); f.num_warps(8);"
    "f.num_stages(3); f.persistent(); f.store(m:{2});"
)
# Of other GPUs three stages of the larger tiles have too little memory.
LARGE, SMALL = PRODUCT.format(256, 64, 128), PRODUCT.format(128, 16, 64)
TARGETS = (Target("cuda", 90), Target("cuda", 80), Target("hip", "gfx942"))
SAID = ("", "f.swap();")


def main() -> None:
    """Compile all."""
    for target in TARGETS:
        for said in SAID:
            text = LARGE if target == TARGETS[0] else SMALL
            state = judge(load(Source("f.dt", f"{text} {said} f.compile();")), DIRECTIVES).scheduled
            sizes: dict[str, int] = dict.fromkeys(("m", "n", "k"), 1024)
            (binary,) = build(state, code_of(state), target, sizes, DType.BF16).binaries
            ptx = str(binary.stages.get("ptx", ""))
            found = {
                "target": str(target),
                "multiplied": sorted(set(re.findall(r"wgmma\.mma_async\S*\.(m\d+n\d+)k", ptx))),
                "spilled": binary.spilled,
                "turned": len(re.findall(r"stmatrix\S*\.trans", ptx)),
                "exchanged": len(re.findall(r"ld\.shared", ptx)),
            }
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
