"""parse(show(program)) == program, for generated Programs with schedules."""

import pytest
from hypothesis import given

from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.algorithm.value_limits import check_values
from dtpoly.checking import understand
from dtpoly.diagnostics import has_errors
from dtpoly.frontend.format import format_source
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.source import Source
from tests.generation.algorithms import Limits
from tests.generation.choice import seeded
from tests.generation.schedules import program
from tests.strategies import programs

LARGE = Limits(labels=9, tensors=6, scalars=4, funcs=8, rank=4, depth=5)


def check_round_trip(generated: Program) -> None:
    if has_errors(check_values(generated)):
        return  # it has a number too large for 64 bits
    source = Source("shown.dt", show(generated))
    parsed = parse(source)
    assert not parsed.found
    resolved = resolve(parsed.file)
    assert not has_errors(resolved.found)
    assert resolved.program == generated
    assert hash(resolved.program) == hash(generated)
    checked = understand(parsed.file)
    assert not has_errors(checked.diagnostics)
    assert checked.program == generated
    formatted = Source("formatted.dt", format_source(source))
    assert understand(parse(formatted).file).program == generated


@pytest.mark.long
@given(programs())
def test_shown_program_is_read_back(generated: Program) -> None:
    check_round_trip(generated)


@pytest.mark.long
@pytest.mark.parametrize("chunk", range(10))
def test_many_shown_programs_are_read_back(chunk: int) -> None:
    """1,000 Programs of the ordinary size, and large ones."""
    for seed in range(100 * chunk, 100 * (chunk + 1)):
        check_round_trip(program(seeded(seed), Limits()))
        if seed % 10 == 0:
            check_round_trip(program(seeded(seed), LARGE))
