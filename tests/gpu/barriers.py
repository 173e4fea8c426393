"""`python -m tests.gpu.barriers FOLDER LAUNCHES`: whether lanes, and warps, wait for each other.

Launches each of the plan's cases that are about that so often, and counts the launches whose
result is not what is allowed.
"""

import json
import sys
from pathlib import Path

import torch

from tests.codegen.allowed import allowed
from tests.codegen.floats import Floats
from tests.codegen.running import imported
from tests.gpu.plan import GROUPS, LOADING, Case, read


def wrong_launches(folder: Path, case: Case, launches: int) -> int:
    """Return how many launches of a case give a wrong result."""
    program = case.program
    inputs = case.recipe.inputs(program, case.sizes, "cuda")
    (func,) = case.funcs
    here = {n: v.cpu() if isinstance(v, torch.Tensor) else v for n, v in inputs.items()}
    bound = allowed(program, here, case.sizes)[func]
    assert isinstance(bound, Floats)
    low, high = bound.low.cuda(), bound.high.cuda()
    call = getattr(imported((folder / case.file).read_text()), func)
    out = call(*inputs.values())
    wrong = torch.zeros((), dtype=torch.int64, device="cuda")
    for _ in range(launches):
        out.fill_(torch.nan)
        call(*inputs.values(), out=out)
        values = out.double()
        wrong += (~((values >= low) & (values <= high))).any()
    return int(wrong.item())


def main() -> None:
    """Count, and print a line of JSON for each case."""
    folder, launches = Path(sys.argv[1]), int(sys.argv[2])
    for number, case in enumerate(read(folder)):
        if case.group in (*GROUPS, LOADING):
            wrong = wrong_launches(folder, case, launches)
            found = {"case": number, "group": case.group, "launches": launches, "wrong": wrong}
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
