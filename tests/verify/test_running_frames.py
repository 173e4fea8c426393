"""Kernels by hand that keep sums in the frame of a running maximum are proved, and compute it."""

import json

import pytest

from dtpoly.verify.algebra.proof_run import Assumption, Lemma
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.checker.checked_lemmas import problem
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.running import Wrong
from tests.verify.handwritten import launch
from tests.verify.running_texts import (
    ATTENTION,
    DIVIDED,
    OF_ATTENTION,
    RIGHT,
    WINDOW_OF_NANS,
    algorithm_of,
    edited,
)
from tests.verify.texts import changed

# One of each kind is run; the others are run in the long tests.
QUICK = ("softmax", "attention", "causal, two loops", "window, finite start")


@pytest.mark.sampled
@pytest.mark.parametrize("name", RIGHT)
def test_it_is_proved(name: str) -> None:
    one = RIGHT[name]
    report = verify(algorithm_of(one.algorithm), one.text)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED
    assert all(function.seconds < 5 for function in report.functions)


@pytest.mark.parametrize(
    "name",
    [
        name if name in QUICK else pytest.param(name, marks=pytest.mark.long)
        for name in RIGHT
        if "bf16" not in name  # of which Triton's interpreter multiplies the bits
    ],
)
def test_it_computes_what_is_proved(name: str) -> None:
    one = RIGHT[name]
    launch(algorithm_of(one.algorithm), one.text, one.sizes)


def test_a_missing_correction_shows_where_values_ascend() -> None:
    one = RIGHT["softmax"]
    wrong = changed(one.text, "total * tl.exp(peak - new_peak)", "total")
    with pytest.raises(Wrong):
        launch(algorithm_of(one.algorithm), wrong, one.sizes)


@pytest.mark.long
@pytest.mark.parametrize("name", ["softmax", "causal, two loops", "attention, exp2"])
def test_its_certificate_is_accepted(name: str) -> None:
    one = RIGHT[name]
    program = algorithm_of(one.algorithm)
    made = certificate(program, one.algorithm, one.text)
    assert check_certificate(made, one.algorithm, one.text).accepted
    (function,) = json.loads(made)["functions"]
    assert any(each["lemma"] == Lemma.FRAMES for each in function["assumptions"])
    assert "exp(a + b) is exp(a) * exp(b)" in function["licences"]


@pytest.mark.parametrize(
    "instance",
    [
        ("x", "x", "-1", "-1", "1"),
        ("x", "m", "0", "0", "0"),
        ("x", "m", "-1", "-1", "-1"),
        ("x", "m", "-1", "1", "1"),
        ("x", "m", "-1", "-2", "1"),
        ("x", "m", "-1", "-1"),
    ],
)
def test_an_instance_of_another_form_is_rejected(instance: tuple[str, ...]) -> None:
    assert problem(Assumption(Lemma.FRAMES, ("x", "m", "-1/8", "-1/8", "1/8"))) is None
    assert problem(Assumption(Lemma.FRAMES, instance)) is not None


@pytest.mark.long
def test_a_maximum_that_may_be_infinite_is_not_proved() -> None:
    """It is equal over the reals; the first tile of some rows is masked, and the result is nan."""
    one = WINDOW_OF_NANS
    report = verify(algorithm_of(one.algorithm), one.text)
    assert report.verdict is LayerVerdict.UNKNOWN
    (layer,) = [each for each in report.layers if each.name == "value"]
    assert "a maximum may be infinite" in layer.why
    with pytest.raises(Wrong, match="nan"):
        launch(algorithm_of(one.algorithm), one.text, one.sizes)


def test_a_divisor_of_nothing_is_not_taken_out_of_a_sum() -> None:
    """Without keys the algorithm sums nothing, which is 0; the kernel divides 0 by 0."""
    report = verify(algorithm_of(edited(OF_ATTENTION, DIVIDED)), ATTENTION)
    assert report.verdict is LayerVerdict.UNKNOWN
