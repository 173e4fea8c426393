"""Workers of a cluster share one run; one that is lost with its machine loses no result."""

import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dtpoly.explore.bench.simulated import MEASURED
from dtpoly.explore.store.result_store import open_store
from dtpoly.explore.workers.on_ray import Host, RayWorker, on_ray
from dtpoly.explore.workers.process import Gone, NoAnswer, NotOpened
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.explore.workers.workers import RunPlace
from tests.explore.simulation import few, question_of
from tests.explore.texts import SPACE

PLACE = RunPlace("simulated", question_of(few()).asked)


# Seconds that each point takes at least: on a busy machine a run may be over before there is a
# second worker.
PAUSES = (0.05, 1, 5)


@pytest.mark.long
@pytest.mark.skipif(find_spec("ray") is None, reason="Ray is not installed")
def test_two_workers_of_a_cluster_share_a_run(tmp_path: Path) -> None:
    assert any(workers_of_a_run(tmp_path / str(pause), pause) >= 2 for pause in PAUSES)


def workers_of_a_run(folder: Path, pause: float) -> int:
    """Return how many measured a point; each point is measured once, though one of them is lost."""
    folder.mkdir()
    file = folder / "softmax.dt"
    file.write_text(SPACE)
    command = [
        *(sys.executable, "-m", "dtpoly", "explore", str(file), "--size", "x=64,y=512"),
        *("--simulate", "--ray", "local", "--workers", "2", "--pause", str(pause)),
        *("--notes", str(folder), "-o", str(folder / "run.sqlite"), "--json"),
        *("--fault", "kill-host-once=*x:4)*y:64)*", "--fault", "crash=*x:2)*y:64)*"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["outcomes"] == {"measured": 5, "crashed": 1}
    assert document["ended"] == "whole"
    lines = (folder / MEASURED).read_text().splitlines()
    points = [line.partition(" ")[2] for line in lines]
    assert len(points) == len(set(points)) == 5
    assert [*folder.glob("killed-*")]
    store = open_store(folder / "run.sqlite")
    assert len(store.results(1)) == 6
    store.close()
    return len({line.partition(" ")[0] for line in lines})


class GetTimeoutError(Exception):
    """A stand-in for Ray's exception."""


class RayError(Exception):
    """A stand-in for Ray's exception."""


ERRORS = SimpleNamespace(GetTimeoutError=GetTimeoutError, RayError=RayError)


@dataclass
class Ray:
    """A cluster that is none: answers of actors, or what goes wrong, one after the other."""

    answers: list[Message | Exception]
    resources: Mapping[str, float] = field(default_factory=dict[str, float])
    exceptions: Any = field(default_factory=lambda: ERRORS)
    made: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    killed: int = 0

    def remote(self, **needs: object) -> Any:
        self.made.append(needs)

        def method(*_: object) -> None:
            return None

        actor = SimpleNamespace(
            open=SimpleNamespace(remote=method), do=SimpleNamespace(remote=method)
        )

        def of(cls: type) -> Any:
            assert cls is Host

            def start(*_: object) -> SimpleNamespace:
                return actor

            return SimpleNamespace(remote=start)

        return of

    def get(self, _: object, timeout: float) -> Message:
        assert timeout > 0
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def kill(self, actor: object) -> None:
        assert actor is not None
        self.killed += 1

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> Mapping[str, float]:
        return self.resources


SAID: Message = {"said": {"facts": {}, "failed": {}}}


def test_an_actor_that_is_lost_is_replaced() -> None:
    ray = Ray([SAID, RayError("the actor\n died"), SAID, {"answer": {"outcome": "measured"}}])
    worker = RayWorker(ray, PLACE)
    worker.open()
    assert worker.do({}, 1.0) == Gone(NoAnswer.KILLED, "its machine was lost: the actor died")
    assert not worker.is_open
    worker.open()
    assert worker.do({}, 1.0) == {"outcome": "measured"}
    assert len(ray.made) == 2
    assert ray.killed == 1


def test_a_machine_that_does_not_answer_is_given_up() -> None:
    ray = Ray([SAID, GetTimeoutError(), SAID, {"how": "hung", "reason": "in time"}, SAID])
    worker = RayWorker(ray, PLACE)
    worker.open()
    found = worker.do({}, 1.0)
    assert isinstance(found, Gone)
    assert found.how is NoAnswer.HUNG
    worker.open()
    # Its process hung, and the actor is there for another one.
    assert worker.do({}, 1.0) == Gone(NoAnswer.HUNG, "in time")
    assert not worker.is_open
    worker.open()
    assert len(ray.made) == 2


def test_what_cannot_be_opened_is_told() -> None:
    worker = RayWorker(Ray([{"failure": "no GPU"}]), PLACE)
    with pytest.raises(NotOpened, match="no GPU"):
        worker.open()
    worker = RayWorker(Ray([RayError("gone")]), PLACE)
    with pytest.raises(NotOpened, match=r"no machine of the cluster took it: .*gone"):
        worker.open()
    worker.end()
    with pytest.raises(NotOpened, match="ended"):
        worker.open()


def test_there_is_a_worker_for_each_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    ray = Ray([SAID], {"GPU": 3.0})
    monkeypatch.setitem(sys.modules, "ray", ray)
    workers = on_ray(RunPlace("cuda", PLACE.asked), None, "somewhere:6379")
    assert len(workers) == 3
    workers[0].open()
    assert ray.made == [{"max_restarts": 0, "num_gpus": 1.0, "num_cpus": 1.0}]
    ray.resources = {}
    with pytest.raises(NotOpened, match="has no GPU"):
        on_ray(RunPlace("cuda", PLACE.asked), None, "somewhere:6379")
