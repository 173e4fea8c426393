"""`python -m tests.batch.variant_layouts`: a line of JSON for each variant of two examples.

It says in which layouts Triton holds the tiles whose lanes it puts together. The GPU need not be
there; the process must be one in which Triton does not interpret.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from dtpoly.algorithm.dtypes import DType
from dtpoly.checking import load
from dtpoly.codegen.module import Generated
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.runtime.load import load_module
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.targets.argument import CONSTANT, ParameterType
from dtpoly.targets.compiled_kernels import compile_kernel
from dtpoly.targets.subject import subjects
from dtpoly.targets.target import Target
from tests.codegen.listings import FILES

# An example, the label of its batch, and the sizes of batches; rows and columns have 1024 elements.
CALLS = (("layer_norm", "x", (1024, 1001, 1)), ("column_sum", "y", (1024, 1000, 1001)))
LAYOUT = re.compile(r"^(#\w+) = (#ttg\.blocked<.*>)$", re.MULTILINE)
REDUCED = re.compile(r"\}\) : \(tensor<\w+, (#\w+)>\) ->")


def variants(
    arguments: dict[str, ParameterType],
) -> Iterator[tuple[str, dict[str, ParameterType]]]:
    """Yield what Triton may know of a call besides its sizes: offsets, addresses and strides."""
    yield "new tensors", arguments
    yield "wide offsets", {**arguments, "offset": replace(arguments["offset"], value=DType.I64)}
    pointers = {
        key: replace(one, is_aligned=False)
        for key, one in arguments.items()
        if one.type.startswith("*")
    }
    yield "other addresses", arguments | pointers
    strides = {
        key: replace(one, is_aligned=False)
        for key, one in arguments.items()
        if "_stride_" in key and one.type != CONSTANT
    }
    fours = {"fours": replace(arguments["fours"], value=False)} if "fours" in arguments else {}
    yield "other strides", arguments | strides | fours


def layouts(ttgir: str) -> list[str]:
    """Return the layouts of all tiles that are reduced, in order."""
    known = dict(LAYOUT.findall(ttgir))
    return [known[one] for one in REDUCED.findall(ttgir)]


def of_call(example: str, sizes: dict[str, int]) -> Iterator[dict[str, object]]:
    """Yield the layouts of one call in all its variants."""
    state = judge(load(Source(f"{example}.dt", FILES[example].read_text())), DIRECTIVES).scheduled
    code = code_of(state)
    stages: Generated = code.stages
    module = load_module(code.text, "kernels")
    for subject, launch in zip(subjects(state, stages, sizes), stages.launches, strict=True):
        for variant, arguments in variants(dict(subject.arguments)):
            binary = compile_kernel(
                module,
                subject.kernel,
                arguments.values(),
                Target("cuda", 90),
                launch.num_warps,
                launch.num_stages,
            )
            yield {"variant": variant, "layouts": layouts(str(binary.stages["ttgir"]))}


def main() -> None:
    """Compile all."""
    for example, label, batches in CALLS:
        for batch in batches:
            for found in of_call(example, {"x": 1024, "y": 1024, label: batch}):
                print(json.dumps({"example": example, "batch": batch, **found}))


if __name__ == "__main__":
    main()
