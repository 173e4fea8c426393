"""Texts of maxima over two labels, and of sums in several frames, are proved; no mistake is."""

import json

import pytest

from dtpoly.ring.trying import WrongTrial, tried
from dtpoly.verify.algebra.proof_run import Lemma
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from tests.codegen.frame_programs import FRAMED, TWO_FRAMES, TWO_LABELS, sizes_of
from tests.codegen.inputs import Recipe
from tests.codegen.running import compared, imported
from tests.codegen.test_frame_programs import program
from tests.verify.frame_mutants import OF_FRAMES
from tests.verify.online_mutants import mutants_of
from tests.verify.texts import changed, text_of

PARTS = 40
# Mistakes that are tried in the ordinary suite, with the programs in whose texts they are made.
QUICK = (
    *(
        ("two frames, a product of exponentials", mistake)
        for mistake in (
            *("no correction", "corrected by the first maximum", "a sum is set"),
            *("an exponent less the first maximum", "one maximum is left out in the end"),
        )
    ),
    *(
        ("two labels, one index at a time", mistake)
        for mistake in (
            *("no correction", "the correction is upside down", "the correction is a half"),
            *("the outer loop begins late", "the first row again and again"),
        )
    ),
)


@pytest.mark.sampled
@pytest.mark.parametrize("name", FRAMED)
def test_it_is_proved(name: str) -> None:
    report = verify(program(name), text_of(program(name)), seconds=120)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", ["one index at a time", "a product of exponentials"])
def test_the_certificate_has_each_frame(name: str) -> None:
    given = TWO_FRAMES[name]
    of = program(f"two frames, {name}")
    text = text_of(of)
    told = certificate(of, given, text)
    (function,) = json.loads(told)["functions"]
    used = [each for each in function["assumptions"] if each["lemma"] == Lemma.FRAMES]
    assert len({json.dumps(each) for each in used}) >= 2
    assert check_certificate(told, given, text).accepted


def test_the_certificate_of_two_labels() -> None:
    given = TWO_LABELS["one index at a time"]
    of = program("two labels, one index at a time")
    text = text_of(of)
    told = certificate(of, given, text)
    assert check_certificate(told, given, text).accepted


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "mistake"), QUICK)
def test_a_mistake_is_not_proved(name: str, mistake: str) -> None:
    of = program(name)
    found = list(mutants_of(name, text_of(of), {mistake: OF_FRAMES[mistake]}))
    assert found
    for _, text in found[:1]:
        assert verify(of, text, seconds=10).verdict is not LayerVerdict.PROVED
        assert isinstance(tried(of, text, "f", 10), WrongTrial)


def test_a_maximum_that_is_set_back_between_rows() -> None:
    """The inner loop would go on in another frame than that in which the sum is kept."""
    of = program("two labels, one index at a time")
    text = changed(
        text_of(of),
        "        z = tl.cast(z_start, offset)\n",
        "        z = tl.cast(z_start, offset)\n        top_acc = top_acc - 1.0\n",
    )
    assert verify(of, text, seconds=10).verdict is not LayerVerdict.PROVED


def test_a_maximum_that_starts_with_minus_infinity() -> None:
    """Nothing says that it is finite when the inner loop begins again."""
    of = program("two labels, one index at a time")
    text = changed(text_of(of), "-1.2676506002282294e30", 'float("-inf")')
    assert verify(of, text, seconds=10).verdict is not LayerVerdict.PROVED


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
def test_mistakes_are_not_proved(part: int) -> None:
    """A part of all mistakes in all texts; what is proved is another text for the same."""
    each = [one for name in FRAMED for one in mutants_of(name, text_of(program(name)), OF_FRAMES)]
    for mutant, text in each[part :: PARTS * 4]:
        of = program(mutant.name)
        if verify(of, text, seconds=20).verdict is LayerVerdict.PROVED:
            for sizes in sizes_of(of):
                compared(imported(text), of, ("f",), Recipe().inputs(of, sizes), sizes)
