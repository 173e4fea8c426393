"""Which Funcs are proved as lemmas of a result: those that the result is made of, and no others."""

import pytest

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.proof.lemmas import with_known
from dtpoly.verify.proof.verify import proof_of
from tests.verify.texts import text_of, written

CHAIN = written(
    "Func first, second, third, beside; In A; Var x;"
    "first[x] = A[x] * 2; beside[x] = A[x] * 3; second[x] = first[x] + 1; third[x] = second[x] * 5;"
    + "".join(
        f"{func}.block(x:4); {func}.tensorize(x:0);"
        for func in ("first", "second", "third", "beside")
    )
    + "first.compile(second, third, beside);"
)


@pytest.mark.parametrize(
    ("result", "lemmas"),
    [
        ("first", set[str]()),
        ("beside", set[str]()),
        ("second", {"first"}),
        ("third", {"first", "second"}),
    ],
)
def test_what_is_computed_afterwards_is_no_lemma(result: str, lemmas: set[str]) -> None:
    """A later Func would be compared with all that the result is made of in its place."""
    _, proof = proof_of(ProofRun(is_empty), CHAIN, file_of(CHAIN, text_of(CHAIN)), "first", result)
    known = with_known(proof)
    assert (known.memory.funcs.keys() if known else set[str]()) == lemmas
