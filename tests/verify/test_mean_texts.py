"""Texts in which sums of squared deviations go on with a mean are proved, and no mistake in one."""

import json
from functools import cache

import pytest

from dtpoly.algorithm.program import Program
from dtpoly.checking import load
from dtpoly.ring.trying import WrongTrial, tried
from dtpoly.source import Source
from dtpoly.verify.algebra.proof_run import Assumption, Lemma
from dtpoly.verify.checker import check_certificate
from dtpoly.verify.checker.checked_lemmas import problem
from dtpoly.verify.proof.certificate import certificate
from dtpoly.verify.proof.report import LayerVerdict
from dtpoly.verify.proof.verify import verify
from dtpoly.verify.triton.mean_frames import OF_MEANS as LICENCE
from dtpoly.verify.triton.mean_frames import OF_POWERS as LICENCE_OF_POWERS
from tests.codegen.mean_programs import OF_MEANS
from tests.verify.mean_mutants import (
    MISTAKEN,
    MISTAKEN_POWERS,
    OF_POWERS,
    mutants_of_means,
)
from tests.verify.online_mutants import OnlineMutant, mutants_of
from tests.verify.test_online_texts import is_not_proved_wrongly
from tests.verify.texts import ROOT, text_of

EXAMPLES = ("wide_layer_norm",)
PARTS = 10
CUBE = "1*c*c*c*n + -3*c*c*c'*n + 3*c*c'*c'*n + -1*c'*c'*c'*n"
# Mistakes that are tried in the ordinary suite.
QUICK = (
    *("no move", "moved for one element more", "the old sum is the new one"),
    *("the new mean is that of all", "deviations from the old mean", "tiles overlap"),
    *("the old mean is divided by 0", "a masked deviation is 1"),
)


QUICK_POWERS = (
    *("a lower sum is left out of a move", "a lower sum has another factor"),
    *("the squares move before all", "squares do not move", "a lower sum begins with 1"),
    *("a lower sum is not taken in", "the sum of squares in the place of cubes"),
)


@cache
def emitted(name: str) -> tuple[Program, str]:
    """Return the Program of a name, and the text that is emitted for it."""
    given = (ROOT / f"examples/{name}.dt").read_text() if name in EXAMPLES else OF_MEANS[name]
    program = load(Source("f.dt", given))
    return program, text_of(program)


@pytest.mark.sampled
@pytest.mark.parametrize("name", [*OF_MEANS, *EXAMPLES])
def test_it_is_proved(name: str) -> None:
    report = verify(*emitted(name), seconds=60)
    assert [each for each in report.layers if each.verdict is not LayerVerdict.PROVED] == []
    assert report.verdict is LayerVerdict.PROVED


def test_the_certificate_has_the_move() -> None:
    program, text = emitted("variance")
    told = certificate(program, OF_MEANS["variance"], text)
    (function,) = json.loads(told)["functions"]
    assert any(each["lemma"] == Lemma.MEANS for each in function["assumptions"])
    assert LICENCE in function["licences"]
    assert check_certificate(told, OF_MEANS["variance"], text).accepted


@pytest.mark.parametrize(
    ("powers", "moves", "is_right"),
    [
        ("1*u*u", "1*c*c*n + -2*c*c'*n + 1*c'*c'*n", True),
        ("1*u*u", "1*c*c*n + -2*c*c'*n + 2*c'*c'*n", False),
        ("1*u*u", "1*c*c + -2*c*c' + 1*c'*c'", False),
        ("1*u*u", "", False),
        ("2 + 3*u", "3*c*n + -3*c'*n", True),
        ("2 + 3*u", "-3*c*n + 3*c'*n", False),
        ("1*u*u*u", "", False),
        ("1*u*u*u", f"3*c*s2 + -3*c'*s2 + {CUBE}", True),
        ("1*u*u*u", f"3*c*s2 + -2*c'*s2 + {CUBE}", False),
        ("1*u*u*u", f"3*c*s3 + -3*c'*s3 + {CUBE}", False),
        ("1*u*u*u", CUBE, False),
        ("1*u*u*u*u*u", "", False),
    ],
)
def test_the_checker_multiplies_a_move_out(powers: str, moves: str, is_right: bool) -> None:
    found = problem(Assumption(Lemma.MEANS, ("s", powers, moves)))
    assert (found is None) is is_right


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", QUICK)
def test_a_mistake_is_refuted(mistake: str) -> None:
    program, text = emitted("variance")
    made = [(one, edited) for one, edited in mutants_of_means("variance", text)]
    _, wrong = next((one, edited) for one, edited in made if one.mistake == mistake)
    assert verify(program, wrong).verdict is not LayerVerdict.PROVED
    assert isinstance(tried(program, wrong, "f", 20.0), WrongTrial)


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MISTAKEN)
def test_a_mistake_is_not_proved(name: str, part: int) -> None:
    program, made = emitted(name)
    for mutant, text in list(mutants_of_means(name, made))[part::PARTS]:
        try:
            is_not_proved_wrongly(program, text)
        except AssertionError as error:
            raise AssertionError(f"{mutant} is proved, and wrong") from error


