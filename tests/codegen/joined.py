"""`python -m tests.codegen.joined`: JSON for each GPU that compiles a launch of two kernels.

None of the GPUs need be there, in a process in which Triton does not interpret.
"""

import json

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.build import build
from dtpoly.targets.target import Target

TARGETS = (Target("cuda", 90), Target("cuda", 80), Target("hip", "gfx942"))
PROGRAM = (
    "Func f, g, h; In A, B; SIn c; Var x, y; RVar k;"
    "g[x] = rsum(A[x, k], k) * c; h[y] = B[y] + c; f[x, y] = reshape(g[x], x, 1) * h[y];"
    "g.block(x:4); g.tensorize(x:0, k:256); h.block(y:512); h.tensorize(y:0); h.beside(g);"
    "f.compile();"
)


def main() -> None:
    """Compile all that is launched."""
    state = judge(load(Source("f.dt", PROGRAM)), DIRECTIVES).scheduled
    code = code_of(state)
    for size in (64, 63):
        sizes = {label.name: size for label in state.program.labels}
        for target in TARGETS:
            for one in build(state, code, target, sizes).binaries:
                found = {"target": str(target), "kernel": one.kernel, "registers": one.registers}
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
