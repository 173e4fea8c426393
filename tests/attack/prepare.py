"""Make a folder of cases that a machine with a GPU can check: kernels, and what they must do.

    python -m tests.attack.prepare FOLDER [--kernels N] [--operations N] [--seed S]

What the verifier reads is computed here. The machine with the GPU needs Triton and torch, and
nothing of what dtpoly needs: `python -m tests.attack.gpu FOLDER`.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dtpoly.verify.findings import Proof
from tests.attack.case import Case
from tests.attack.elements import KINDS
from tests.attack.executing import OutsideError, RaceError
from tests.attack.generating import case_of_seed
from tests.attack.inputs import tensors_of
from tests.attack.kernels import REFUSALS
from tests.attack.kernels_gpu import LOOSENESS, MORE
from tests.attack.numbers import Array, CannotSayError
from tests.attack.operating import ALL, Operation, case_of
from tests.attack.operations import operations_of
from tests.attack.reading import broken_rules, executed, read

CASES, WANTED = "cases.jsonl", "wanted"
# Its type says that names of arrays are options.
save: Any = np.savez_compressed
# So many operations go into one kernel.
TOGETHER = 25


def wanted_of(case: Case, proof: Proof) -> dict[str, Array] | None:
    """The outputs after each call, with their slack; None where that cannot be said."""
    found: dict[str, Array] = {}
    for number, call in enumerate(case.calls):
        tensors = tensors_of(case, call)
        try:
            execution = executed(case, proof, call, tensors, LOOSENESS)
        except (CannotSayError, OutsideError, RaceError):
            return None
        if broken_rules(proof, execution):
            return None
        for one in case.tensors:
            memory = execution.memory[one.name]
            if one.is_output:
                found[f"{number} {one.name} data"] = memory.data
                found[f"{number} {one.name} slack"] = memory.slack
    return found


def kernels(
    count: int, seed: int, counted: Counter[str], more: tuple[str, ...] = MORE
) -> Iterator[tuple[Case, dict[str, Array]]]:
    """Whole kernels, also with these types."""
    while counted["kernels"] < count:
        case = case_of_seed(seed, more)
        seed += 1
        try:
            wanted = wanted_of(case, read(case))
        except REFUSALS:
            wanted = None
        if wanted is None:
            counted["kernels left out"] += 1
        else:
            counted["kernels"] += 1
            yield case, wanted


def operations(
    count: int, seed: int, counted: Counter[str], types: tuple[str, ...] = ALL
) -> Iterator[tuple[Case, dict[str, Array]]]:
    """Kernels of some operations each, of these types; the verifier reads every one."""
    taken: list[tuple[Operation, dict[str, Array]]] = []
    while counted["operations"] < count:
        for one in operations_of(seed, types):
            single = case_of([one], 0)
            try:
                wanted = wanted_of(single, read(single))
            except REFUSALS:
                wanted = None
            if wanted is None:
                counted["operations left out"] += 1
                continue
            taken.append((one, wanted))
            if len(taken) == TOGETHER:
                counted["operations"] += len(taken)
                yield _together(taken)
                taken = []
        seed += 1


def _together(taken: list[tuple[Operation, dict[str, Array]]]) -> tuple[Case, dict[str, Array]]:
    case = case_of([one for one, _ in taken], 0)
    parts = {
        f"0 O{at} {word}": wanted[f"0 O0 {word}"]
        for at, (_, wanted) in enumerate(taken)
        for word in ("data", "slack")
    }
    return case, parts


def main() -> None:
    """Write the folder."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack.prepare", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--operations", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    (asked.folder / WANTED).mkdir(parents=True, exist_ok=True)
    counted: Counter[str] = Counter()
    number = 0
    with (asked.folder / CASES).open("w") as file:
        for every in (
            kernels(asked.kernels, asked.seed, counted),
            operations(asked.operations, asked.seed, counted),
        ):
            for case, wanted in every:
                file.write(json.dumps(asdict(case)) + "\n")
                with (asked.folder / WANTED / f"{number}.npz").open("wb") as arrays:
                    save(arrays, **wanted)
                number += 1
    print(dict(counted), f"types: {', '.join(KINDS)}")


if __name__ == "__main__":
    main()
