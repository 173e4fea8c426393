"""`python -m tests.codegen.boxed`: what a product needs on an H200, by how its tile is stored.

A line of JSON for the whole tile, for halves and for quarters. No GPU need be there, in a process
in which Triton does not interpret.
"""

import json
from random import Random

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
    "f.block(m:128, n:128); f.tensorize(m:0, n:0, k:64); f.descriptor(A, B, f); f.persistent();"
    "f.num_warps(8); f.num_stages(3);"
)
RANDOM = 16
SAID = ("", "f.store(n:64);", "f.store(n:32);")
TILE = 128 * 128 * 2  # bytes


def random_product(seed: int) -> str:
    """Return a product whose tile is stored in boxes, in any of the forms that there are."""
    random = Random(f"boxed {seed}")
    labels = random.choice(("m, n", "m, n", "b, m, n"))
    left, right = ("A[b, m, k]", "B[b, k, n]") if "b" in labels else ("A[m, k]", "B[k, n]")
    product = f"rdot({left}, {right}, k)"
    body = random.choice(("{0}", "sigmoid({0})", "{0} + C[n]", "exp(0 - abs({0})) * C[n]"))
    block = {one: random.choice((16, 32, 64)) for one in ("m", "n")}
    if "b" in labels:
        block["b"] = random.choice((1, 2))
    parts = random.choice(((1, 2), (1, 4), (1, 8), (2, 1), (2, 2), (2, 4), (4, 2)))
    boxes = [f"{one}:{block[one] // n}" for one, n in zip("mn", parts, strict=True) if n > 1]
    inputs = "A, B, C" if "C" in body else "A, B"
    said = [
        f"block({', '.join(f'{one}:{n}' for one, n in block.items())})",
        f"tensorize({', '.join(f'{one}:0' for one in block)}, k:{random.choice((16, 32))})",
        f"descriptor({random.choice(('A, B, f', 'A, f', 'f'))})",
        f"store({', '.join(boxes)})",
        *(["map(m:mi/2, n, mi)"] if "b" not in labels and random.random() < 0.5 else []),
        *(w for w in ("persistent()", "pitch()", "num_stages(4)") if random.random() < 0.5),
        *(["swap()"] if random.random() < 0.5 else []),
    ]
    told = " ".join(f"f.{one};" for one in said)
    head = f"Func f{random.choice(('', ': f16'))}; In {inputs}; Var {labels}; RVar k;"
    return f"{head} f[{labels}] = {body.format(product)}; {told} f.compile();"


def main() -> None:
    """Compile all."""
    for said in SAID:
        state = judge(load(Source("f.dt", f"{PRODUCT} {said} f.compile();")), DIRECTIVES).scheduled
        sizes: dict[str, int] = dict.fromkeys(("m", "n", "k"), 1024)
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
