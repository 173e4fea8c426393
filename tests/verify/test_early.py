"""Kernels that are placed while launches before them run: proved if they wait first."""

import pytest

from dtpoly.compile import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import Verdict, verify
from tests.gpu.chains import PROGRAMS
from tests.verify.texts import changed, text_of

TWO = load(Source("f.dt", PROGRAMS["two kernels"]))
WAIT = "        tl.extra.cuda.gdc_wait()\n"
NEXT = "        tl.extra.cuda.gdc_launch_dependents()\n"
BEGIN = f"    if early:\n{WAIT}"


@pytest.mark.parametrize("text", PROGRAMS.values())
def test_it_is_proved(text: str) -> None:
    program = load(Source("f.dt", text))
    report = verify(program, text_of(program), seconds=60)
    assert report.verdict is Verdict.PROVED


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WAIT, ""),
        (BEGIN, ""),
        (BEGIN, f"    first = 0\n{BEGIN}"),
        ("    if early:\n", "    if not early:\n"),
        (WAIT, f"{WAIT}        pid = 0\n"),
        (WAIT, NEXT),
        (WAIT, f"{NEXT}{WAIT}"),
        ('{"early": 1, "launch_pdl": 1}', '{"early": 0, "launch_pdl": 1}'),
        ('else {"early": 0}', 'else {"early": 0, "launch_pdl": 1}'),
        ("**dt_early(device),", "early=0, launch_pdl=1,"),
    ],
)
def test_what_does_not_wait_is_not_proved(old: str, new: str) -> None:
    text = text_of(TWO)
    assert old in text
    report = verify(TWO, text.replace(old, new), seconds=60)
    assert report.verdict is Verdict.UNKNOWN


@pytest.mark.parametrize(("early", "verdict"), [(0, Verdict.PROVED), (1, Verdict.UNKNOWN)])
def test_launched_as_usual(early: int, verdict: Verdict) -> None:
    text = changed(text_of(TWO), "**dt_early(device),", f"early={early},")
    assert verify(TWO, text, seconds=60).verdict is verdict
