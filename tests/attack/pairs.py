"""A random algorithm with a random schedule, given to a command as a user gives it.

All that comes out is an exit code and messages: 0 is good, 1 is a refusal that says what is wrong.
Any other is a finding, and so is a traceback.
"""

import contextlib
import io
import os
import re
import tempfile
import time
from pathlib import Path
from random import Random

from dtpoly.checking import check
from dtpoly.cli.main import BUG, GOOD, WRONG_INPUT, entry
from dtpoly.source import Source
from tests.attack.outcome import Outcome, Verdict
from tests.attack.pair_algorithms import algorithm
from tests.attack.pair_schedules import schedule

# That what comes out is not proved, and that it is refused.
UNKNOWN, REFUSAL = "DT311", re.compile(r"error\[(DT\d+)\]")


def written(seed: int) -> str:
    """Return the text of a file; one without directives if its algorithm is refused."""
    random = Random(seed)
    text = algorithm(random)
    program = check(Source("pair.dt", text)).program
    return text if program is None else text + schedule(random, program)


def checked(seed: int) -> Outcome:
    """`dtpoly check`."""
    return _attempted(written(seed), "check", seed)


def compiled(seed: int) -> Outcome:
    """`dtpoly compile`, which proves what it writes."""
    return _attempted(written(seed), "compile", seed)


def _attempted(text: str, command: str, seed: int) -> Outcome:
    said = io.StringIO()
    before = os.environ.get("DTPOLY_CACHE_DIR")
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "pair.dt")
        file.write_text(text)
        more = ["-o", str(Path(folder, "pair.py"))] if command == "compile" else []
        os.environ["DTPOLY_CACHE_DIR"] = folder  # no proof is known from before
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                code = entry([command, str(file), *more])
        finally:
            if before is None:
                del os.environ["DTPOLY_CACHE_DIR"]
            else:
                os.environ["DTPOLY_CACHE_DIR"] = before
    took = round(1000 * (time.process_time() - began))
    return _outcome(code, said.getvalue(), text, {"milliseconds": took})


def _outcome(code: int, said: str, text: str, figures: dict[str, int]) -> Outcome:
    case = f"{text}\n{said}"
    if code == BUG:
        first = next((line for line in said.splitlines() if "error" in line), "exit code 3")
        return Outcome(Verdict.CRASH, first, case, figures)
    if code == GOOD and UNKNOWN in said:
        return Outcome(Verdict.UNKNOWN, why_not(said), case, {**figures, "good": 1})
    if code == GOOD:
        return Outcome(Verdict.PROVED, figures={**figures, "good": 1})
    if code == WRONG_INPUT and (found := REFUSAL.search(said)):
        return Outcome(Verdict.REFUSED, found[1], figures={**figures, f"refused {found[1]}": 1})
    return Outcome(Verdict.CRASH, f"exit code {code} without a message", case, figures)


def why_not(said: str) -> str:
    """Return why something is not proved, as the warning says: at its caret, or in its first note.

    Up to the next empty line: messages behind it are of other things.
    """
    lines = said[said.index(UNKNOWN) :].partition("\n\n")[0].splitlines()
    ends = (i for i, line in enumerate(lines[1:], 1) if re.match(r"(note|warning|error)\b", line))
    lines = lines[: next(ends, len(lines))]
    carets = (line.strip("|^ ") for line in lines if " ^" in line)
    notes = (line.partition("= note: ")[2] for line in lines if "= note: " in line)
    return next(carets, "") or next(notes, "")
