"""`python -m tests.codegen.wide SEED...`: random kernels with offsets of 64 bits, compiled.

A line of JSON for each: what Triton says against it, if it does. It does not interpret here.
"""

import json
import sys
from unittest import mock

from dtpoly.algorithm.dtypes import DType
from dtpoly.diagnostics import DtpolyError
from dtpoly.generate import code_of
from dtpoly.targets import parameter_types as arguments
from dtpoly.targets.build import build
from dtpoly.targets.target import Target
from tests.codegen.cases import random_case, verdict

TARGET = Target("cuda", 90)


def main(seeds: list[int]) -> None:
    """Compile those that are legal."""
    for seed in seeds:
        case = random_case(seed)
        judged = verdict(case)
        if not judged.is_legal:
            continue
        why = ""
        sizes = {label.name: 20 for label in case.program.labels}
        with mock.patch.object(arguments, "_offset", return_value=DType.I64):
            try:
                build(judged.scheduled, code_of(judged.scheduled), TARGET, sizes)
            except DtpolyError as error:
                why = str([note.text for one in error.diagnostics for note in one.notes])
        print(json.dumps({"seed": seed, "why": why}), flush=True)


if __name__ == "__main__":
    main([int(one) for one in sys.argv[1:]])
