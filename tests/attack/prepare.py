"""Make a folder of cases that a machine with a GPU can check: kernels, and what they must do.

    python -m tests.attack.prepare FOLDER [--kernels N] [--operations M] [--seed S] [--workers W]

What the verifier reads is computed here. The machine with the GPU needs Triton and torch, and
nothing of what dtpoly needs: `python -m tests.attack.gpu FOLDER`. A folder that is half made is
finished by the same command.
"""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from dtpoly.verify.proof.findings import Proof
from tests.attack.case import Case
from tests.attack.elements import KINDS, wrong_at
from tests.attack.executing import OutsideError, RaceError, Tensor
from tests.attack.folder import path_of, save
from tests.attack.generating import case_of_seed
from tests.attack.inputs import tensors_of
from tests.attack.kernels import REFUSALS
from tests.attack.kernels_gpu import LOOSENESS, MORE
from tests.attack.numbers import Array, CannotSayError
from tests.attack.operating import ALL, Operation, case_of
from tests.attack.operations import BATCH, operations_of
from tests.attack.reading import broken_rules, executed, read

# So many operations go into one kernel at most.
TOGETHER = 25
# Of the numbers that each seed has, the first one is for its kernel, the others for its operations.
NUMBERS = 1 + BATCH // TOGETHER
# So many seeds are given to the workers before it is looked at how many cases there are.
AT_ONCE = 32
# After so many rounds the workers are replaced, since they keep what they have met. A pool does not
# do that by itself (max_tasks_per_child): in Python 3.11 it may wait for ever.
ROUNDS = 16
Wanted = dict[str, Array]


def wanted_of(case: Case, proof: Proof) -> Wanted | None:
    """Return the outputs after each call, with their slack; None where that cannot be said."""
    found: Wanted = {}
    for number, call in enumerate(case.calls):
        tensors = tensors_of(case, call)
        try:
            execution = executed(case, proof, call, tensors, LOOSENESS)
            compiled = [one for one in execution.faults.met if one.is_compiled]
            others = [
                executed(case, proof, call, tensors, LOOSENESS, faults=(one,)) for one in compiled
            ]
        except (CannotSayError, OutsideError, RaceError):
            return None
        if broken_rules(proof, execution):
            return None
        for one in case.tensors:
            memory = execution.memory[one.name]
            if one.is_output:
                found[f"{number} {one.name} data"] = memory.data
                found[f"{number} {one.name} slack"] = memory.slack
                for other in others:
                    # Which Triton it is is not known here.
                    found[f"{number} {one.name} slack"] = loosened(memory, other.memory[one.name])
    return found


def loosened(memory: Tensor, other: Tensor) -> Array:
    """The slack of what memory holds; all of it where a fault of Triton makes another number."""
    wrong = wrong_at(memory.data, memory.slack, other.data)
    found: Array = np.where(wrong, np.inf, memory.slack)
    return found


def kernel(seed: int, more: tuple[str, ...] = MORE) -> tuple[Case, Wanted] | None:
    """The whole kernel of a seed, also with these types; None where nothing is said of it."""
    case = case_of_seed(seed, more)
    try:
        wanted = wanted_of(case, read(case))
    except REFUSALS:
        return None
    return None if wanted is None else (case, wanted)


def operations(
    seed: int, types: tuple[str, ...] = ALL, together: int = TOGETHER
) -> Iterator[tuple[Case, Wanted, int]]:
    """Yield the operations of a seed in a few kernels, and how many are in each."""
    taken: list[tuple[Operation, Wanted]] = []
    for one in operations_of(seed, types):
        single = case_of([one], 0)
        try:
            wanted = wanted_of(single, read(single))
        except REFUSALS:
            continue
        if wanted is not None:
            taken.append((one, wanted))
    for first in range(0, len(taken), together):
        some = taken[first : first + together]
        parts = {
            f"0 O{at} {word}": wanted[f"0 O0 {word}"]
            for at, (_, wanted) in enumerate(some)
            for word in ("data", "slack")
        }
        yield case_of([one for one, _ in some], 0), parts, len(some)


def kernel_made(folder: Path, seed: int) -> Counter[str]:
    """Write the kernel of a seed, unless it is there."""
    path = path_of(folder, seed * NUMBERS)
    if path.exists():
        return Counter({"kernels": 1})
    made = kernel(seed)
    if made is None:
        return Counter({"kernels left out": 1})
    save(path, *made)
    return Counter({"kernels": 1})


def operations_made(folder: Path, seed: int) -> Counter[str]:
    """Write the kernels of the operations of a seed."""
    counted: Counter[str] = Counter()
    for part, (case, wanted, many) in enumerate(operations(seed)):
        save(path_of(folder, seed * NUMBERS + 1 + part), case, wanted)
        counted["operations"] += many
    counted["operations left out"] += BATCH - counted["operations"]
    return counted


def made(
    workers: int, make: Callable[[int], Counter[str]], word: str, most: int, seed: int
) -> Counter[str]:
    """Make cases of one seed after the other, until there are enough of them."""
    counted: Counter[str] = Counter()
    while counted[word] < most:
        with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
            for _ in range(ROUNDS):
                for one in pool.map(make, range(seed, seed + AT_ONCE)):
                    counted += one
                seed += AT_ONCE
                if counted[word] >= most:
                    break
    return counted


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.prepare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    kernels = partial(kernel_made, asked.folder)
    counted = made(asked.workers, kernels, "kernels", asked.kernels, asked.seed)
    batches = partial(operations_made, asked.folder)
    counted += made(asked.workers, batches, "operations", asked.operations, asked.seed)
    size = sum(one.stat().st_size for one in asked.folder.iterdir())
    print(dict(counted), f"types: {', '.join(KINDS)}; {size / 2**20:.1f} MiB")


if __name__ == "__main__":
    main()
