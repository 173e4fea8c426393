"""Sums in parts, of which there are none: reads allow one at most, and a call passes none."""

import pytest
import torch

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.running import imported

# f reads A at x, so that r has one index at most; it may have none.
ALGORITHMS = {
    "a sum": "f[x] = rsum(A[r + x], r) + A[x];",
    "a sum of sums": "f[x] = rsum(rsum(A[r + x] * B[k], r), k) + A[x];",
    "a maximum": "f[x] = rmax(A[x + r], r) + A[x];",
    "two of them": "f[x] = rsum(A[r + x], r) + rmax(A[s + x], s) + A[x];",
    "from behind": "f[x] = rsum(A[x + 2 * r], r) + A[x];",
}
SCHEDULES = [
    "f.block(r:4);",
    "f.block(r:4); f.tensorize(r:2);",
    "f.block(r:16, x:8); f.tensorize(r:0, x:4);",
    "f.block(r:100, x:3); f.tensorize(x:2);",
    "f.block(r:1); f.unroll(x:2);",
]


def program_of(name: str, schedule: str) -> str:
    body = ALGORITHMS[name]
    read = "In A, B;" if "B[" in body else "In A;"
    more = ", ".join(["r", *(v for v in "ks" if f"[{v}" in body)])
    return f"Func f; {read} Var x; RVar {more}; {body} f.compile(); {schedule}"


@pytest.mark.sampled
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_no_parts_and_one(name: str, schedule: str) -> None:
    program = load(Source("test.dt", program_of(name, schedule)))
    text = code_of(judge(program, DIRECTIVES).scheduled).text
    assert verify(program, text).verdict is LayerVerdict.PROVED
    plain = imported(
        code_of(judge(load(Source("t.dt", program_of(name, ""))), DIRECTIVES).scheduled).text
    ).f
    function, inputs = imported(text).f, [torch.randn(7)]
    inputs += [torch.randn(5)] if "B[" in ALGORITHMS[name] else []
    for size in (0, 1):
        expected = plain(*inputs, r=size)
        torch.testing.assert_close(function(*inputs, r=size), expected, equal_nan=True)
