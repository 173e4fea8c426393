"""`python -m tests.verify.plan_mutation RUNTIME`: plans with one mistake, verified and run.

RUNTIME is a file with the text of the runtime, below the imports that it needs. Each mutant that is
proved is run in Triton's interpreter; it must be right in each call that it accepts.
"""

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.mutation.execution import RECIPES, Call, Outcome, probes, right_calls, runs
from tests.verify.plan_mutants import mutants
from tests.verify.plan_sources import SOURCES, data_for, program_of
from tests.verify.planned import RUNTIME, planned_text, with_data

SECONDS, CALLS = 10.0, 8


@dataclass(frozen=True, slots=True)
class Judged:
    """A mutant: what is wrong with it, what the verifier says, and what running it shows."""

    what: str
    verdict: Verdict
    outcome: Outcome | None
    why: str

    @property
    def is_wrong(self) -> bool:
        """Whether it is proved, and computes something else."""
        return self.outcome in (Outcome.WRONG, Outcome.SLOW)


def judged(name: str, runtime: str, each: int, seed: int) -> Iterator[Judged]:
    """Some mutants of the plan of a program."""
    program, data = program_of(name), data_for(name)
    text = planned_text(program)
    found = [*mutants(data)]
    Random(f"{name} {seed}").shuffle(found)
    calls = right_calls(program, ("f",), runnable(text, runtime), probes(program, RECIPES), CALLS)
    assert calls, f"nothing shows that the plan of {name} is right"
    for what, other in found[:each]:
        yield _judged(name, what, with_data(text, "f", other), runtime, calls)


def _judged(name: str, what: str, text: str, runtime: str, calls: tuple[Call, ...]) -> Judged:
    program = program_of(name)
    verdict = verify(program, text, seconds=SECONDS).verdict
    if verdict is not Verdict.PROVED:
        return Judged(what, verdict, None, "")
    ran = runs(program, ("f",), runnable(text, runtime), calls)
    return Judged(what, verdict, ran.outcome, f"{ran.why} ({ran.probe})" if ran.why else "")


def runnable(text: str, runtime: str) -> str:
    """The file with the runtime above its function, which it imports else."""
    imports, _, body = text.partition(RUNTIME)
    at = body.rindex("\n\n\n")
    return f"{imports}{body[:at]}\n\n\n{runtime}{body[at:]}"


def told(one: Judged) -> dict[str, Any]:
    """What is counted of a mutant."""
    return {"verdict": str(one.verdict), "outcome": str(one.outcome or "not run")}


def main() -> None:
    """Judge mutants of each program, and say which are wrong although they are proved."""
    parser = argparse.ArgumentParser(prog="python -m tests.verify.plan_mutation")
    parser.add_argument("runtime", type=Path)
    parser.add_argument("--programs", nargs="*", default=[*SOURCES], choices=[*SOURCES])
    parser.add_argument("--each", type=int, default=100, help="mutants of each program (100)")
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    os.environ["TRITON_INTERPRET"] = "1"
    runtime = chosen.runtime.read_text()
    for name in chosen.programs:
        counts = Counter[str]()
        for one in judged(name, runtime, chosen.each, chosen.seed):
            counts[" ".join(told(one).values())] += 1
            if one.is_wrong:
                print(f"{name}: {one.what}: proved, and {one.outcome}: {one.why}")
        print(name, dict(counts), flush=True)


if __name__ == "__main__":
    main()
