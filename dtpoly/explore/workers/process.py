"""Starts a worker process that answers jobs, and replaces it when it dies."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import field
from enum import StrEnum
from socket import socket, socketpair
from typing import IO, Protocol

from dtpoly.explore.workers.handing import started
from dtpoly.explore.workers.socket_messages import Message, receive, send
from dtpoly.frozen import dataclass
from dtpoly.system.processes import KILLED, kill_group

MODULE = "dtpoly.explore.workers.worker"
# A context manager.
Turn = AbstractContextManager[object, bool | None]

WORDS = 600  # letters of the output of a process before it died
OPENING = 300.0  # seconds until a worker is ready, since it computes a reference


class NoAnswer(StrEnum):
    """The reasons why a worker has no answer."""

    HUNG = "hung"
    CRASHED = "crashed"
    KILLED = "killed"  # from outside, which need not be the job's fault
    FAILED = "failed"  # the worker goes on


@dataclass(frozen=True, slots=True)
class Gone:
    """The reason why there is no answer to a job."""

    how: NoAnswer
    reason: str


class NotOpened(Exception):
    """Raised if such a worker cannot be opened."""


class Worker(Protocol):
    """Does jobs, one at a time, on any machine."""

    # The facts that the worker must report, if they are known: times of different devices cannot be
    # compared.
    wanted: Message | None
    # Among workers that share a device, the one that measures holds this.
    turn: Turn

    @property
    def is_open(self) -> bool:
        """True if it can be given jobs."""
        ...

    def open(self) -> Message:
        """Open the worker and return what it reports of itself. Raises NotOpened."""
        ...

    def do(self, job: Message, seconds: float) -> Message | Gone:
        """Return the answer to a job.

        A worker that is too slow is ended, and can be opened again.
        """
        ...

    def end(self) -> None:
        """Kill the worker for good, also from another thread while it does a job."""
        ...

    def close(self) -> None:
        """Wait for its end, and free its resources here.

        The thread that gives it jobs calls this.
        """
        ...


@dataclass(slots=True)
class Running:
    """A process, the socket for its jobs and answers, and the file with its output."""

    process: subprocess.Popen[bytes]
    end: socket
    words: IO[bytes]


@dataclass(slots=True)
class Process:
    """A worker on this machine."""

    opening: Message
    environment: Mapping[str, str] = field(default_factory=dict[str, str])
    wanted: Message | None = None
    turn: Turn = field(default_factory=threading.Lock)
    running: Running | None = None
    is_over: bool = False

    @property
    def is_open(self) -> bool:
        """True if there is a process, even if it has died."""
        return self.running is not None

    def open(self) -> Message:
        """Start a process. There must be none."""
        if self.is_over:
            raise NotOpened("it was ended")
        running = self.running = self._started()
        try:
            until = time.monotonic() + OPENING
            receive(running.end, until)  # until it has loaded what it needs
            # It computes a reference now, which would disturb a measurement on the same device.
            with self.turn:
                until = time.monotonic() + OPENING
                send(running.end, self.opening, until)
                said = receive(running.end, until)
        except (EOFError, OSError) as error:
            is_late = isinstance(error, TimeoutError)
            words = self._last_words()
            why = f"it was not ready in {OPENING:.0f} s: {words}" if is_late else words
            raise NotOpened(why) from None
        finally:
            # It may have been ended before there was a process to kill.
            if self.is_over:
                self._kill()
        if "failure" in said:
            self.close()
            raise NotOpened(said["failure"])
        message: Message = said["said"]
        try:
            check_facts(self.wanted, message)
        except NotOpened:
            self.close()
            raise
        return message

    def do(self, job: Message, seconds: float) -> Message | Gone:
        """Return the answer of the process, or that it died or hung."""
        running = self.running
        assert running is not None
        until = time.monotonic() + seconds
        try:
            send(running.end, job, until)
            found = receive(running.end, until)
        except TimeoutError:
            self.close()
            return Gone(NoAnswer.HUNG, f"it had not finished after {seconds:.1f} s")
        except (EOFError, OSError):
            return self._dead()
        if "lost" in found:
            self.close()
            return Gone(NoAnswer.CRASHED, f"it broke the device: {found['lost']}")
        if "failure" in found:
            return Gone(NoAnswer.FAILED, found["failure"])
        answer: Message = found["answer"]
        return answer

    def end(self) -> None:
        """Kill the process for good."""
        self.is_over = True
        self._kill()

    def close(self) -> None:
        """Wait for the end of the process, and close its socket."""
        self._kill()
        running, self.running = self.running, None
        if running is not None:
            running.end.close()
            running.words.close()
            running.process.wait()

    def _started(self) -> Running:
        end, other = socketpair()
        words = tempfile.TemporaryFile()  # noqa: SIM115
        environment = {**os.environ, **self.environment}
        try:
            process = started(MODULE, [self.opening["kind"]], other, words, environment)
        finally:
            other.close()
        return Running(process, end, words)

    def _dead(self) -> Gone:
        """Return why the process has ended."""
        running = self.running
        assert running is not None
        words = self._last_words()
        code = running.process.returncode
        if code == KILLED:
            return Gone(NoAnswer.KILLED, "somebody killed its process")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        ended = f"its process ended ({name})"
        return Gone(NoAnswer.CRASHED, f"{ended}: {words}" if words else ended)

    def _last_words(self) -> str:
        """Return the end of the output of the process, which is over."""
        running = self.running
        assert running is not None
        self._kill()
        size = running.words.seek(0, os.SEEK_END)
        running.words.seek(max(0, size - WORDS))
        words = running.words.read().decode(errors="replace")
        self.close()
        return " ".join(words.split())

    def _kill(self) -> None:
        running = self.running
        if running is not None:
            # A process that died by itself still has to be waited for.
            with suppress(ProcessLookupError, PermissionError):
                kill_group(running.process)


def check_facts(wanted: Message | None, said: Message) -> None:
    """Raise NotOpened if a worker is on another device than the first one."""
    if wanted is not None and said["facts"] != wanted:
        raise NotOpened(f"it is not on the device of the others: {said['facts']}, not {wanted}")
