"""A worker process as its owner sees it: how much memory it has, how it ended, how to end it."""

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from tests.attack.campaign import Campaign

ROOT = Path(__file__).resolve().parents[2]
# How much of what a worker wrote before it died is kept.
LAST_WORDS = 4_000


@dataclass
class Worker:
    """One process and what it does just now."""

    process: subprocess.Popen[bytes]
    words: IO[bytes]
    # The seed that it works on; none while it starts, or while it waits.
    seed: int | None = None
    is_ready: bool = False
    # When the attempt began, or the process.
    began: float = 0.0
    attempts: int = 0
    unread: bytearray = field(default_factory=bytearray)


def started(campaign: Campaign, now: float) -> Worker:
    """Return a new worker for a campaign."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(
        (str(ROOT), *filter(None, (environment.get("PYTHONPATH"),)))
    )
    environment.pop("TRITON_INTERPRET", None)
    if campaign.is_interpreted:
        environment["TRITON_INTERPRET"] = "1"
    # A worker has one core. Libraries that take all of them would make every attempt slower.
    environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    words = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed when the worker is ended
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.attack.worker", campaign.module],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=words,
        start_new_session=True,
    )
    return Worker(process, words, began=now)


def asked(worker: Worker, seed: int, now: float) -> None:
    """Ask for an attempt."""
    worker.seed, worker.began = seed, now
    assert worker.process.stdin is not None
    with suppress(BrokenPipeError):  # It has died: that is seen when its answer is read.
        worker.process.stdin.write(f"{seed}\n".encode())
        worker.process.stdin.flush()


def ended(worker: Worker) -> None:
    """End the process, and all that it started."""
    with suppress(ProcessLookupError, PermissionError):
        # It leads a group of its own, so that this ends nothing else.
        os.killpg(worker.process.pid, signal.SIGKILL)
    worker.process.wait()
    worker.words.close()
    for pipe in (worker.process.stdin, worker.process.stdout):
        if pipe is not None:
            with suppress(BrokenPipeError):
                pipe.close()


def last_words(worker: Worker) -> str:
    """Return the end of what it wrote to the standard error."""
    worker.words.seek(0, os.SEEK_END)
    worker.words.seek(max(worker.words.tell() - LAST_WORDS, 0))
    return worker.words.read().decode(errors="replace")


def memory_by_group() -> dict[int, int]:
    """Count the bytes of the processes of each group; give nothing where Linux does not tell."""
    found: dict[int, int] = {}
    page = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
    for entry in Path("/proc").glob("[0-9]*") if Path("/proc/self/stat").exists() else ():
        with suppress(OSError, ValueError, IndexError):
            # The name of a program is in brackets, and may have brackets and spaces in it.
            words = (entry / "stat").read_text().rpartition(")")[2].split()
            pages = int((entry / "statm").read_text().split()[1])
            group = int(words[2])
            found[group] = found.get(group, 0) + pages * page
    return found
