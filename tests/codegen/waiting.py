"""`python -m tests.codegen.waiting`: a line of JSON for each kernel of a chain, for three GPUs.

It says whether the kernel is launched early, and whether its machine code waits before it touches
memory. None of the GPUs need be there, in a process in which Triton does not interpret.
"""

import json
import re

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.build import build
from dtpoly.targets.compiled_kernels import sass
from dtpoly.targets.target import Target
from tests.gpu.chains import PROGRAMS

TARGETS = (Target("cuda", 90), Target("cuda", 80), Target("hip", "gfx942"))
# These instructions read or write memory, or wait, in NVIDIA's spelling.
TOUCHES = re.compile(r"\b(LDG|STG|LD|ST|LDGSTS|UTMALDG|UTMASTG|ATOMG|RED)\b")
WAITS = "ACQBULK"


def waits(code: str) -> bool:
    """True if the code waits before it accesses memory."""
    lines = code.splitlines()
    first = next(at for at, line in enumerate(lines) if TOUCHES.search(line))
    return any(WAITS in line for line in lines[:first])


def main() -> None:
    """Compile all kernels."""
    for name, text in PROGRAMS.items():
        state = judge(load(Source("f.dt", text)), DIRECTIVES).scheduled
        code = code_of(state)
        for target in TARGETS:
            sizes = {label.name: 64 for label in state.program.labels}
            binaries = build(state, code, target, sizes).binaries
            for kernel, binary in zip(code.stages.kernels, binaries, strict=True):
                cubin = binary.stages.get("cubin")
                found = {
                    "kernel": f"{kernel.name} of {name}",
                    "target": str(target),
                    "is_early": kernel.is_early,
                    "waits": isinstance(cubin, bytes) and waits(sass(cubin)),
                    "count": sass(cubin).count(WAITS) if isinstance(cubin, bytes) else 0,
                }
                print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
