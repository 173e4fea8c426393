"""A worker answers, or it is known why not; the next job finds a worker."""

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtpoly.explore.bench.bench import Candidate
from dtpoly.explore.store.results import FunctionCall, Outcome
from dtpoly.explore.workers.process import Gone, NoAnswer, NotOpened, Process
from dtpoly.explore.workers.servants import job_of, result_of
from dtpoly.explore.workers.socket_messages import Message
from tests.explore.simulation import simulated

FAULTS = {"*hang*": "hang", "*crash*": "crash", "*once*": "kill-once", "*wrong*": "wrong"}


@pytest.fixture
def worker(tmp_path: Path) -> Iterator[Process]:
    made = simulated(FAULTS, tmp_path)
    yield made
    made.end()
    made.close()


def answer_of(worker: Process, point: str, seconds: float = 20.0) -> Message | Gone:
    """Both steps of a job, as a crew does them."""
    candidate = Candidate(point, {"x": "4"}, "", "hash", FunctionCall("f", "f"))
    first, second = job_of(candidate, None)
    if not worker.is_open:
        worker.open()
    answer = worker.do(first, seconds)
    is_ready = not isinstance(answer, Gone) and "is_ready" in answer
    return worker.do(second, seconds) if is_ready else answer


def outcome(worker: Process, point: str) -> Outcome | NoAnswer:
    answer = answer_of(worker, point)
    return answer.how if isinstance(answer, Gone) else result_of(answer).outcome


def test_it_says_what_it_is(worker: Process) -> None:
    said = worker.open()
    assert said == {"facts": {"device": "simulated", "versions": {}}, "failed": {}}


def test_one_that_hangs_is_ended_and_replaced(worker: Process) -> None:
    assert outcome(worker, "good") is Outcome.MEASURED
    assert worker.running is not None
    first = worker.running.process
    answer = answer_of(worker, "hang", 0.3)
    assert answer == Gone(NoAnswer.HUNG, "it had not finished after 0.3 s")
    assert first.returncode == -signal.SIGKILL
    assert outcome(worker, "good") is Outcome.MEASURED


def test_one_that_crashes_is_replaced(worker: Process) -> None:
    answer = answer_of(worker, "crash", 20.0)
    assert isinstance(answer, Gone)
    assert answer.how is NoAnswer.CRASHED
    assert "SIGSEGV" in answer.reason
    assert outcome(worker, "good") is Outcome.MEASURED


def test_one_that_somebody_kills_is_known_as_such(worker: Process) -> None:
    assert outcome(worker, "once") is NoAnswer.KILLED
    assert outcome(worker, "once") is Outcome.MEASURED


def test_what_is_wrong_is_an_answer(worker: Process) -> None:
    answer = answer_of(worker, "wrong", 20.0)
    assert not isinstance(answer, Gone)
    result = result_of(answer)
    assert (result.outcome, result.median) == (Outcome.WRONG, None)
    assert result.error == float("inf")


def test_a_bug_of_ours_ends_no_worker(worker: Process) -> None:
    worker.open()
    answer = worker.do({"candidate": {}}, 20.0)
    assert answer == Gone(NoAnswer.FAILED, "KeyError: 'call'")
    assert outcome(worker, "good") is Outcome.MEASURED


def test_one_that_cannot_be_opened_says_why() -> None:
    worker = Process({"kind": "simulated", "settings": {"unknown": 1}})
    with pytest.raises(NotOpened, match="unknown"):
        worker.open()
    assert not worker.is_open


def test_one_that_ends_while_it_is_opened_says_its_last_words() -> None:
    worker = Process({"kind": "simulated", "settings": {}}, {"PYTHONHOME": "/nowhere"})
    with pytest.raises(NotOpened, match="Python"):
        worker.open()


def test_it_can_be_ended_from_another_thread(worker: Process) -> None:
    worker.open()
    threading.Timer(0.2, worker.end).start()
    begin = time.monotonic()
    answer = answer_of(worker, "hang", 60.0)
    assert isinstance(answer, Gone)
    assert time.monotonic() - begin < 30
    assert worker.running is None


def test_it_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        worker = simulated({"*": "hang"}, tmp_path)
        worker.open()
        assert worker.running is not None
        os.write(writer, f"{worker.running.process.pid}\n".encode())
        answer_of(worker, "hang", 60.0)
        os._exit(1)
    number = int(os.read(reader, 20))
    time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    until = time.monotonic() + 20
    while is_alive(number) and time.monotonic() < until:
        time.sleep(0.02)
    assert not is_alive(number)
    os.close(reader)
    os.close(writer)


def is_alive(number: int) -> bool:
    """Return whether there is such a process; one that nobody waited for is none."""
    try:
        state = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
