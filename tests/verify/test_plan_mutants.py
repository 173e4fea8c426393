"""Plans with one mistake: the reader understands each, and says which it does not take."""

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.verify.plan_mutants import mutants
from tests.verify.plan_sources import SOURCES, data_for, program_of
from tests.verify.planned import planned_text, with_data

EACH = 12
# Mistakes that change what is computed, or read and stored: where one of these stands in what a
# mutant is called, it must not be proved.
NEVER = (
    "without 'tensors'",
    "without 'numbers'",
    "without 'results'",
    "without 'between'",
    "without 'sizes'",
    "without 'inputs'",
    "without 'types'",
)


def is_never_right(what: str, demands: Sequence[dict[str, Any]]) -> bool:
    """Return whether a mutant lacks a part of the plan, or of a launch, that is needed.

    A demand that there is something to reduce is not: the algorithm has no value where it is not.
    """
    if what == ": without 'demands'":
        return any("over" not in one for one in demands)
    return what.endswith(NEVER) and not what.startswith("demands")


@pytest.mark.long
@pytest.mark.parametrize("name", [*SOURCES])
def test_mutants_are_understood(name: str) -> None:
    program, data = program_of(name), data_for(name)
    found = [*mutants(data)]
    chosen = Random(name).sample(found, min(EACH, len(found)))
    demands = data.get("demands", ())
    chosen += [(what, made) for what, made in found if is_never_right(what, demands)]
    for what, made in chosen:
        report = verify(program, with_data(planned_text(program), "f", made), seconds=10)
        whys = [layer.why for one in report.functions for layer in one.layers]
        assert not any(why.startswith("it is not understood") for why in whys), what
        is_right = not is_never_right(what, demands)
        assert is_right or report.verdict is not LayerVerdict.PROVED, what
