"""Puts a random statement into a file, and reports what the verifier says of it."""

import warnings
from functools import cache
from random import Random

from dtpoly.algorithm.program import Program
from dtpoly.verify.proof import report as reports
from dtpoly.verify.proof.verify import verify
from tests.attack.outcome import Outcome, Verdict
from tests.verify import handwritten
from tests.verify.splices import is_harmless, spliced
from tests.verify.texts import ROOT, program_of, text_of

EMITTED = ("softmax", "row_sum", "layer_norm", "matmul")
WRITTEN = ("matmul", "softmax_persistent", "add")
TRIES = 100


@cache
def subject(seed: int) -> tuple[Program, str]:
    """Return a program, and the text of its kernels."""
    if seed < len(EMITTED):
        program = program_of(ROOT / f"examples/{EMITTED[seed]}.dt")
        return program, text_of(program)
    name = WRITTEN[seed - len(EMITTED)]
    return handwritten.algorithm(name), handwritten.text(name)


def attempt(seed: int) -> Outcome:
    """Try one file. It is a finding if it is proved although the statement does something."""
    random = Random(seed)
    program, text = subject(random.randrange(len(EMITTED) + len(WRITTEN)))
    for _ in range(TRIES):
        made, statement = spliced(random, text)
        if _is_python(made):
            break
    else:
        return Outcome(Verdict.SKIPPED)
    found = verify(program, made)
    if found.verdict is not reports.LayerVerdict.PROVED:
        is_refused = [one.name for one in found.functions] == [""]
        return Outcome(Verdict.REFUSED if is_refused else Verdict.UNKNOWN)
    if is_harmless(statement):
        return Outcome(Verdict.PROVED)
    return Outcome(Verdict.WRONG, f"proved with {statement!r}", made)


def _is_python(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "spliced", "exec")
    except (SyntaxError, ValueError):
        return False
    return True