def mutants_of_powers(name: str) -> list[tuple[OnlineMutant, str]]:
    """Return the mistakes in how sums of cubes, or of fourth powers, move."""
    return list(mutants_of(name, emitted(name)[1], OF_POWERS))


def test_there_are_mistakes_of_powers() -> None:
    made = [one for name in MISTAKEN_POWERS for one, _ in mutants_of_powers(name)]
    assert {one.mistake for one in made} == OF_POWERS.keys()
    assert len(made) >= 140


@pytest.mark.long
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", MISTAKEN_POWERS)
def test_a_mistake_of_powers_is_not_proved(name: str, part: int) -> None:
    """In a tail nobody looks at the lower sums again, so some mistakes compute the same."""
    program, _ = emitted(name)
    for mutant, text in mutants_of_powers(name)[part::PARTS]:
        try:
            is_not_proved_wrongly(program, text)
        except AssertionError as error:
            raise AssertionError(f"{mutant} is proved, and wrong") from error


@pytest.mark.sampled
@pytest.mark.parametrize("mistake", QUICK_POWERS)
def test_a_mistake_of_powers_is_refuted(mistake: str) -> None:
    name = "a fourth central moment"
    program, _ = emitted(name)
    wrong = next(text for one, text in mutants_of_powers(name) if one.mistake == mistake)
    assert verify(program, wrong).verdict is not LayerVerdict.PROVED
    assert isinstance(tried(program, wrong, "f", 20.0), WrongTrial)


def test_the_certificate_has_the_move_of_cubes() -> None:
    name = "a third central moment"
    told = certificate(emitted(name)[0], OF_MEANS[name], emitted(name)[1])
    (function,) = json.loads(told)["functions"]
    assert LICENCE_OF_POWERS in function["licences"]
    assert check_certificate(told, OF_MEANS[name], emitted(name)[1]).accepted
    forged = told.replace("-3*c'*s2", "3*c'*s2")
    assert forged != told
    assert not check_certificate(forged, OF_MEANS[name], emitted(name)[1]).accepted


IN_ONE_LOOP = {
    "for y_start in tl.range(0, y_size, 16):": True,
    "for number in tl.range(0, (y_size + 15) // 16):\n        y_start = number * 16": True,
    "for y_start in tl.range(0, y_size, 8):": False,
    "for y_start in tl.range(16, y_size, 16):": False,
    "for y_start in tl.range(0, y_size - 1, 16):": False,
}


def in_one_loop(head: str, count: str) -> str:
    """Return a text by hand, with a mask in each iteration: the tail of the emitted one, often."""
    _, text = emitted("variance, one row a program")
    start = text.index("    for y_start in tl.range(0, y_size - 15, 16):")
    tail, end = text.index("    if not even and y_size % 16 != 0:"), text.index("    tl.store(")
    body = text[tail:end].split("\n", 2)[2]
    body = body.replace("mean_sum / tl.cast(y_size, real)", f"mean_sum / tl.cast({count}, real)")
    return f"{text[:start]}    {head}\n{body}{text[end:]}"


@pytest.mark.sampled
@pytest.mark.parametrize("head", IN_ONE_LOOP)
def test_a_loop_by_hand_with_a_mask(head: str) -> None:
    program, _ = emitted("variance, one row a program")
    report = verify(program, in_one_loop(head, "tl.minimum(y_start + 16, y_size)"), seconds=60)
    assert (report.verdict is LayerVerdict.PROVED) is IN_ONE_LOOP[head]


def test_a_mean_of_elements_behind_the_end_is_not_proved() -> None:
    program, _ = emitted("variance, one row a program")
    text = in_one_loop(next(iter(IN_ONE_LOOP)), "y_start + 16")
    assert verify(program, text, seconds=60).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
def test_tiles_through_a_descriptor() -> None:
    """Its loads have a mask of their own, in a branch."""
    given = (ROOT / "examples/wide_layer_norm.dt").read_text()
    asked = given.replace("compile();", "descriptor(X);\nwide_layer_norm.compile();")
    program = load(Source("f.dt", asked))
    text = text_of(program)
    assert "X_blocks.load" in text
    assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED
