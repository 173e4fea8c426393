"""Verifies one mutant, runs it if it is proved, and reports a wrong proof."""

import os
import time
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import unified_diff
from random import Random

from dtpoly.codegen.header import with_verdict
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.reading import decode
from dtpoly.verify.proof import report
from dtpoly.verify.proof.verify import SECONDS, verify
from tests.attack.mutants.operators import Mutant, mutant
from tests.attack.mutants.running import Ran, Shown, ran
from tests.attack.mutants.subjects import Subject, subject
from tests.attack.outcome import Outcome, Verdict

# One in this many of the mutants that are not proved is run, too.
SAMPLE = 20


@dataclass(frozen=True)
class Judged:
    """A mutant, the verifier's verdict, and what running it showed, if it was run."""

    seed: int
    subject: str
    mutant: Mutant
    verdict: str
    why: str
    ran: Ran | None
    seconds: Mapping[str, float] = field(default_factory=dict[str, float])

    text: str = ""

    @property
    def is_proved(self) -> bool:
        """True if the verifier says that the mutant is right."""
        return self.verdict == report.LayerVerdict.PROVED

    @property
    def is_finding(self) -> bool:
        """True if the mutant is proved, and running it shows that it is wrong or does not run."""
        bad = (Shown.WRONG, Shown.CRASHES, Shown.RAISES)
        return self.is_proved and self.ran is not None and self.ran.shown in bad

    def __str__(self) -> str:
        shown = f"; {self.ran.shown}: {self.ran.why} [{self.ran.call}]" if self.ran else ""
        return f"{self.subject}, {self.mutant}: {self.verdict} {self.why}{shown}"


def judged(seed: int) -> Judged:
    """Make and judge the mutant of a seed."""
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
        is_run = verdict == report.LayerVerdict.PROVED or random.randrange(SAMPLE) == 0
        found = ran(one, data, text) if is_run else None
        seconds = {"made": made - began, "verified": verified - made}
        return Judged(seed, one.name, changed, verdict, why, found, seconds, text)


def said(one: Subject, data: bytes) -> tuple[str, str, str]:
    """Verify a file with these bytes, as `dtpoly verify --kernel` does.

    Returns the verdict, the reason, and the text that was read.
    """
    try:
        text = decode("mutant.py", data).text
    except DtpolyError:
        return "unread", "not UTF-8", ""
    found = verify(one.program, with_verdict(text), SECONDS)
    names = {function.name for function in found.functions}
    if found.verdict is report.LayerVerdict.PROVED and not {*one.funcs} <= names:
        return report.LayerVerdict.UNKNOWN, "a function is missing", text
    bad = [layer for layer in found.layers if layer.verdict is not report.LayerVerdict.PROVED]
    why = f"{bad[0].name}: {bad[0].why} (line {bad[0].line})" if bad else ""
    return found.verdict, why, text


def attempt(seed: int) -> Outcome:
    """Try one mutant; it is a finding if it is proved and is not right."""
    one = judged(seed)
    return Outcome(
        _verdict(one), str(one), _case(seed, one) if one.is_finding else "", _figures(one)
    )


VERDICTS = {
    report.LayerVerdict.PROVED: Verdict.PROVED,
    report.LayerVerdict.REFUTED: Verdict.REFUTED,
    report.LayerVerdict.UNKNOWN: Verdict.UNKNOWN,
}


def _verdict(one: Judged) -> Verdict:
    if one.is_finding:
        return Verdict.WRONG
    return next((VERDICTS[word] for word in VERDICTS if word == one.verdict), Verdict.REFUSED)


def _figures(one: Judged) -> dict[str, int]:
    """Return the figures: how many changes of which class, and what running showed."""
    found = {f"class {operator.group}": 1 for operator in one.mutant.operators}
    if one.ran is not None:
        found[f"{one.verdict}, run, {one.ran.shown}"] = 1
    if one.is_proved or one.ran is not None:
        # A mutant that is not proved and was run stands for the others, which were not.
        is_right = one.ran is not None and one.ran.shown is Shown.RIGHT
        share = (1 if one.is_proved else SAMPLE) * is_right
        for group in ("", *(f" ({operator.group})" for operator in one.mutant.operators)):
            found[f"right, estimated{group}"] = share
            found[f"right and proved{group}"] = int(one.is_proved and is_right)
    found["milliseconds to verify"] = round(1000 * one.seconds.get("verified", 0.0))
    return found


def _case(seed: int, one: Judged) -> str:
    """Return what was done to the text."""
    lines = subject(seed).text.split("\n"), one.text.split("\n")
    return "\n".join((one.subject, *unified_diff(*lines, "right", "mutant", lineterm="", n=2)))
