"""Values of many parts: no statement of a kernel is nested more deeply than Triton's compiler goes.

Each Func is as large as the language takes it; those before the last one are inlined into it.
"""

from pathlib import Path

import pytest

import dtpoly
from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.deep import deep_recursion
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.plan.kernel_files import unit_with_plans
from dtpoly.verify.proof.verify import LayerVerdict, verify
from dtpoly.verify.triton.unit.depth import check_depth


def chain(part: str, operator: str, count: int = 180) -> str:
    return operator.join([part] * count)


def inlined(first: str, second: str, given: str = "In A;") -> str:
    return (
        f"Func g, f; {given} Var x; g[x] = {first}; f[x] = {second}; g.inline();"
        "f.block(x:64); f.tensorize(x:64); f.compile();"
    )


DEEP = {
    "sums": inlined(chain("A[x]", " + "), f"g[x] + {chain('A[x]', ' + ')}"),
    "differences": inlined(chain("A[x]", " - "), f"g[x] * {chain('A[x]', ' - ')}"),
    "quotients": inlined(chain("A[x]", " / "), f"g[x] / {chain('A[x]', ' / ')}"),
    "truths": inlined(chain("A[x] > 0", " and "), f"g[x] or {chain('A[x] > 1', ' or ')}"),
    "functions": inlined(
        f"{'exp(' * 60}A[x]{')' * 60}",
        f"{'tanh(' * 60}g[x]{')' * 60} + {chain('A[x]', ' + ', 120)}",
    ),
    "signs": inlined(f"{'- ' * 150}A[x]", f"{'- ' * 150}g[x]"),
    "whole numbers": inlined(chain("A[x]", " % "), f"g[x] - {chain('A[x]', ' * ')}", "In A: i8;"),
    "narrow numbers": inlined(
        chain("A[x]", " * "), f"g[x] + {chain('A[x]', ' - ')}", "In A: bf16;"
    ),
    "numbers of all types": inlined(
        chain("A[x] * C[x]", " + ", 90),
        f"g[x] + {chain('C[x] / D[x]', ' - ', 90)}",
        "In A: i8, C: f16, D: f64;",
    ),
    "choices": inlined(
        f"{'where(A[x] > 0, A[x], ' * 60}1{')' * 60}",
        f"{'where(A[x] < 1, A[x], ' * 60}g[x]{')' * 60}",
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_a_deep_value_is_cut_into_parts(text: str) -> None:
    program = load(Source("test.dt", text))
    with deep_recursion():
        made = code_of(judge(program, DIRECTIVES).scheduled).text
        verdict = verify(program, made).verdict
    unit, _ = unit_with_plans(made)
    check_depth(unit)
    assert verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_a_deep_value_in_python(tmp_path: Path) -> None:
    """A schedule in Python has as much room for deep trees as the command line."""
    path = tmp_path / "deep.dt"
    path.write_text(DEEP["sums"])
    assert "Verdict: PROVED" in dtpoly.load(path).source
