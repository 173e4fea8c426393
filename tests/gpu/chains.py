"""`python -m tests.gpu.chains FOLDER LAUNCHES`: whether kernels that begin early wait for others.

Each launch of a chain reads what the one before wrote, and writes where that one read. What comes
of it doubles the smallest difference in each step, so that one number read too early is seen.
"""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from dtpoly.frozen import dataclass
from tests.codegen.running import imported

CHAINS = "chains.json"
EVERY = 100  # launches between two comparisons
SIDE = 128  # so that there are few programs, which can all be placed at once
HOLD = 60_000_000  # cycles that a GPU waits, so that all these launches are there when it begins
WAIT = "        tl.extra.cuda.gdc_wait()\n"
# A kernel that signals at its start and does not wait is overtaken by the next launch.
HASTE = "        tl.extra.cuda.gdc_launch_dependents()\n"

HEAD = "Func f; In A, B; Var m, n; RVar k;"
CHAOS = "f[m, n] = sin(4 * rdot(A[m, k], B[k, n], k));"
TWO = "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n] * A[k, n];"
# The first panel of a call needs what the last panel of the call before wrote, but not for the data
# that it transposes, so it has to wait at its end.
TURNED = (
    "Func f, g; In A, B; Var m, n; RVar k; g[n, k] = B[k, n];"
    "f[m, n] = sin(4 * rdot(A[m, k], g[n, k], k));"
)
# These directives let a launch begin before the one before it ends.
WORDS = ("early", "panels")
# The launches of each chain; they are compared with the same launches without these directives.
PROGRAMS = {
    "one kernel": f"""{HEAD} {CHAOS}
        f.precision(tf32); f.block(m:16, n:32); f.tensorize(m:0, n:0, k:64); f.num_stages(2);
        f.early(); f.compile();""",
    "blocks in turn": f"""{HEAD} {CHAOS}
        f.precision(tf32); f.block(m:16, n:16); f.tensorize(m:0, n:0, k:64); f.persistent();
        f.descriptor(A, B); f.early(); f.compile();""",
    "two kernels": f"""{TWO} f[m, n] = sin(4 * rdot(A[m, k], g[n, k], k));
        g.block(n:32, k:32); g.tensorize(n:0, k:0); g.early();
        f.precision(tf32); f.block(m:32, n:32); f.tensorize(m:0, n:0, k:64); f.early(); f.compile();
        """,
    "panels": f"""{TURNED} g.block(n:32, k:32); g.tensorize(n:0, k:0); g.persistent(2);
        f.precision(tf32); f.block(m:32, n:32); f.tensorize(m:0, n:0, k:64); f.persistent();
        f.panels(n:32); f.compile();""",
    "the second of two": f"""{TWO} f[m, n] = sin(4 * rdot(A[m, k], g[n, k], k));
        g.block(n:32, k:32); g.tensorize(n:0, k:0);
        f.precision(tf32); f.block(m:32, n:32); f.tensorize(m:0, n:0, k:64); f.early(); f.compile();
        """,
}

Step = Callable[..., torch.Tensor]
# Parts of it have no types.
_cuda: Any = torch.cuda


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain and its three files: as it is, without `early`, and without the wait."""

    name: str
    early: str
    late: str
    unwaiting: str


def wrong(step: Step, right: Step, launches: int, device: str, side: int = SIDE) -> int:
    """Return the number of comparisons of both chains after which they differ."""
    made_by = torch.Generator(device).manual_seed(0)
    mine, other = (torch.empty(2, side, side, device=device) for _ in range(2))
    start = torch.rand(side, side, device=device, generator=made_by)
    factor = torch.randn(side, side, device=device, generator=made_by) / side**0.5
    found = 0
    for _ in range(0, launches, EVERY):
        # Both begin again at the same place.
        mine[0], other[0] = start, start
        for made, states in ((step, mine), (right, other)):
            if device == "cuda":
                _cuda._sleep(HOLD)
            for at in range(EVERY):
                made(states[at % 2], factor, out=states[1 - at % 2])
        found += not torch.equal(mine, other)
        start = other[0].clone()
    return found


def main() -> None:
    """Count, and print a line of JSON for each chain."""
    folder, launches = Path(sys.argv[1]), int(sys.argv[2])
    device = "cuda" if torch.cuda.is_available() else "cpu"
    for one in json.loads((folder / CHAINS).read_text()):
        chain = Chain(**one)
        early, late, unwaiting = (
            imported((folder / file).read_text()).f
            for file in (chain.early, chain.late, chain.unwaiting)
        )
        found = {
            "chain": chain.name,
            "looks": launches // EVERY,
            "wrong": wrong(early, late, launches, device),
            "wrong without waiting": wrong(unwaiting, late, launches, device),
        }
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
