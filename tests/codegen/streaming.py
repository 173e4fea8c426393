"""`python -m tests.codegen.streaming`: a line of JSON for each kernel of a program, for three GPUs.

It says whether Triton is asked that what is loaded leaves the cache first, and whether the machine
code asks for that. None of the GPUs need be there, in a process in which Triton does not interpret.
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
COPIED = """
Func f, g; In A, B; Var x, y; g[x, y] = A[x, y] + B[y]; f[x, y] = g[x, y] * B[y];
g.block(x:4); g.tensorize(x:0, y:256); g.stream(A, B); f.block(x:4); f.tensorize(x:0, y:256);
f.compile();
"""
ROW = (
    "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y); f.block(x:1); f.stream(A); f.compile();"
)
WALKED = """
Func f, total; In A; Var x; RVar y;
total[x] = rsum(exp(A[x, y]), y); f[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
f.block(x:1); f.tensorize(x:0, y:128); total.fuse_at(f, x); f.align(A); f.alternate(y);
f.stream(A); f.compile();
"""
PRODUCT = """
Func f; In A: f16, B: f16; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);
f.block(m:64, n:64); f.tensorize(m:0, n:0, k:32); f.num_stages(3); f.stream(A, B); f.compile();
"""
DESCRIBED = f"{PRODUCT} f.descriptor(A, B, f);"
PROGRAMS = {
    "copied": (COPIED, 256),
    "one number at a time": (ROW, 256),
    "walked": (WALKED, 250),
    "product": (PRODUCT, 256),
    "through descriptors": (DESCRIBED, 256),
    "rows that have no descriptors": (DESCRIBED, 250),
}
HINT = "evict_first"


def main() -> None:
    """Compile all."""
    for name, (text, size) in PROGRAMS.items():
        state = judge(load(Source("f.dt", text)), DIRECTIVES).scheduled
        code = code_of(state)
        sizes = {label.name: size for label in state.program.labels}
        for target in TARGETS:
            for binary in build(state, code, target, sizes).binaries:
                found = {
                    "kernel": f"{binary.kernel} of {name}",
                    "target": str(target),
                    "is_asked": HINT in str(binary.stages["ttgir"]),
                    "is_done": HINT in str(binary.stages.get("ptx", "")),
                }
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
