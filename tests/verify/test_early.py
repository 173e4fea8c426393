"""Kernels that are placed while launches before them run: proved if they wait first."""

import pytest

from dtpoly.checking import load
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.gpu.chains import PROGRAMS
from tests.verify.texts import text_of

TWO = load(Source("f.dt", PROGRAMS["two kernels"]))
WAIT = "        tl.extra.cuda.gdc_wait()\n"
NEXT = "        tl.extra.cuda.gdc_launch_dependents()\n"
BEGIN = f"    if early:\n{WAIT}"


@pytest.mark.long
@pytest.mark.parametrize("text", PROGRAMS.values())
def test_it_is_proved(text: str) -> None:
    program = load(Source("f.dt", text))
    report = verify(program, text_of(program), seconds=60)
    assert report.verdict is LayerVerdict.PROVED


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
        ('            "early": True,\n', ""),
        ('"early": True', '"early": False'),
        ('"early": True', '"flags": {"early": "m == m"}'),
    ],
)
def test_what_does_not_wait_is_not_proved(old: str, new: str) -> None:
    text = text_of(TWO)
    assert old in text
    report = verify(TWO, text.replace(old, new), seconds=60)
    assert report.verdict is LayerVerdict.UNKNOWN
