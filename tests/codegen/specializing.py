"""`python -m tests.codegen.specializing`: a line of JSON for each kernel of a file, for three GPUs.

It says whether some of its warps load for others, and how many it has in all. None of the GPUs
need be there, in a process in which Triton does not interpret.
"""

import json
from random import Random

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
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
RANDOM = 12


def random_product(seed: int) -> str:
    """Return a product of which some warps load for others, in any of the forms that there are."""
    random = Random(f"specialized {seed}")
    is_rough = random.random() < 0.4
    columns = (32, 64, 128) if is_rough else (16, 32, 64, 128)
    rows = random.choice((128, 128, 256))
    block = f"block(m:{rows}, n:{random.choice(columns[: -1 if rows == 256 else None])})"
    tiles = f"tensorize(m:0, n:0, k:{32 if is_rough else random.choice((16, 32, 64))})"
    types = "A, B, C" if is_rough else random.choice(("A: f16, B: f16, C", "A: bf16, B: bf16, C"))
    other = "B[n, k]" if is_rough or random.random() < 0.4 else "B[k, n]"
    product = f"rdot(A[m, k], {other}, k)"
    body = random.choice(("{0}", "sigmoid({0})", "{0} + C[n]", "exp(0 - abs({0})) * C[n]"))
    body = body.format(product)
    types = types if "C[" in body else types.removesuffix(", C")
    said = [
        *(
            block,
            tiles,
            "warp_specialize()",
            "num_warps(8)",
            f"num_stages({random.choice((2, 3))})",
        ),
        random.choice(("map(m, n)", "map(n, m)", "map(m:mi/2, n, mi)")),
        "descriptor(A, B, f)",
        *(["precision(tf32)"] if is_rough else []),
        *(
            word
            for word in ("persistent()", "pitch()", "early()", "stream(A, B)")
            if random.random() < 0.5
        ),
    ]
    told = " ".join(f"f.{one};" for one in said)
    return f"Func f; In {types}; Var m, n; RVar k; f[m, n] = {body}; {told} f.compile();"


def main() -> None:
    """Compile all."""
    texts = {name: FILES[name].read_text() for name in NAMES}
    texts |= {f"random {seed}": random_product(seed) for seed in range(RANDOM)}
    for name, text in texts.items():
        targets, every = (TARGETS, SIZES) if name in NAMES else (TARGETS[:1], SIZES[:1])
        state = judge(load(Source(f"{name}.dt", text)), DIRECTIVES).scheduled
        code = code_of(state)
        for target in targets:
            for size in every:
                sizes = {label.name: size for label in state.program.labels}
                binary = build(state, code, target, sizes).binaries[-1]
                found = {
                    "name": name,
                    "target": str(target),
                    "size": size,
                    "warps": binary.num_warps,
                    "is_so": "ttg.warp_specialize(" in str(binary.stages["ttgir"]),
                    "spilled": binary.spilled,
                }
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
