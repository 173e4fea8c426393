"""Tests that no candidate ends a run, and that known results are never measured again."""

import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

import pytest

from dtpoly.explore.run.progress import Snapshot
from dtpoly.explore.run.stopping import NoWorkers
from dtpoly.explore.space.search_view import Point
from dtpoly.explore.store.results import Outcome
from dtpoly.explore.strategies.choice import chosen
from dtpoly.explore.strategies.strategy import StrategySetting
from dtpoly.explore.workers.crew import Crew, Done, Event, JobLimits
from dtpoly.explore.workers.process import Gone, Process, Turn
from dtpoly.explore.workers.socket_messages import Message
from tests.explore.fields import softmax
from tests.explore.simulation import Simulation, points_of, simulated

FAULTS = {
    "*x:4)*y:32)*warps(1)*": "hang",
    "*x:4)*y:64)*warps(1)*": "crash",
    "*x:4)*y:64)*warps(2)*": "kill-once",
    "*x:8)*y:32)*warps(1)*": "wrong",
    "*x:8)*y:32)*warps(2)*": "fail",
    "*x:8)*y:128)*": "refuse",
}
COUNTS = {
    Outcome.MEASURED: 11,
    Outcome.HUNG: 1,
    Outcome.CRASHED: 1,
    Outcome.WRONG: 1,
    Outcome.FAILED: 1,
    Outcome.REFUSED: 3,
}


@pytest.fixture
def simulation(tmp_path: Path) -> Simulation:
    return Simulation(tmp_path)


@pytest.mark.long
def test_nothing_that_a_candidate_does_ends_a_run(simulation: Simulation) -> None:
    simulation.faults = FAULTS
    seen: list[Snapshot] = []
    ended = simulation.run(tell=seen.append)
    assert ended.is_whole
    assert ended.snapshot.outcomes == COUNTS
    assert ended.snapshot.looked_at == 18
    assert ended.snapshot.tried == 15
    found = simulation.results()
    assert len(found) == 18
    reasons = {one.outcome: one.reason for one in found.values()}
    assert "SIGSEGV" in reasons[Outcome.CRASHED]
    assert "had not finished" in reasons[Outcome.HUNG]
    assert "is nan" in reasons[Outcome.WRONG]
    assert all((one.median is not None) is one.is_timed for one in found.values())
    assert ended.snapshot.best == min(one.median for one in found.values() if one.median)
    assert seen[-1].outcomes == ended.snapshot.outcomes
    assert [one.looked_at for one in seen] == sorted(one.looked_at for one in seen)


@pytest.mark.long
def test_what_is_known_is_not_measured_again(simulation: Simulation) -> None:
    simulation.faults = FAULTS
    first = simulation.run("random", most=8)
    assert first.snapshot.tried == 8
    again = simulation.run("random", most=8)
    assert again.snapshot.known == again.snapshot.looked_at == first.snapshot.looked_at
    for strategy in ("exhaustive", "evolution", "cost"):
        last = simulation.run(strategy)
        assert last.snapshot.outcomes == COUNTS
    assert last.snapshot.known == 18
    measured = simulation.measured()
    assert len(measured) == len(set(measured)) == 11


@pytest.mark.long
def test_several_workers_share_a_run(simulation: Simulation) -> None:
    simulation.workers = [simulated(FAULTS, simulation.folder) for _ in range(3)]
    assert simulation.run("evolution").snapshot.outcomes == COUNTS
    assert len(set(simulation.measured())) == len(simulation.measured()) == 11


@pytest.mark.long
def test_two_runs_on_one_file_share_the_points(simulation: Simulation) -> None:
    child = os.fork()
    simulation.workers = [simulated({}, simulation.folder, pause=0.02)]
    if not child:
        simulation.run()
        os._exit(0)
    ended = simulation.run("random")
    _, status = os.waitpid(child, 0)
    assert status == 0
    assert ended.snapshot.looked_at == 18
    assert 0 < ended.snapshot.known < 18
    measured = simulation.measured()
    assert len(measured) == len(set(measured)) == 18


def test_a_worker_that_is_killed_loses_nothing(simulation: Simulation) -> None:
    worker = simulated({}, simulation.folder, pause=0.02)
    simulation.workers = [worker]
    killed: dict[int, int] = {}  # when, and who

    def kill(now: Snapshot) -> None:
        if now.looked_at in (3, 8, 12) and worker.running is not None:
            number = worker.running.process.pid
            if now.looked_at not in killed and number not in killed.values():
                killed[now.looked_at] = number
                os.kill(number, signal.SIGKILL)

    ended = simulation.run(tell=kill)
    assert len(killed) == 3
    assert ended.snapshot.outcomes == {Outcome.MEASURED: 18}


def test_hopeless_ones_are_stopped_early(simulation: Simulation) -> None:
    ended = simulation.run(slow=1.5)
    found = simulation.results().values()
    best = ended.snapshot.best
    assert best is not None
    slow = [one for one in found if one.outcome is Outcome.SLOW]
    assert slow
    assert all(one.samples == 1 and (one.median or 0) > 1.5 * best for one in slow)
    # Those that came before the best one was known have all their samples.
    assert all(one.samples == 5 for one in found if one.outcome is Outcome.MEASURED)


@pytest.mark.long
def test_when_no_worker_can_be_had_the_run_ends(simulation: Simulation) -> None:
    simulation.workers = [Process({"kind": "simulated", "settings": {"unknown": 1}})]
    with pytest.raises(NoWorkers, match=r"no worker left: TypeError.*unknown"):
        simulation.run()
    assert simulation.results() == {}


