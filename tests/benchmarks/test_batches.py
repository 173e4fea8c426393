"""What rows with the same bits cost: prepared, measured on the CPU, gone on with, and told."""

import json
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.batches import batch_runs
from benchmarks.batches.batch_cases import TINY, prepare
from benchmarks.batches.batch_manifest import BEST, ONE, read_manifest
from dtpoly.explore.devices.devices import find_device


@pytest.fixture
def prepared(tmp_path: Path) -> Path:
    """A folder with the first of the tiny cases."""
    texts = [*prepare(tmp_path, TINY[:1], find_device("h200"))]
    assert [one.kind for one in texts] == [ONE, BEST, BEST]
    assert not texts[0].why_not_proved
    return tmp_path


def test_each_step_goes_on_where_it_was(prepared: Path, tmp_path: Path) -> None:
    output, place = tmp_path / "results.json", ["--device", "cpu"]
    assert not [*prepare(prepared, TINY[:1], find_device("h200"))]
    asked = ["bits", "run", str(prepared), "-o", str(output), *place]
    assert main([*asked, "--seconds", "-1"]) == 0
    assert not output.exists()
    assert main(asked) == 0
    written = json.loads(output.read_text())
    (case,) = written["cases"].values()
    assert set(case["batches"]) == {"2", "5"}
    assert case["same_bits"][ONE]
    assert all(set(one["milliseconds"]) == {ONE, BEST} for one in case["batches"].values())
    assert set(written["machine"]) == {"python", "torch", "triton", "cuda", "device"}
    assert written["command"].startswith("python -m benchmarks")
    # What is there is not measured again.
    found = batch_runs.measure(prepared, output, "cpu", 60.0, "again")
    assert not [*found]
    assert json.loads(output.read_text())["cases"] == written["cases"]


def test_what_fails_is_told_and_tried_again(
    prepared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "results.json"
    (case,) = read_manifest(prepared).values()
    path = prepared / case["texts"][0]["file"]
    text = path.read_text()
    path.write_text("raise ValueError('no')\n")
    asked = ["bits", "run", str(prepared), "-o", str(output), "--device", "cpu"]
    assert main(asked) == 1
    path.write_text(text)
    assert main(asked) == 0
    capsys.readouterr()
    assert main(["bits", "report", str(prepared), "-o", str(output)]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert len(rows) == 4
    assert rows[2].startswith("| row_sum_f32 | 2 | ")
    assert rows[2].endswith(", yes |")


def test_other_machines_have_other_files(prepared: Path, tmp_path: Path) -> None:
    output = tmp_path / "results.json"
    output.write_text(json.dumps({"machine": {"device": "another"}, "cases": {}}))
    with pytest.raises(ValueError, match="another machine"):
        list(batch_runs.measure(prepared, output, "cpu", 60.0, "again"))
