"""Runs workers on the machines of a Ray cluster.

Each worker is an actor that has a process like any other worker. So a candidate that hangs or
crashes does not end the actor. If an actor is lost, with or without its machine, another one does
its job. The results come back to this machine, where the file is.
"""

import os
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from typing import Any

from dtpoly.explore.extras import extra
from dtpoly.explore.workers.process import OPENING, Gone, NoAnswer, NotOpened, Process, Turn, Worker
from dtpoly.explore.workers.socket_messages import Message
from dtpoly.explore.workers.workers import RunPlace
from dtpoly.frozen import dataclass

LOCAL = "local"
GRACE = 30.0  # seconds, for the way over the network
SIMULATED = 2  # workers, if nothing says how many


class Host:
    """The object of an actor, which holds a process on its machine."""

    def __init__(self, opening: Message, environment: Mapping[str, str]) -> None:
        self.process = Process(opening, environment)

    def open(self, wanted: Message | None) -> Message:
        """Open the process; return what it reports of itself, or why it could not be opened."""
        self.process.wanted = wanted
        self.process.close()
        try:
            return {"said": self.process.open()}
        except NotOpened as error:
            return {"failure": str(error)}

    def do(self, job: Message, seconds: float) -> Message:
        """Return the answer of the process, or why there is none."""
        answer = self.process.do(job, seconds)
        if isinstance(answer, Gone):
            return {"how": answer.how, "reason": answer.reason}
        return {"answer": answer}


@dataclass(slots=True)
class RayWorker:
    """A worker on a machine of the cluster; if it is lost, it moves to another one."""

    ray: Any
    place: RunPlace
    wanted: Message | None = None
    actor: Any = None
    needs: Mapping[str, float] = field(default_factory=dict[str, float])
    turn: Turn = field(default_factory=threading.Lock)
    has_process: bool = False  # true if the actor has a process, without which a job would fail
    is_over: bool = False

    @property
    def is_open(self) -> bool:
        """True if there is an actor with a process."""
        return self.actor is not None and self.has_process

    def open(self) -> Message:
        """Ask the cluster for an actor, if there is none, and the actor for a process.

        Raises NotOpened.
        """
        if self.is_over:
            raise NotOpened("it was ended")
        if self.actor is None:
            # Ray must not restart a lost actor, since then nobody would know that its process is
            # new.
            made = self.ray.remote(max_restarts=0, **self.needs)(Host)
            self.actor = made.remote(self.place.opening, self.place.environment)
        found = self._got(self.actor.open.remote(self.wanted), OPENING)
        if isinstance(found, Gone):
            raise NotOpened(f"no machine of the cluster took it: {found.reason}")
        if "failure" in found:
            self.close()
            raise NotOpened(found["failure"])
        self.has_process = True
        said: Message = found["said"]
        return said

    def do(self, job: Message, seconds: float) -> Message | Gone:
        """Return the answer of the actor's process."""
        actor: Any = self.actor
        found = self._got(actor.do.remote(job, seconds), seconds)
        if isinstance(found, Gone):
            return found
        if "how" in found:
            gone = Gone(NoAnswer(found["how"]), found["reason"])
            self.has_process = gone.how is NoAnswer.FAILED
            return gone
        answer: Message = found["answer"]
        return answer

    def end(self) -> None:
        """Kill the actor, and its process with it."""
        self.is_over = True
        actor = self.actor
        if actor is not None:
            self._kill(actor)

    def close(self) -> None:
        """Return the resources of the cluster."""
        actor, self.actor, self.has_process = self.actor, None, False
        if actor is not None:
            self._kill(actor)

    def _kill(self, actor: Any) -> None:
        """Kill an actor, unless it or its cluster is already gone."""
        with suppress(self.ray.exceptions.RayError, ConnectionError):
            self.ray.kill(actor)

    def _got(self, reference: Any, seconds: float) -> Message | Gone:
        errors = self.ray.exceptions
        try:
            found: Message = self.ray.get(reference, timeout=seconds + GRACE)
        except errors.GetTimeoutError:
            self.close()
            return Gone(NoAnswer.HUNG, f"its machine did not answer in {seconds + GRACE:.0f} s")
        except errors.RayError as error:
            self.close()
            return Gone(
                NoAnswer.KILLED, f"its machine was lost: {' '.join(str(error).split())}"[:300]
            )
        return found


def on_ray(place: RunPlace, count: int | None, address: str) -> Sequence[Worker]:
    """Return workers of a cluster: this many, or one for each of its GPUs.

    The address `local` makes a cluster of this machine. Raises MissingExtra, NotOpened.
    """
    ray = extra("ray", "ray")
    _joined(ray, address, count)
    gpus = int(ray.cluster_resources().get("GPU", 0))
    has_gpu = place.kind == "cuda"
    if has_gpu and not gpus:
        raise NotOpened(f"the Ray cluster at '{address}' has no GPU")
    needs = {"num_gpus": 1.0, "num_cpus": 1.0} if has_gpu else {"num_cpus": 1.0}
    number = count or (gpus if has_gpu else SIMULATED)
    return [RayWorker(ray, place, needs=needs) for _ in range(number)]


def _joined(ray: Any, address: str, count: int | None) -> None:
    """Join the cluster."""
    if ray.is_initialized():
        return
    # Ray's own messages are of no use, and would appear between ours.
    quiet = {"logging_level": "error", "log_to_driver": False}
    try:
        if address == LOCAL:
            cpus = max(count or SIMULATED, os.cpu_count() or 1)
            ray.init(address=LOCAL, num_cpus=cpus, include_dashboard=False, **quiet)
        else:
            ray.init(address=address, **quiet)
    except (ConnectionError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise NotOpened(f"there is no Ray cluster at '{address}': {reason}") from error


def leave() -> None:
    """Leave the cluster; if it was made here, it ends."""
    extra("ray", "ray").shutdown()
