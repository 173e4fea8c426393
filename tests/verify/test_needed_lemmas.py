"""Which Funcs are proved as lemmas of a result: those that the result is made of, and no others."""

import pytest

from dtpoly.verify.algebra.proof_run import ProofRun
from dtpoly.verify.algebra.sets import is_empty
from dtpoly.verify.plan.kernel_files import file_of
from dtpoly.verify.proof.lemmas import with_known
from dtpoly.verify.proof.verify import LayerVerdict, proof_of, verify
from tests.verify.texts import ROOT, text_of, written

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


@pytest.mark.long
def test_a_loss_whose_products_have_descriptors_is_proved_in_time() -> None:
    """Its facts have eight and more alternatives, and its gradients are made of one result."""
    text = (ROOT / "dtpoly/nn/linear_cross_entropy_chunk_large.dt").read_text()
    for line in ("logits.descriptor(X, W, logits);", "d_X.descriptor(slope, W, d_X);"):
        text = f"{text}{line}\n"
    program = written(f"{text}d_W.descriptor(slope, X);\n")
    report = verify(program, text_of(program), 60)
    assert {one.name for one in report.functions} == {"loss", "d_X"}
    layers = [one for function in report.functions for one in function.layers]
    assert {one.verdict for one in layers} == {LayerVerdict.PROVED}, [one.why for one in layers]
