"""Verifies and runs right hand-written kernels, and reports lost proofs and false ones."""

import os

from dtpoly.verify.proof import report as reports
from tests.attack.handwritten.files import FILES, proved_before, report, subject
from tests.attack.mutants.running import Shown, ran
from tests.attack.outcome import Outcome, Verdict


def attempt(seed: int) -> Outcome:
    """Try one kernel.

    It is a finding if its proof was lost, or if it is proved and is not right.
    """
    os.environ["TRITON_INTERPRET"] = "1"
    name = sorted(FILES)[seed % len(FILES)]
    one, found = subject(name), report(name)
    shown = ran(one, one.text.encode(), one.text)
    is_proved = found.verdict is reports.LayerVerdict.PROVED
    what = f"{name}: {found.verdict}; {shown.shown} {shown.why} {shown.call}"
    figures = {f"{found.verdict}": 1}
    if shown.shown is not Shown.RIGHT:
        return Outcome(Verdict.WRONG, what, one.text, figures)
    if name in proved_before()[1] and not is_proved:
        return Outcome(Verdict.WRONG, f"{what}; it was PROVED before", one.text, figures)
    if found.verdict is reports.LayerVerdict.REFUTED:
        return Outcome(Verdict.WRONG, f"{what}, which is not so", one.text, figures)
    return Outcome(Verdict.PROVED if is_proved else Verdict.UNKNOWN, what, figures=figures)
