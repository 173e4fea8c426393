"""Runs cases in several worker processes, each of which may die."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, Queue
from typing import IO

LIMIT_S = 120.0


@dataclass(frozen=True, slots=True)
class Result:
    """The outcome of a case."""

    case: int
    outcome: str
    why: str


def run_all(
    folder: Path,
    numbers: Sequence[int],
    workers: int,
    until: float,
    command: Sequence[str] = (),
) -> list[Result]:
    """Run cases by number until a time; `command` starts a worker process."""
    waiting: Queue[int] = Queue()
    for number in numbers:
        waiting.put(number)
    with ThreadPoolExecutor(workers) as pool:
        parts = [pool.submit(_work, folder, waiting, until, command) for _ in range(workers)]
        return [result for part in parts for result in part.result()]


def _work(
    folder: Path, waiting: "Queue[int]", until: float, command: Sequence[str]
) -> list[Result]:
    results: list[Result] = []
    while True:
        try:
            number = waiting.get_nowait()
        except Empty:
            return results
        worker = _Worker(folder, command)
        try:
            while worker.is_alive:
                if time.monotonic() > until:
                    results.append(Result(number, "not run", "the time is over"))
                else:
                    results.append(worker.run(number, min(LIMIT_S, until - time.monotonic() + 5)))
                if not worker.is_alive:
                    break
                try:
                    number = waiting.get_nowait()
                except Empty:
                    return results
            else:
                results.append(Result(number, "failed", f"no worker: {worker.last_words()}"))
        finally:
            worker.stop()


class _Worker:
    """A process that runs one case after the other."""

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        self.errors: IO[str] = tempfile.TemporaryFile("w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*command, sys.executable, "-m", "tests.gpu.worker", str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        self.words = ""
        self.is_alive = self._line(LIMIT_S) == "ready\n"

    def run(self, number: int, limit: float) -> Result:
        """Return the outcome of a case, also if the process died or hangs."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{number}\n")
        self.process.stdin.flush()
        line = self._line(limit)
        if not line:
            self.is_alive = False
            return Result(number, "failed", f"died or hangs: {self.last_words()}")
        told = json.loads(line)
        if told["outcome"] == "GPU error":
            self.is_alive = False
        return Result(told["case"], told["outcome"], told["why"])

    def _line(self, limit: float) -> str:
        """Return the next line that the process writes, or nothing if none comes in time."""
        assert self.process.stdout is not None
        timer = threading.Timer(limit, self.process.kill)
        timer.start()
        try:
            for line in self.process.stdout:
                if line.startswith("{") or line == "ready\n":
                    return line
            return ""
        finally:
            timer.cancel()

    def last_words(self) -> str:
        """Return the end of what it wrote to its error stream; it writes nothing more."""
        self.stop()
        return self.words

    def stop(self) -> None:
        """End the process."""
        if self.errors.closed:
            return
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.errors.seek(0)
        self.words = self.errors.read()[-2000:]
        self.errors.close()
