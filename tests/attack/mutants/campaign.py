"""A seed in; one mutant verified, run where it is proved, and what is to be told of it, out."""

import os
import time
import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any

from dtpoly.codegen.header import with_verdict
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.reading import decode
from dtpoly.verify.report import Verdict
from dtpoly.verify.verify import SECONDS, verify
from tests.attack.mutants.operators import Mutant, mutant
from tests.attack.mutants.running import Outcome, Ran, ran
from tests.attack.mutants.subjects import Subject, subject

# Of what is not proved one in so many is run, too.
SAMPLE = 20


@dataclass(frozen=True)
class Judged:
    """A mutant, what the verifier says of it, and what running it shows if it was run."""

    seed: int
    subject: str
    mutant: Mutant
    verdict: str
    why: str
    ran: Ran | None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def is_false_proof(self) -> bool:
        """Proved, and running it shows it to be wrong."""
        is_wrong = self.ran is not None and self.ran.outcome in (Outcome.WRONG, Outcome.CRASHES)
        return self.verdict == Verdict.PROVED and is_wrong

    @property
    def is_proved_and_raises(self) -> bool:
        """Proved, and it does not run."""
        is_raising = self.ran is not None and self.ran.outcome is Outcome.RAISES
        return self.verdict == Verdict.PROVED and is_raising


def judged(seed: int) -> Judged:
    """The mutant of a seed."""
    os.environ["TRITON_INTERPRET"] = "1"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.process_time()
        one = subject(seed)
        random = Random(f"mutant {seed}")
        changed = mutant(one.source, random)
        made = time.process_time()
        data = changed.text.encode("utf-8", "surrogatepass")
        verdict, why, text = said(one, data)
        verified = time.process_time()
        is_run = verdict == Verdict.PROVED or random.randrange(SAMPLE) == 0
        found = ran(one, data, text) if is_run else None
        seconds = {"made": made - began, "verified": verified - made}
        return Judged(seed, one.name, changed, verdict, why, found, seconds)


def said(one: Subject, data: bytes) -> tuple[str, str, str]:
    """What `dtpoly verify --kernel` says of a file with these bytes, why, and the text it read."""
    try:
        text = decode("mutant.py", data).text
    except DtpolyError:
        return "unread", "not UTF-8", ""
    report = verify(one.program, with_verdict(text), SECONDS)
    names = {function.name for function in report.functions}
    if report.verdict is Verdict.PROVED and not {*one.funcs} <= names:
        return Verdict.UNKNOWN, "a function is missing", text
    bad = [layer for layer in report.layers if layer.verdict is not Verdict.PROVED]
    why = f"{bad[0].name}: {bad[0].why} (line {bad[0].line})" if bad else ""
    return report.verdict, why, text


def counts(found: Iterable[Judged]) -> dict[str, Any]:
    """The figures of some mutants."""
    rows = [*found]
    verdicts = Counter(one.verdict for one in rows)
    shown = Counter((one.verdict, one.ran.outcome) for one in rows if one.ran is not None)
    right = {verdict: shown[verdict, Outcome.RIGHT] for verdict in verdicts}
    sampled = Counter(one.verdict for one in rows if one.ran is not None)
    # Of what is not proved only some were run: those stand for the others.
    others = sum(
        right[verdict] / sampled[verdict] * count
        for verdict, count in verdicts.items()
        if verdict != Verdict.PROVED and sampled[verdict]
    )
    proved = right.get(Verdict.PROVED, 0)
    return {
        "mutants": len(rows),
        "verdicts": dict(verdicts),
        "shown": {f"{verdict}, {outcome}": count for (verdict, outcome), count in shown.items()},
        "right mutants that stay proved": round(proved / max(proved + others, 1), 3),
        "proved and wrong": [one.seed for one in rows if one.is_false_proof],
        "proved and does not run": [one.seed for one in rows if one.is_proved_and_raises],
    }
