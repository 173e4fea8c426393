"""`python -m tests.codegen.joined`: JSON for each GPU that compiles a launch of two kernels.

None of the GPUs need be there, in a process in which Triton does not interpret.
"""

import json

from dtpoly.compile import load
from dtpoly.generate import code_of
from dtpoly.runtime.load import load_module
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.arguments import Call, arguments
from dtpoly.targets.compiled import compile_kernel
from dtpoly.targets.target import Target

TARGETS = (Target("cuda", 90), Target("cuda", 80), Target("hip", "gfx942"))
PROGRAM = (
    "Func f, g, h; In A, B; SIn c; Var x, y; RVar k;"
    "g[x] = rsum(A[x, k], k) * c; h[y] = B[y] + c; f[x, y] = reshape(g[x], x, 1) * h[y];"
    "g.block(x:4); g.tensorize(x:0, k:256); h.block(y:512); h.tensorize(y:0); h.beside(g);"
    "f.compile();"
)


def main() -> None:
    """Compile the kernel that is launched for both."""
    state = judge(load(Source("f.dt", PROGRAM))).scheduled
    code = code_of(state)
    module = load_module(code.text, "kernels")
    (pair,) = code.stages.pairs.values()
    for size in (64, 63):
        sizes = {label.name: size for label in state.program.labels}
        call = Call(state.sized, state.model, code.stages, sizes)
        for target in TARGETS:
            binary = compile_kernel(module, pair.kernel, arguments(call, pair.kernel), target)
            found = {"target": str(target), "size": size, "registers": binary.registers}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
