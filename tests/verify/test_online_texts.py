"""Texts that the compiler emits for `online` are proved."""

from functools import cache

import pytest
import torch

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.reference.run import run
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.mask_advice import AROUND
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.test_online import PROGRAMS, sizes_around_tiles
from tests.verify.online_mutants import mutants_of
from tests.verify.texts import ROOT, text_of

EXAMPLES = (
    *("online_softmax", "log_sum_exp", "softmax_entropy"),
    *("flash_attention", "causal_flash_attention"),
)


# Programs in whose texts mistakes are made.
MISTAKEN = (
    "softmax",
    "log-sum-exp",
    "attention",
    "attention, causal",
    "attention to a window",
    "attention to what comes later",
)

# To say how many mistakes there are, all texts would have to be made to collect the tests.
PARTS = 25


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
    [*PROGRAMS, *EXAMPLES],
)
def test_it_is_proved(name: str) -> None:
    report = verify(*emitted(name), seconds=60)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


MASK = "B[x, y] > 0"
IN_THE_EXPONENT = (
    "Func f, top; In A, B; Var x; RVar y;"
    f"top[x] = rmax(where({MASK}, A[x, y], -inf), y);"
    f"f[x] = log(rsum(exp(where({MASK}, A[x, y], -inf) - reshape(top[x], x, 1)), y)) + top[x];"
    "top.online(f, y); f.block(x:2); f.tensorize(x:0, y:16); f.compile();"
)


def test_a_mask_of_data_in_an_exponent() -> None:
    """Where all is masked, the kernel has -inf and the algorithm a NaN: the answer says what to do.

    With the mask around the exponential both have -inf, and it is proved.
    """
    program = load(Source("f.dt", IN_THE_EXPONENT))
    text = text_of(program)
    A, B = torch.ones(3, 17), torch.ones(3, 17)
    B[1], B[2, :16] = -1, -1
    finite = torch.tensor([0.0, float("-inf"), 0.0]) + torch.tensor([17.0, 1.0, 1.0]).log() + 1
    torch.testing.assert_close(imported(text).f(A, B), finite)
    is_nan = run(program, {"A": A, "B": B})["f"].isnan()
    assert torch.equal(is_nan, torch.tensor([False, True, False]))
    around = emitted("a mask around the exponential")[0]
    torch.testing.assert_close(run(around, {"A": A, "B": B})["f"].float(), finite)
    (function,) = verify(program, text).functions
    (layer,) = [one for one in function.layers if one.name == "value"]
    assert layer.verdict is LayerVerdict.UNKNOWN
    assert layer.way == AROUND


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistake_is_not_proved(name: str, part: int) -> None:
    program, made = emitted(name)
    for mutant, text in list(mutants_of(name, made))[part::PARTS]:
        try:
            is_not_proved_wrongly(program, text)
        except AssertionError as error:
            raise AssertionError(f"{mutant} is proved, and wrong") from error


def is_not_proved_wrongly(program: Program, text: str) -> None:
    """Raise AssertionError if a text is proved but computes something else."""
    if verify(program, text).verdict is not LayerVerdict.PROVED:
        return
    # It is another text for the same: a sum that is set where nothing was added to it before.
    for sizes in sizes_around_tiles(program):
        inputs = Recipe().inputs(program, sizes)
        compared(imported(text), program, ("f",), inputs, sizes)
