"""Provides a lock for each GPU, so that only one run on this machine measures on it at a time."""

import os
import tempfile
import threading
from dataclasses import field
from pathlib import Path
from types import TracebackType

from dtpoly.frozen import dataclass
from dtpoly.system.file_locks import lock
from dtpoly.system.owners import KEPT_HERE


@dataclass(slots=True)
class DeviceTurn:
    """A lock that is held by the thread that measures, among all threads and runs on this machine.

    The system takes it from a process that dies. If its file cannot be made, turns are taken within
    this process alone, as they are where the system has no locks.
    """

    path: Path
    inside: threading.Lock = field(default_factory=threading.Lock)
    held: int | None = None

    def __enter__(self) -> None:
        self.inside.acquire()
        try:
            self.held = _opened(self.path)
            if self.held is not None:
                lock(self.held)
        except BaseException:
            self._release()
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._release()

    def _release(self) -> None:
        held, self.held = self.held, None
        if held is not None:
            os.close(held)
        self.inside.release()


def turn_of(gpu: str, folder: str | None = None) -> DeviceTurn:
    """Return the turn of a GPU, by its name in CUDA_VISIBLE_DEVICES."""
    word = "".join(letter if letter.isalnum() else "-" for letter in gpu)
    return DeviceTurn(Path(folder or tempfile.gettempdir()) / f"dtpoly-gpu-{word}.lock")


def _opened(path: Path) -> int | None:
    """Open the lock file; an existing one may belong to another user, and reading it is enough."""
    try:
        return os.open(path, os.O_RDONLY | KEPT_HERE)
    except FileNotFoundError:
        pass
    except OSError:
        return None
    try:
        return os.open(path, os.O_RDONLY | os.O_CREAT | KEPT_HERE, 0o644)
    except OSError:
        return None
