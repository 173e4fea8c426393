"""Tests that shared terms are looked at once, so that proofs of nested powers stay short."""

from itertools import pairwise

import pytest

from dtpoly.checking import check
from dtpoly.generate import code_of
from dtpoly.source import Source
from dtpoly.verify.algebra import tested_terms
from dtpoly.verify.algebra.terms import AppliedOperation, Element, Term
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify


def nested(operation: str, times: int) -> str:
    """Return an operation on what the same operation made, so many times."""
    value = "A[x]"
    for _ in range(times):
        value = operation.format(value)
    return f"Func f; In A; Var x; f[x] = {value}; f.compile();"


def squares(times: int) -> str:
    """Return a chain of Funcs each of which reads the one before twice, in one kernel."""
    names = [f"f{at}" for at in range(times)]
    chain = [f"{two}[x] = {one}[x] * {one}[x];" for one, two in pairwise(names)]
    fused = [f"{one}.fuse_at({names[-1]}, x);" for one in names[:-1]]
    text = f"Func {', '.join(names)}; In A; Var x; f0[x] = A[x] + 1; {' '.join(chain)}"
    return f"{text} {' '.join(fused)} {names[-1]}.compile();"


TEXTS = {
    "powers": nested("pow({}, 9)", 40),
    "a power of each kind": nested("pow(sqrt(pow({}, 3)), 2)", 15),
    "products of sums": nested("fma({0}, 2, 1)", 40),
    "squares": squares(14),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_values_that_share_their_parts_are_proved(text: str) -> None:
    checked = check(Source("nested.dt", text))
    assert checked.verdict is not None, checked.diagnostics
    assert checked.program is not None
    report = verify(checked.program, code_of(checked.verdict.scheduled).text)
    assert report.verdict is LayerVerdict.PROVED


def test_the_sides_of_a_test_are_found_in_terms_that_share_their_parts() -> None:
    """The term has 61 nodes; a walk that forgets what it saw would come past 2**60 of them."""
    test, yes, no = (Element(name, (), 0, ()) for name in ("test", "yes", "no"))
    wanted: tuple[Term, ...] = yes, no
    term: Term = AppliedOperation("where", (test, yes, no))
    for _ in range(60):
        term = AppliedOperation("add", (term, term))
        wanted = tuple(AppliedOperation("add", (one, one)) for one in wanted)
    assert tested_terms.Tested(test, yes, no).sides_of(term) == wanted


@pytest.mark.long
def test_a_power_with_another_exponent_is_not_proved() -> None:
    right, wrong = nested("pow({}, 9)", 12), nested("pow({}, 9)", 11)
    checked, other = (check(Source("nested.dt", text)) for text in (right, wrong))
    assert checked.program is not None
    assert other.verdict is not None
    report = verify(checked.program, code_of(other.verdict.scheduled).text, 3.0)
    assert report.verdict is not LayerVerdict.PROVED
