"""Compiles listings and random cases, and reports what is wrong with their machine code.

`python -m tests.codegen.compiling WORD...` prints a line of JSON for each kernel that fails; for
three GPUs, none of which need be there, in a process in which Triton does not interpret.
"""

import json
import sys
from collections.abc import Container, Iterator, Mapping
from itertools import product
from random import Random

from dtpoly.algorithm.dtypes import EIGHT_BIT_FLOATS, DType
from dtpoly.algorithm.show import show
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import Code, code_of
from dtpoly.runtime.load import load_module
from dtpoly.schedule.legality import judge
from dtpoly.schedule.state import State
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.kernel_binary import Failed
from dtpoly.targets.subject import subjects
from dtpoly.targets.target import Target
from tests.codegen.cases import random_case, verdict
from tests.codegen.listings import APART, FILES, code, program
from tests.codegen.scans_in_parts import IN_PARTS
from tests.codegen.scans_in_parts import program as program_in_parts

TARGETS = (Target("cuda", 80), Target("cuda", 90), Target("hip", "gfx942"))
# The words that stand for a GPU's own code.
BINARY = {"cuda": "cubin", "hip": "hsaco"}
# After a seed, this word stands for all kernels of the case instead of one.
ALL = "+"
# Triton has no type for these on a GPU.
LACKING = {"cuda:80": "f8e4m3"}
# Older versions say this there of another type, which newer ones convert themselves.
NEWER_GPU = "'cvt with .e4m3x2/.e5m2x2' requires .target sm_89"


def wrong(word: str) -> Iterator[str]:
    """Yield what is wrong with the binaries of a listing, or with those of one kernel of a case."""
    if word in FILES or word in APART:
        yield from _built(word, judge(program(word), DIRECTIVES).scheduled, code(word))
        return
    if word in IN_PARTS:
        state = judge(program_in_parts(word), DIRECTIVES).scheduled
        yield from _built(word, state, code_of(state))
        return
    case = random_case(int(word.removesuffix(ALL)))
    state = verdict(case).scheduled
    made = code_of(state)
    count = len(made.stages.kernels)
    chosen = range(count) if word.endswith(ALL) else (Random(word).randrange(count),)
    dtype = DType.F16 if case.recipe.dtype in EIGHT_BIT_FLOATS else case.recipe.dtype
    yield from _built(f"{case}", state, made, case.sizes, dtype, chosen)


def _built(
    name: str,
    state: State,
    made: Code,
    sizes: Mapping[str, int] | None = None,
    dtype: DType = DType.F32,
    chosen: Container[int] | None = None,
) -> Iterator[str]:
    module = load_module(made.text, "kernels")
    every = zip(subjects(state, made.stages, sizes, dtype), made.stages.launches, strict=True)
    some = [one for at, one in enumerate(every) if chosen is None or at in chosen]
    for target, (subject, launch) in product(TARGETS, some):
        if LACKING.get(str(target), " ") in show(state.program):
            continue
        kernel, arguments = subject.kernel, subject.arguments.values()
        options = launch.num_warps, launch.num_stages
        try:
            binary = compile_kernel(module, kernel, arguments, target, *options)
        except Failed as error:
            if NEWER_GPU in str(error) and str(target) == "cuda:80":
                continue
            yield f"{name}\n{target}: {kernel.name}: {error}"
            continue
        if not binary.stages.get(BINARY[target.backend]) or not binary.registers:
            yield f"{name}\n{target}: {kernel.name} has no {BINARY[target.backend]}"


def main(*words: str) -> int:
    """Compile all that is named."""
    found = [one for word in words for one in wrong(word)]
    print(*map(json.dumps, found), sep="\n", flush=True)
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
