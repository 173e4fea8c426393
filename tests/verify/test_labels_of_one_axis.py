"""Labels of a scan have the size of one axis: no example gives them different ones."""

import pytest

from dtpoly.verify.algebra.algorithm_terms import meaning_of
from dtpoly.verify.algebra.regions import set_of
from dtpoly.verify.plan.callers import fixed_facts, in_step, some_sizes
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import asking_isl, verify
from dtpoly.verify.triton.said import said_in
from tests.verify.texts import changed, written

PROGRAM = written(
    "Func Y: f32; In X: f32; Var r, t; RVar u;"
    "Y[r, t] = scan_sum(X[r, u], u, t, before); Y.compile();"
)
TEXT = """\
import triton
import triton.language as tl


@triton.jit
def before(Y, X, n):
    r = tl.program_id(0).to(tl.int64)
    acc = 0.0
    for t in range(0, n):
        tl.store(Y + r * n + t, acc)
        acc += tl.load(X + r * n + t)


# verify: before[(len(r),)](Y, X, len(t))
# assume: len(t) <= 2**20, len(r) <= 2**20
"""


def test_what_is_not_understood_is_not_refuted() -> None:
    """0 times a number of which nothing is known may be a nan; each access is inside."""
    assert verify(PROGRAM, TEXT).verdict is LayerVerdict.PROVED
    text = changed(TEXT, "acc += tl.load(X + r * n + t)", "acc += tl.load(X + r * n + t) + 0 * acc")
    report = verify(PROGRAM, text)
    assert report.verdict is LayerVerdict.UNKNOWN
    found = {one.name: one.verdict for one in report.layers}
    assert found["bounds"] is LayerVerdict.PROVED


@pytest.mark.parametrize("further", ["+ 1", "+ n"])
def test_what_reaches_outside_is_refuted(further: str) -> None:
    text = changed(TEXT, "tl.load(X + r * n + t)", f"tl.load(X + r * n + t {further})")
    assert verify(PROGRAM, text).verdict is LayerVerdict.REFUTED


def test_sizes_that_are_tried_are_those_of_some_call() -> None:
    meaning = meaning_of(PROGRAM)
    tried = [in_step(meaning, one) for one in some_sizes(PROGRAM, said_in(TEXT))]
    assert tried
    assert all(one["t"] == one["u"] for one in tried)
    apart = fixed_facts(meaning, {"r": 3, "t": 5, "u": 3})
    alike = fixed_facts(meaning, {"r": 3, "t": 5, "u": 5})
    run = asking_isl("Y")
    assert not run.has_a_point(set_of(apart))
    assert run.has_a_point(set_of(alike))
