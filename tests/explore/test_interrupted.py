"""Whenever a run is interrupted or killed, the same command goes on, and nothing is lost."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from dtpoly.explore.bench.simulated import MEASURED
from dtpoly.explore.store.result_store import open_store
from tests.cli.process import ended
from tests.explore.texts import SPACE

POINTS, WORKERS = 40, 2
MORE = SPACE.replace("{2, 4}", "{1, 2, 4, 8}").replace("{16, 32, 64}", "{1..512 *2}")


def command(folder: Path, *more: str) -> list[str]:
    return [
        *(sys.executable, "-m", "dtpoly", "explore", str(folder / "softmax.dt")),
        *("--size", "x=64,y=512", "--simulate", "--notes", str(folder), "--pause", "0.01"),
        *("--workers", str(WORKERS)),
        *("-o", str(folder / "run.sqlite"), *more),
    ]


def known(folder: Path) -> dict[str, float | None]:
    """Return what is in the file; nothing if there is none yet."""
    path = folder / "run.sqlite"
    if not path.exists():
        return {}
    store = open_store(path)
    numbers = [*store.questions()]
    found = {row.point: row.result.median for row in (store.results(1) if numbers else ())}
    assert store.connection.execute("pragma integrity_check").fetchone() == ("ok",)
    store.close()
    return found


# What Python says of an interruption before it runs any code of dtpoly: on a busy machine its own
# start takes longer than the shortest of the times that are waited for.
PYTHON_STARTS = "Fatal Python error: init"


@pytest.mark.long
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGKILL])
def test_at_some_moments(tmp_path: Path, sign: signal.Signals) -> None:
    goes_on(tmp_path, sign, 2)


@pytest.mark.long
@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_at_many_moments(tmp_path: Path, sign: signal.Signals) -> None:
    goes_on(tmp_path, sign, 25)


def goes_on(tmp_path: Path, sign: signal.Signals, often: int) -> None:
    """Send a signal at random moments of runs on one file."""
    (tmp_path / "softmax.dt").write_text(MORE)
    # Texts need not be made while it is interrupted: they take longer than all else.
    subprocess.run(command(tmp_path, "--emit"), check=True, capture_output=True)
    draw = random.Random(sign)
    before: dict[str, float | None] = {}
    codes: list[int] = []
    for _ in range(often):
        started = subprocess.Popen(
            command(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        with ended(started) as process:
            time.sleep(draw.uniform(0.1, 1.6))
            process.send_signal(sign)
            _, err = process.communicate(timeout=60)
        if err.startswith(PYTHON_STARTS):
            continue
        assert "Traceback" not in err
        codes.append(process.returncode)
        now = known(tmp_path)
        # What was there is there, as it was.
        assert before.items() <= now.items()
        before = now
    # Python itself may not be ready yet, or all be over.
    assert set(codes) <= {130, -sign, 0}
    subprocess.run(command(tmp_path), check=True, capture_output=True)
    last = known(tmp_path)
    assert before.items() <= last.items()
    assert len(last) == POINTS
    lines = (tmp_path / MEASURED).read_text().splitlines()
    times = Counter(line.partition(" ")[2] for line in lines)
    assert set(times) == set(last)
    # Each time a worker may have had one under way, and one whose time was not stored yet.
    assert sum(times.values()) <= POINTS + 2 * WORKERS * len(codes)
