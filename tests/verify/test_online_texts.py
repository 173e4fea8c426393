"""Texts that the compiler emits for `online` are proved."""

from collections.abc import Iterator
from functools import cache

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.test_online import PROGRAMS, sizes_around_tiles
from tests.verify.online_mutants import OnlineMutant, mutants_of
from tests.verify.texts import ROOT

EXAMPLES = ("online_softmax", "log_sum_exp", "flash_attention", "causal_flash_attention")
# What is not proved yet, and why.
UNKNOWN = {
    "two frames": "a loop corrects a sum by two maxima",
    "attention with a sink": "where there is no key, the sink is infinite, which is not compared",
}

# Programs in whose texts mistakes are made.
MISTAKEN = (
    "softmax",
    "log-sum-exp",
    "attention",
    "attention, causal",
    "attention to a window",
    "attention to what comes later",
)


@cache
def emitted(name: str) -> tuple[Program, str]:
    """Return the Program of a name, and the text that is emitted for it."""
    if name in EXAMPLES:
        source = Source("f.dt", (ROOT / f"examples/{name}.dt").read_text())
    else:
        source = Source("f.dt", PROGRAMS[name])
    program = load(source)
    return program, code_of(judge(program, DIRECTIVES).scheduled).text


@pytest.mark.sampled
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.xfail(strict=True, reason=UNKNOWN[name]))
        if name in UNKNOWN
        else name
        for name in (*PROGRAMS, *EXAMPLES)
    ],
)
def test_it_is_proved(name: str) -> None:
    report = verify(*emitted(name), seconds=60)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


def mutants() -> Iterator[tuple[OnlineMutant, str]]:
    """Yield all mistakes in the texts of some programs."""
    for name in MISTAKEN:
        yield from mutants_of(name, emitted(name)[1])


@pytest.mark.long
@pytest.mark.parametrize(
    ("mutant", "text"), [pytest.param(one, text, id=str(one)) for one, text in mutants()]
)
def test_a_mistake_is_not_proved(mutant: OnlineMutant, text: str) -> None:
    program = emitted(mutant.name)[0]
    if verify(program, text).verdict is not LayerVerdict.PROVED:
        return
    # It is another text for the same: a sum that is set where nothing was added to it before.
    for sizes in sizes_around_tiles(program):
        inputs = Recipe().inputs(program, sizes)
        compared(imported(text), program, ("f",), inputs, sizes)
