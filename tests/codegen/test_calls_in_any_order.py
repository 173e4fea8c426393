"""Tests many unlike calls in one process: each result is that of the reference."""

from functools import cache
from typing import Any

import pytest

from dtpoly.checking import load
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.generate import code_of
from dtpoly.schedule.legality import judge
from dtpoly.source import Source
from tests.codegen.calls_in_any_order import CallsInAnyOrder
from tests.codegen.parted_programs import attention
from tests.codegen.repeated import ATOMIC, IN_PLACE, SEVERAL
from tests.codegen.running import imported
from tests.codegen.scans_in_parts import IN_PARTS
from tests.codegen.test_panels import DESCRIBED, PRODUCT

SOFTMAX = (
    "Func f, e, total; In A; Var x; RVar y; e[x, y] = exp(A[x, y]); total[x] = rsum(e[x, y], y);"
    "f[x, y] = e[x, y] / reshape(total[x], x, 1); f.block(x:4); f.tensorize(x:0, y:16);"
    "e.inline(); total.fuse_at(f, x); f.compile();"
)
TEXTS = {
    "softmax": SOFTMAX,
    "panels": f"{PRODUCT} f.compile();",
    "descriptors": f"{DESCRIBED} f.compile();",
    "in place": IN_PLACE,
    "several": SEVERAL,
    "atomic": ATOMIC,
    "scan in parts": IN_PARTS["sums"],
    "two scans": IN_PARTS["two scans"],
    "attention in parts": attention(),
}


@cache
def generated(name: str) -> tuple[Any, Any]:
    program = load(Source("f.dt", TEXTS[name]))
    return program, imported(code_of(judge(program, DIRECTIVES).scheduled).text)


def calls(name: str, seed: int) -> CallsInAnyOrder:
    program, module = generated(name)
    return CallsInAnyOrder(program, module.f, module.f_plan, seed)


@pytest.mark.parametrize("name", ["softmax", "in place"])
def test_a_few_calls(name: str) -> None:
    one = calls(name, 1)
    for _ in range(8):
        one.call()


@pytest.mark.long
@pytest.mark.parametrize("name", TEXTS)
def test_many_calls(name: str) -> None:
    for seed in range(2):
        one = calls(name, seed)
        for _ in range(20):
            one.call()
