"""`dtpoly ship`, `dtpoly explore --ship` and `dtpoly explain --tuned`: schedules to keep."""

from pathlib import Path

import pytest

from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.store.results import Proven, Result, TextProof
from tests.cli.conftest import Entry
from tests.explore.texts import SPACE
from tests.tuned.test_calls import ALGORITHM, OWN, TUNED

SMALL = "x=64,y=512"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "softmax.dt").write_text(ALGORITHM.replace("{schedule}", OWN))
    (tmp_path / "tuned.dts").write_text(TUNED)
    (tmp_path / "space.dt").write_text(SPACE)
    return tmp_path


@pytest.mark.long
def test_what_is_measured_is_shipped_and_merged(folder: Path, call: Entry) -> None:
    results, kept = folder / "run.sqlite", folder / "kept.dts"
    explore = ("explore", str(folder / "space.dt"), "--simulate", "--verify", "-o", str(results))
    for size in (SMALL, "x=64,y=2048"):
        code, _, err = call(*explore, "--size", size, "--ship", str(kept))
        assert (code, err.splitlines()[-1]) == (0, f"wrote {kept}")
    text = kept.read_text()
    # A simulated device likes the same schedule at all sizes.
    assert "    # for simulated, f32: x = 64, y = 512..2048\n" in text
    assert 'algorithm "space.dt";' in text
    assert text.count("ms at x = 64, y = ") == 2
    assert call("check", str(kept), "--point", "block=1")[0] == 0
    assert call("fmt", "--check", str(kept))[0] == 0
    # All of it is in the results, and nothing is said twice.
    code, _, err = call("ship", str(results), "-o", str(kept))
    assert code == 0
    assert kept.read_text() == text
    assert err.count("space.dt: x = 64, y = ") == 2


@pytest.mark.long
def test_what_is_not_proved_is_not_shipped(folder: Path, call: Entry) -> None:
    results, kept = folder / "run.sqlite", folder / "kept.dts"
    file = str(folder / "space.dt")
    code, _, _ = call("explore", file, "--size", SMALL, "--simulate", "-o", str(results))
    assert code == 0
    where = ("-o", str(kept), "--algorithm", file)
    code, _, err = call("ship", str(results), *where)
    assert code == 1
    assert "nothing that is proved has a time" in err
    assert not kept.exists()
    store = open_store(results)
    program = store.questions()[1].asked.program_hash
    times = {row.point: row.result for row in store.results(1)}
    ranked = sorted(times, key=lambda point: _median(times[point]))
    # The second best is the best that is proved.
    store.keep_proof(program, times[ranked[0]].text_hash, TextProof(Proven.UNKNOWN))
    store.keep_proof(program, times[ranked[1]].text_hash, TextProof(Proven.PROVED))
    store.close()
    assert call("ship", str(results), *where)[0] == 0
    words = kept.read_text().replace(",\n   ", ";").replace("\n", " ")
    assert ranked[1].rstrip(";") in words


def _median(result: Result) -> float:
    assert result.median is not None
    return result.median


def test_a_new_file_has_to_be_about_something(folder: Path, call: Entry) -> None:
    results = folder / "run.sqlite"
    open_store(results).close()
    code, _, err = call("ship", str(results), "-o", str(folder / "new.dts"))
    assert code == 2
    assert "--algorithm" in err


@pytest.mark.long
def test_results_of_another_algorithm_are_left_out(folder: Path, call: Entry) -> None:
    results = folder / "run.sqlite"
    call("explore", str(folder / "space.dt"), "--size", SMALL, "--simulate", "-o", str(results))
    before = (folder / "tuned.dts").read_text()
    (folder / "softmax.dt").write_text(ALGORITHM.replace("{schedule}", OWN).replace("rsum", "rmax"))
    code, _, err = call("ship", str(results), "-o", str(folder / "tuned.dts"))
    assert code == 1
    assert "it is about another algorithm" in err
    assert (folder / "tuned.dts").read_text() == before


def test_explain_says_which_schedule_a_call_takes(folder: Path, call: Entry) -> None:
    file, tuned = str(folder / "softmax.dt"), str(folder / "tuned.dts")
    there = ("--tuned", tuned, "--on", "NVIDIA H200")
    code, out, err = call("explain", file, *there, "--size", "x=4,y=100")
    assert code == 0
    assert err == "taken: NVIDIA H200, f32: x = 4, y = 16; y = 100 is far from 16\n"
    assert "block(x:4)" in out
    code, _, err = call("explain", file, "--tuned", tuned, "--size", "x=4,y=100")
    assert code == 2
    assert "has schedules for" in err
    code, _, err = call("explain", file, *there, "--size", "x=4")
    assert code == 2
    assert "the size of 'y' must be passed" in err
