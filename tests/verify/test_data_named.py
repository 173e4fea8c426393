"""Where no values are compared, data are unknown numbers: what is proved, and what is not."""

from pathlib import Path
from random import Random

import pytest

from dtpoly.checking import check
from dtpoly.cli.without_algorithm import STRUCTURE, algorithm_of
from dtpoly.ring.ring_memory import OutsideError, RaceError
from dtpoly.source import Source
from dtpoly.verdict_table import claims
from dtpoly.verify.proof.report import LayerVerdict, Report, as_json, from_json
from dtpoly.verify.proof.verify import verify
from tests.verify.kernels_of_data import (
    COUNTS,
    GATHER,
    KERNELS,
    MASKED,
    RAGGED,
    DataKernel,
)
from tests.verify.running_data import declared, run_watched
from tests.verify.wrong_for_data import RIGHT_FOR_DATA, WRONG_FOR_DATA

CHANGES = [(name, at) for name, one in KERNELS.items() for at in range(len(one.changes))]
# Masks that are false where exact numbers would make them true, or the other way round.
WRAPPING = (
    "(t - 1 >= -1) & (t < v)",
    "(t * 2 >= 0) & (t < v)",
    "(t >= 0) & (t + 5 < v)",
    "(-t <= 0) & (t < v)",
    "(t >= 0) & (t.to(tl.uint32).to(tl.int64) < v)",
    "(t >= 0) & ((t ^ 1) < v)",
)
# Sizes by label: each label that a kernel has is here, and those that belong together fit.
SIZES = (
    {"r": 5, "v": 7, "n": 6, "b": 4, "s": 3, "m": 3, "g": 4, "t": 48, "d": 5},
    {"r": 17, "v": 19, "n": 40, "b": 6, "s": 5, "m": 2, "g": 3, "t": 32, "d": 3},
)


def proof_of_text(text: str) -> Report:
    """Return what is proved of a kernel without an algorithm."""
    made = check(Source("k.py", algorithm_of(declared(text))))
    assert made.program is not None
    return verify(made.program, text, only=STRUCTURE, seconds=30)


@pytest.mark.parametrize("name", KERNELS)
def test_a_right_kernel_is_proved(name: str) -> None:
    kernel = KERNELS[name]
    report = proof_of_text(kernel.text)
    assert report.verdict is LayerVerdict.PROVED
    assert {bool(one.claim) for one in report.layers if one.name == "stores"} == {kernel.is_less}


@pytest.mark.sampled
@pytest.mark.parametrize(("name", "at"), CHANGES)
def test_a_wrong_kernel_is_not_proved(name: str, at: int) -> None:
    old, new = KERNELS[name].changes[at]
    assert old in KERNELS[name].text
    report = proof_of_text(KERNELS[name].text.replace(old, new, 1))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("name", WRONG_FOR_DATA)
def test_what_is_wrong_for_some_data_is_not_proved(name: str) -> None:
    assert proof_of_text(WRONG_FOR_DATA[name]).verdict is not LayerVerdict.PROVED


@pytest.mark.sampled
@pytest.mark.parametrize("condition", WRAPPING)
def test_a_mask_that_wraps_is_not_proved(condition: str) -> None:
    old = "(t >= 0) & (t < v)"
    assert old in MASKED.text
    report = proof_of_text(MASKED.text.replace(old, condition))
    assert report.verdict is not LayerVerdict.PROVED


@pytest.mark.parametrize("name", RIGHT_FOR_DATA)
def test_what_is_right_for_all_data_is_proved(name: str) -> None:
    assert proof_of_text(RIGHT_FOR_DATA[name]).verdict is LayerVerdict.PROVED


@pytest.mark.parametrize("name", KERNELS)
def test_a_proved_kernel_touches_only_what_it_may(name: str, tmp_path: Path) -> None:
    for sizes in SIZES:
        for seed in range(3):
            run_watched(KERNELS[name], KERNELS[name].text, sizes, Random(seed), tmp_path)


def test_the_memory_that_watches_finds_what_is_wrong(tmp_path: Path) -> None:
    outside = GATHER.text.replace("t * stride", "(t + 1) * stride")
    # What lies behind a tensor may be another one, which other programs store.
    with pytest.raises((OutsideError, RaceError)):
        _run_often(GATHER, outside, tmp_path)
    twice = RAGGED.text.replace("range(first, last", "range(0, last")
    with pytest.raises(RaceError):
        _run_often(RAGGED, twice, tmp_path)


def _run_often(kernel: DataKernel, text: str, folder: Path) -> None:
    for seed in range(9):
        run_watched(kernel, text, SIZES[1], Random(seed), folder)


def test_a_claim_that_is_less_is_said_in_its_own_words() -> None:
    for kernel, words in ((RAGGED, "at most once"), (COUNTS, "atomic operations alone")):
        report = proof_of_text(kernel.text)
        (said,) = claims(report)
        assert words in said
        assert from_json(as_json(report)) == report
    assert not [*claims(proof_of_text(GATHER.text))]


def test_data_refute_nothing() -> None:
    text = GATHER.text.replace(", 0 <= ids[...] < len(v)", "")
    assert proof_of_text(text).verdict is LayerVerdict.UNKNOWN


@pytest.mark.parametrize(
    "promise",
    [
        "0 <= E[...] < len(v)",
        "0 <= Y[...] < len(v)",
        "0 <= ids[...] < len(v) * len(n)",
        "ids[...] < ids[...]",
        "distinct(Y)",
        "ascending(nothing)",
    ],
)
def test_a_promise_of_something_else_is_refused(promise: str) -> None:
    text = GATHER.text.replace("0 <= ids[...] < len(v)", f"0 <= ids[...] < len(v), {promise}")
    assert proof_of_text(text).verdict is LayerVerdict.UNKNOWN
