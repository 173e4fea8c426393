"""Gives large programs to `dtpoly check` and `dtpoly compile`: they must answer or name a limit."""

import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.attack.outcome import Outcome, Verdict
from tests.scaling import FAMILIES

ROOT = Path(__file__).resolve().parents[2]
MOST_BYTES = 2 * 2**30
# The processor's time; a command has 20 seconds, and isl's work in C is ended a little later.
MOST_SECONDS = 60.0
WALL = 600


def attempt(seed: int) -> Outcome:
    """Choose a family, a size and a command; small sizes are as frequent as large ones."""
    chance = random.Random(seed)
    name = chance.choice(sorted(FAMILIES))
    family, few, most = FAMILIES[name]
    # Each order of magnitude is chosen equally often.
    size = max(1, round(few * (most / few) ** chance.random()))
    command = chance.choice(["check", "compile"])
    text = family(size)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.dt"
        path.write_text(text)
        more = ["-o", str(Path(folder) / "large.py")] if command == "compile" else []
        try:
            done = subprocess.run(
                [sys.executable, "-m", "dtpoly", command, str(path), *more],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=WALL,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Outcome(Verdict.SLOW, f"{command} of {name} {size} does not end", text)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime - before.ru_utime
    what = f"{command} of {name} {size}: exit code {done.returncode}, {took:.1f} seconds"
    figures = {f"{command} {done.returncode}": 1}
    if took > MOST_SECONDS:
        return Outcome(Verdict.SLOW, what, text, figures)
    # This is the memory of the largest child; the attempts of a worker are alike in that.
    if after.ru_maxrss * 1024 > MOST_BYTES > before.ru_maxrss * 1024:
        return Outcome(Verdict.LARGE, what, text, figures)
    return judged(done, command, what, text, figures)


def judged(
    done: subprocess.CompletedProcess[str],
    command: str,
    what: str,
    text: str,
    figures: dict[str, int],
) -> Outcome:
    """Return the outcome of a command that ended by itself."""
    told = done.stdout + done.stderr
    if done.returncode == 1 and "error[DT" in told and "Traceback" not in told:
        return Outcome(Verdict.REFUSED, what, figures=figures)
    if done.returncode != 0:
        return Outcome(Verdict.CRASH, f"{what}\n{told[-2000:]}", text, figures)
    if "DT311" in told:
        return Outcome(Verdict.UNKNOWN, what, text, figures)
    return Outcome(Verdict.PROVED if command == "compile" else Verdict.AGREE, what, figures=figures)
