"""Tests which words about the cache are proved."""

import pytest

from dtpoly.verify.proof.verify import LayerVerdict, verify
from tests.codegen.streaming import PROGRAMS
from tests.verify.texts import ROOT, changed, text_of, written

SOFTMAX = written((ROOT / "examples/softmax.dt").read_text() + "softmax.stream(A);")
RAGGED = written(
    (ROOT / "examples/ragged_matmul.dt").read_text() + "lines.stream(A); columns.stream(B);"
)
LOADED = 'eviction_policy="evict_first"'


@pytest.mark.sampled
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_is_proved(name: str) -> None:
    program = written(PROGRAMS[name][0])
    assert verify(program, text_of(program), seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.long
def test_examples_are_proved() -> None:
    for program, loads in ((SOFTMAX, 4), (RAGGED, 2)):
        text = text_of(program)
        assert text.count(LOADED) == loads
        assert verify(program, text, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize(
    "said",
    [
        'eviction_policy="evict_last"',
        'eviction_policy=""',
        'eviction_policy="evict_first", cache_modifier=".cg"',
        'cache_modifier=".ca"',
    ],
)
def test_other_words_that_there_are(said: str) -> None:
    text = changed(text_of(SOFTMAX), LOADED, said)
    assert verify(SOFTMAX, text, seconds=60).verdict is LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize(
    "said",
    [
        'eviction_policy="evict_second"',
        "eviction_policy=0",
        "eviction_policy=None",
        "eviction_policy=A_ptr",
        'eviction_policy="evict_first" if even else ""',
        'cache_modifier=".xy"',
        "volatile=True",
        'boundary_check=(0,), eviction_policy="evict_first"',
    ],
)
def test_words_that_there_are_not(said: str) -> None:
    text = changed(text_of(SOFTMAX), LOADED, said)
    assert verify(SOFTMAX, text, seconds=60).verdict is LayerVerdict.UNKNOWN


def test_a_word_without_its_name() -> None:
    text = changed(text_of(SOFTMAX), "mask=x_mask[:, None]", "x_mask[:, None]")
    text = changed(text, "other=0.0", "0.0")
    assert verify(SOFTMAX, text, seconds=60).verdict is LayerVerdict.PROVED
    text = changed(text, LOADED, '(), "", "", "evict_first"')
    assert verify(SOFTMAX, text, seconds=60).verdict is LayerVerdict.UNKNOWN


def test_a_mask_is_still_looked_at() -> None:
    mask = "mask=x_mask[:, None] & y_mask[None, :],"
    text = changed(text_of(SOFTMAX), mask, "mask=x_mask[:, None],")
    assert verify(SOFTMAX, text, seconds=60).verdict is LayerVerdict.REFUTED
