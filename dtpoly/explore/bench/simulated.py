"""Computes the time of a candidate by a formula, for tests and demonstrations without a GPU.

The time is `BASE` times a factor `1 + 0.15 * d` for each parameter. If the choice is a number, d is
the distance of its logarithm from that of a hidden best number. If it is a word, d is a share that
the word decides. Noise of one in a hundred is added. Everything follows from the names and the
seed. No kernel runs.
"""

import os
import random
import time
from collections.abc import Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from math import log2
from pathlib import Path
from statistics import median
from zlib import crc32

from dtpoly.explore.bench.bench import (
    Candidate,
    CheckedResult,
    Failure,
    KernelRefusal,
    Times,
    WrongValues,
    is_hopeless,
)
from dtpoly.explore.store.measured_question import SetupFacts
from dtpoly.frozen import dataclass
from dtpoly.system.processes import crash, kill
from dtpoly.timing.spread import quarters

BASE = 0.1  # milliseconds
NOISE = 0.01
ROUNDS = 5
BASELINES = {"simulated expert": 1.7, "simulated compiler": 2.4}
MEASURED = "measured.txt"
FAULTS = ("hang", "crash", "kill-once", "kill-host-once", "wrong", "fail", "refuse")


@dataclass(frozen=True, slots=True)
class SimulatedBench:
    """A bench that computes times by a formula, and fails for points such as `*x:8*`."""

    seed: int = 0
    pause: float = 0.0  # seconds for each candidate
    # From a pattern to one of FAULTS.
    faults: Mapping[str, str] = field(default_factory=dict[str, str])
    folder: str = ""  # where it notes what it measured, and which points have killed it once

    def facts(self) -> SetupFacts:
        """Return facts that differ from those of every real device."""
        return SetupFacts("simulated", {})

    def prepare(self, candidate: Candidate) -> None:
        """Do what the fault of this point says, if it has one."""
        time.sleep(self.pause)
        match self._fault(candidate):
            case "hang":
                while True:
                    time.sleep(60)
            case "crash":
                crash()
            case "kill-once":
                self._kill_once(candidate, os.getpid())
            case "kill-host-once":
                self._kill_once(candidate, os.getppid())
            case "refuse":
                raise KernelRefusal(
                    "out of shared memory", "it needs more than a simulated device has"
                )
            case "fail":
                raise Failure("RuntimeError", "a simulated failure")
            case _:
                pass

    def check(self, candidate: Candidate) -> CheckedResult:
        """Report a right result, unless the fault of the point is a wrong one."""
        if self._fault(candidate) == "wrong":
            raise WrongValues("element [0, 0] is nan, not 1.0", float("inf"), 1e-3)
        return CheckedResult(0.0, 1e-3)

    def measure(self, candidate: Candidate, bound: float | None) -> Times:
        """Return times by the formula, with noise, in rounds."""
        real = simulated_time(candidate.parameters, self.seed)
        noise = random.Random(f"{self.seed} {candidate.point}")
        times: list[float] = []
        beside: dict[str, list[float]] = {name: [] for name in BASELINES}
        for _ in range(ROUNDS):
            times.append(real * noise.gauss(1.0, NOISE))
            for name, share in BASELINES.items():
                beside[name].append(share * BASE * noise.gauss(1.0, NOISE))
            if is_hopeless(times, bound):
                break
        if self.folder:
            with open(Path(self.folder) / MEASURED, "a", encoding="utf-8", newline="\n") as file:
                file.write(f"{os.getpid()} {candidate.point}\n")
        low, middle, high = quarters(times)
        baselines = {name: median(found) for name, found in beside.items()}
        return Times(middle, low, high, len(times), baselines, is_hopeless(times, bound))

    def _fault(self, candidate: Candidate) -> str:
        wanted = (f for p, f in self.faults.items() if fnmatchcase(candidate.point, p))
        return next(wanted, "")

    def _kill_once(self, candidate: Candidate, process: int) -> None:
        mark = Path(self.folder) / f"killed-{crc32(candidate.point.encode())}"
        if not mark.exists():
            mark.touch()
            kill(process)
            # The signal may take a while to reach this process as well.
            time.sleep(60)


def simulated_time(parameters: Mapping[str, str], seed: int = 0) -> float:
    """Return the milliseconds by the formula, without noise."""
    found = BASE
    for name, chosen in parameters.items():
        hidden = crc32(f"{seed} {name}".encode())
        if chosen.isdecimal() and int(chosen) > 0:
            # The hidden best number is a power of two from 4 to 128.
            distance = abs(log2(int(chosen)) - (2 + hidden % 6))
        else:
            distance = crc32(f"{hidden} {chosen}".encode()) % 100 / 100
        found *= 1 + 0.15 * distance
    return found
