"""`python -m tests.codegen.boxed`: what a product needs on an H200, by how its tile is stored.

A line of JSON for the whole tile, for halves and for quarters. No GPU need be there, in a process
in which Triton does not interpret.
"""

import json

from dtpoly.algorithm.dtypes import DType
from dtpoly.compile import load
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.build import build
from dtpoly.targets.target import Target

PRODUCT = (
    "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    "f.block(m:128, n:128); f.tensorize(m:0, n:0, k:64); f.descriptor(A, B, f); f.persistent();"
    "f.num_warps(8); f.num_stages(3);"
)
SAID = ("", "f.store(n:64);", "f.store(n:32);")
TILE = 128 * 128 * 2  # bytes


def main() -> None:
    """Compile all."""
    for said in SAID:
        state = judge(load(Source("f.dt", f"{PRODUCT} {said} f.compile();"))).scheduled
        sizes = dict.fromkeys(("m", "n", "k"), 1024)
        (binary,) = build(state, code_of(state), Target("cuda", 90), sizes, DType.BF16).binaries
        text = str(binary.stages["ttgir"])
        found = {
            "shared": binary.shared,
            "spilled": binary.spilled,
            "conversions": text.count("ttg.convert_layout"),
        }
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
