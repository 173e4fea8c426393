"""`python -m tests.codegen.compiling WORD...`: compiles listings (by name) and cases (by seed).

For three GPUs, none of which need be there; in a process in which Triton does not interpret.
Prints a line of JSON for each that fails.
"""

import json
import sys
from collections.abc import Iterator, Mapping

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType
from dtpoly.algorithm.show import show
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import Code, code_of
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.targets.build import build
from dtpoly.targets.target import Target
from tests.codegen.cases import random_case
from tests.codegen.listings import FILES, code, program
from tests.schedule.user_primitives import USER

TARGETS = (Target("cuda", 80), Target("cuda", 90), Target("hip", "gfx942"))
# What stands for a GPU's own code.
BINARY = {"cuda": "cubin", "hip": "hsaco"}


def compiled(word: str) -> Iterator[str]:
    """What is wrong with the binaries of a listing or a case."""
    if word in FILES:
        yield from _built(word, judge(program(word)).scheduled, code(word), None, DType.F32)
        return
    case = random_case(int(word))
    state = judge(case.program, USER).scheduled
    dtype = DType.F16 if case.recipe.dtype in EIGHT_BIT_FLOATS else case.recipe.dtype
    yield from _built(f"{case}", state, code_of(state), case.sizes, dtype)


def _built(
    name: str, state: State, made: Code, sizes: Mapping[str, int] | None, dtype: DType
) -> Iterator[str]:
    for target in TARGETS:
        if str(target) == "cuda:80" and "f8e4m3" in show(state.program):
            continue  # that GPU has no such numbers
        try:
            built = build(state, made, target, sizes, dtype)
        except DtpolyError as error:
            notes = "; ".join(str(note.text) for d in error.diagnostics for note in d.notes)
            yield f"{name}\n{target}: {error}: {notes}"
            continue
        for binary in built.binaries:
            if not binary.stages.get(BINARY[target.backend]):
                yield f"{name}\n{target}: {binary.kernel} has no {BINARY[target.backend]}"


def main() -> None:
    """Compile all that is named."""
    for word in sys.argv[1:]:
        for wrong in compiled(word):
            print(json.dumps(wrong), flush=True)


if __name__ == "__main__":
    main()
