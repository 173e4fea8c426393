"""The verdict is that of an oracle that runs the schedule and knows nothing of sets."""

from dataclasses import replace

import islpy as isl
import pytest

from dtpoly.poly.dependences import dependences
from dtpoly.schedule.legality import found
from dtpoly.schedule.primitives import bind
from dtpoly.schedule.resolve import resolve
from dtpoly.schedule.state import State
from tests.oracle.cases import Case, case
from tests.oracle.run import Illegal, judge_schedule


def at_sizes(state: State, sizes: dict[str, int]) -> State:
    """The state with nothing said of other sizes."""
    context = state.model.context
    for label, param in state.model.size_of.items():
        position = context.find_dim_by_name(isl.dim_type.param, param)
        only = isl.Set.universe(context.get_space()).fix_val(
            isl.dim_type.param, position, sizes[label]
        )
        context = context & only
    assert not context.is_empty(), sizes
    return replace(state, model=replace(state.model, context=context))


def check(chosen: Case) -> None:
    """Agreement at the case's sizes, and for all sizes where it is illegal at these.

    After a fusion that is refused, what else is fused where is a matter of taste: that may show
    where a size of 0 leaves the refusal itself without instances.
    """
    expected = judge_schedule(chosen.program, chosen.sizes)
    state = resolve(chosen.program, bind(chosen.program.directives).primitives)
    pairs = dependences(state.model)
    kinds = {str(one.kind) for one in found(at_sizes(state, chosen.sizes), pairs)}
    if isinstance(expected, Illegal):
        assert any(found(state, pairs)), expected
    has_outside = any(fusion.outside for fusion in state.fusions)
    if has_outside and 0 in chosen.sizes.values():
        return
    if isinstance(expected, Illegal):
        assert expected.kind in kinds, expected
    else:
        assert not kinds


@pytest.mark.parametrize("seed", range(0, 300, 20))
def test_of_random_cases(seed: int) -> None:
    for number in range(seed, seed + 20):
        check(case(number))


@pytest.mark.long
def test_of_many_random_cases() -> None:
    for number in range(300, 5000):
        check(case(number))
