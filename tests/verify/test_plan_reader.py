"""What is proved of a file with plans is what is proved of the same kernels with wrappers."""

from pathlib import Path

import pytest

from dtpoly.verify.proof.report import Function
from dtpoly.verify.proof.verify import Verdict, verify
from tests.verify.planned import planned_text
from tests.verify.texts import ROOT, program_of, text_of

EXAMPLES = sorted((ROOT / "examples").glob("*.dt"))
THESIS = sorted((ROOT / "tests/data/thesis").glob("*.dt"))


def shown(function: Function) -> tuple[str, list[tuple[str, Verdict]], tuple[str, ...]]:
    """A function's verdicts by layer, and what is taken for granted."""
    layers = [(layer.name, layer.verdict) for layer in function.layers]
    return function.name, layers, function.assumed


@pytest.mark.sampled
@pytest.mark.parametrize("path", [*EXAMPLES, *THESIS], ids=lambda path: path.stem)
def test_a_plan_is_proved_as_its_wrapper_is(path: Path) -> None:
    program = program_of(path)
    by_plan = verify(program, planned_text(program), seconds=60)
    by_wrapper = verify(program, text_of(program), seconds=60)
    assert [*map(shown, by_plan.functions)] == [*map(shown, by_wrapper.functions)]
    assert by_plan.verdict is Verdict.PROVED