def test_texts_are_emitted_once(simulation: Simulation) -> None:
    # The last one has more rows in a block than a program may have lanes.
    simulation.space = softmax(x=("1", "3"), y=("32",), warps=("1", "3"))
    ended = simulation.run(emits=False)
    refused = {one.reason for one in simulation.results().values() if not one.is_timed}
    assert ended.snapshot.outcomes == {Outcome.MEASURED: 2, Outcome.REFUSED: 2}
    assert all("num_warps" in reason for reason in refused)
    store = simulation.store(emits=False)
    program = store.questions()[1].asked.program_hash
    for point in points_of(simulation.space):
        assert store.emitted(program, simulation.space.short(point)) is not None
    store.close()


def test_a_budget_counts_what_was_tried_before(simulation: Simulation) -> None:
    assert simulation.run("random", most=10).snapshot.tried == 10
    assert len(simulation.measured()) == 10
    ended = simulation.run("random", most=15)
    assert (ended.snapshot.tried, ended.snapshot.known) == (15, 10)
    assert len(simulation.measured()) == 15


def test_ctrl_c_keeps_what_was_done(simulation: Simulation) -> None:
    simulation.workers = [simulated({}, simulation.folder, pause=0.02)]
    before = signal.getsignal(signal.SIGINT)

    pressed: list[int] = []

    def press(now: Snapshot) -> None:
        # It may be told twice that seven are known; a second Ctrl-C would not wait.
        if now.looked_at == 7 and not pressed:
            pressed.append(now.looked_at)
            os.kill(os.getpid(), signal.SIGINT)

    ended = simulation.run(tell=press)
    assert ended.is_interrupted
    assert not ended.is_whole
    assert 7 <= len(simulation.results()) < 18
    assert signal.getsignal(signal.SIGINT) is before
    simulation.workers = ()
    assert simulation.run().snapshot.looked_at == 18
    # One that was under way may be measured twice; what was kept never is.
    measured = simulation.measured()
    assert len(set(measured)) == 18
    assert len(measured) <= 19


@pytest.mark.long
def test_what_is_asked_does_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    def points(workers: int) -> set[str]:
        folder = tmp_path / str(workers)
        folder.mkdir()
        simulation = Simulation(folder, softmax())
        simulation.workers = [simulated({}, folder) for _ in range(workers)]
        simulation.run("evolution", most=20)
        return {*simulation.results()}

    assert points(1) == points(3)


@dataclass
class Stub:
    """Becomes ready only while another one does, too; counts how many measure at once."""

    turn: Turn
    both: threading.Barrier
    busy: list[int]
    wanted: Message | None = None
    is_open: bool = True

    def open(self) -> Message:
        return {}

    def do(self, job: Message, seconds: float) -> Message | Gone:
        if job["step"] == "prepare":
            self.both.wait()
            return {"is_ready": True}
        self.busy.append(self.busy[-1] + 1)
        time.sleep(0.02)
        self.busy.append(self.busy[-1] - 1)
        return {"time": 1.0}

    def end(self) -> None:
        return

    def close(self) -> None:
        return


def test_workers_of_one_device_take_turns_in_measuring() -> None:
    both, turn, busy = threading.Barrier(2, timeout=20), threading.Lock(), [0]
    workers = [Stub(turn, both, busy) for _ in range(2)]
    events: SimpleQueue[Event] = SimpleQueue()
    crew = Crew("devices", workers, events)
    crew.begin()
    for at in range(6):
        crew.give(str(at), {"step": "prepare"}, {"step": "measure"})
    found = [events.get(timeout=20) for _ in range(6)]
    crew.end()
    assert all(isinstance(one, Done) and one.answer == {"time": 1.0} for one in found)
    assert max(busy) == 1


def test_limits_follow_what_jobs_take() -> None:
    limits = JobLimits(floor=2.0, factor=10.0)
    assert limits.now() == 2.0
    limits.took.extend([0.1, 0.1, 0.1])
    assert limits.now() == 2.0
    limits.took.extend([3.0] * 5)
    assert limits.now() == 30.0


def test_a_strategy_that_fails_stops_the_workers(simulation: Simulation) -> None:
    class Failing:
        """Asks for one point, and then fails."""

        def __init__(self) -> None:
            self.inner = chosen("exhaustive")(StrategySetting(simulation.space))

        def ask(self, count: int) -> list[Point]:
            return [*self.inner.ask(1)]

        def tell(self, point: Point, time: float | None) -> None:
            raise ValueError("planted")

    begin = time.monotonic()
    with pytest.raises(ValueError, match="planted"):
        simulation.run(Failing())
    assert time.monotonic() - begin < 30
    assert not [t for t in threading.enumerate() if t.name.startswith("Thread-") and not t.daemon]
    # What came before it failed is kept.
    assert len(simulation.results()) >= 1


FULL = """
import resource, sys
from pathlib import Path
from tests.explore.simulation import Simulation
from dtpoly.explore.store.database import StoreError

simulation = Simulation(Path(sys.argv[1]))
simulation.store().close()
size = simulation.path.stat().st_size + 4096
resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    simulation.run()
except StoreError as error:
    print(error)
"""


@pytest.mark.long
def test_a_full_disk_ends_a_run_that_goes_on_later(simulation: Simulation) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(simulation.folder)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "the disk is full" in done.stdout, done.stderr
    kept = simulation.results()
    assert 0 < len(kept) < 18
    assert simulation.run().snapshot.known == len(kept)
    assert kept.items() <= simulation.results().items()
    assert len(simulation.results()) == 18
