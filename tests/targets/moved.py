"""`python -m tests.targets.moved` prints, as JSON, what Triton makes of two loops for a GPU.

Both take the least of sums of lines. In one the sum is of a tile as it was loaded, in the other of
a tile that was computed. It runs in a process in which Triton does not interpret.
"""

import json
from importlib import import_module
from typing import Any

triton: Any = import_module("triton")
tl: Any = import_module("triton.language")
compiler: Any = import_module("triton.compiler")
backends: Any = import_module("triton.backends.compiler")


@triton.jit  # type: ignore[untyped-decorator]
def kernel(x_ptr, out_ptr, n, step, IS_LOADED: tl.constexpr):  # type: ignore[no-untyped-def]
    i = tl.arange(0, 16)
    k = tl.arange(0, 64)
    least = tl.full((16,), float("inf"), tl.float32)
    for j in tl.range(0, n):
        x = tl.load(x_ptr + i[:, None] * step + k[None, :] + j * 64)
        if not IS_LOADED:
            x = x + 0.0
        least = tl.minimum(least, tl.sum(x, 1), tl.PropagateNan.ALL)
    tl.store(out_ptr + i, least)


def main() -> None:
    """Compile both for a GPU, which need not be there."""
    types = {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "step": "i32"}
    target = backends.GPUTarget("cuda", 90, 32)
    made: dict[str, str] = {}
    for word in ("loaded", "computed"):
        source = compiler.ASTSource(
            kernel,
            signature={**types, "IS_LOADED": "constexpr"},
            constexprs={"IS_LOADED": word == "loaded"},
        )
        made[word] = triton.compile(source, target=target, options={"num_warps": 1}).asm["ttgir"]
    print(json.dumps(made))


if __name__ == "__main__":
    main()
