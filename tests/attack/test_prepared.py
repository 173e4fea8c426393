"""Folders for a machine with a GPU; here the interpreter is in its place."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.attack.case import Case
from tests.attack.folder import loaded, numbers_in, path_of, save
from tests.attack.gpu import PREPARED, UNFINISHED, main
from tests.attack.outcome import Verdict
from tests.attack.prepare import Wanted, kernel, operations
from tests.attack.prepared import judged
from tests.attack.record import record_at

HERE = replace(PREPARED, is_interpreted=True)
# What the interpreter computes as a GPU does.
TYPES = ("f16", "f32", "i8", "i16")


def kernels(count: int) -> Iterator[tuple[Case, Wanted]]:
    """Yield this many kernels, in types that the interpreter computes as a GPU does."""
    made = (kernel(seed, ()) for seed in range(100))
    there = (one for one in made if one is not None)
    for _ in range(count):
        yield next(there)


@pytest.mark.long
def test_what_is_prepared_is_what_happens() -> None:
    every = [*kernels(5), *((case, wanted) for case, wanted, _ in operations(0, TYPES))]
    outcomes = [judged(case, wanted) for case, wanted in every]
    assert [one.what for one in outcomes if one.verdict is Verdict.WRONG] == []
    assert sum(one.figures["outputs"] for one in outcomes) >= 40


def test_another_result_is_seen() -> None:
    ((case, wanted),) = kernels(1)
    assert judged(case, another(wanted)).verdict is Verdict.WRONG


def another(wanted: Wanted) -> Wanted:
    """Other results, which have to be right to the last bit."""
    return {
        name: one + 1 if name.endswith("data") else np.zeros_like(one)
        for name, one in wanted.items()
    }


def test_a_case_is_read_as_it_was_written(tmp_path: Path) -> None:
    (case, wanted), *_ = kernels(1)
    path = path_of(tmp_path, 12)
    save(path, case, wanted)
    assert numbers_in(tmp_path) == [12]
    again, found = loaded(path)
    assert again.text == case.text
    assert again.shown() == case.shown()
    assert found.keys() == wanted.keys()
    for name, one in wanted.items():
        assert found[name].dtype == one.dtype
        np.testing.assert_array_equal(found[name], one)


@pytest.mark.long
def test_a_folder_is_checked_and_a_run_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, kept = tmp_path / "folder", tmp_path / "kept"
    folder.mkdir()
    for number, (case, wanted) in enumerate(kernels(3)):
        save(path_of(folder, number), case, another(wanted) if number == 2 else wanted)
    words = [str(folder), "--record", str(kept), "--workers", "2"]
    # At the very end nothing is waited for, and nothing is kept that is not known.
    assert main([*words, "--seconds", "0.01"], HERE) == UNFINISHED
    assert "0 of 3 cases are checked" in capsys.readouterr().out
    assert main(words, HERE) == 1
    assert "3 of 3 cases are checked" in capsys.readouterr().out
    verdicts = {
        one.seed: one.outcome.verdict for one in record_at(kept / "prepared.jsonl").entries.values()
    }
    assert verdicts[2] is Verdict.WRONG
    assert Verdict.WRONG not in (verdicts[0], verdicts[1])
    assert numbers_in(folder) == [0, 1, 2]
