"""A run that was stopped goes on: what passed is left out, and what failed runs again."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TESTS = """
from pathlib import Path
import pytest

@pytest.mark.parametrize("case", range(4))
def test_some(case):
    assert case != 2 or Path(__file__).with_name("mended").exists()

def test_skipped():
    pytest.skip("never")
"""


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_run_goes_on(tmp_path: Path, workers: list[str]) -> None:
    path, ended = tmp_path / "test_of_some.py", tmp_path / "made" / "ended.txt"
    path.write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    (tmp_path / "conftest.py").write_text(
        "from tests import resuming\n"
        "pytest_addoption = resuming.add_options\n"
        "pytest_configure = resuming.begin\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]
    command += [str(tmp_path), str(path), "--ended", str(ended), *workers]

    def run() -> str:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        return done.stdout

    assert "1 failed, 3 passed, 1 skipped" in run()
    assert len(ended.read_text().splitlines()) == 4
    found = run()
    assert "1 failed" in found
    assert "passed" not in found
    (tmp_path / "mended").touch()
    assert "1 passed" in run()
    assert len({*ended.read_text().splitlines()}) == 5
    assert "passed" not in run()
