"""Runs a process that does jobs: `python -m dtpoly.explore.workers.worker SOCKET KIND`.

Messages come through the socket, and answers go back. The process reports when it has loaded the
packages for its kind. The first message says what kind of servant it is, and the others are jobs.
It ends when no more will come. A failure in a job may end it at once, so whoever reads the other
end must be ready for that.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from socket import socket

from dtpoly.explore.bench.bench import DeviceLost
from dtpoly.explore.workers.handing import taken
from dtpoly.explore.workers.servants import Servant, flush, load, opened
from dtpoly.explore.workers.socket_messages import Message, receive, send

LOST = 75  # the exit code of a process that has lost its device
PARENT_DEATH_SIGNAL, KILL = 1, 9  # of Linux's prctl


def main(arguments: list[str]) -> int:
    """Serve until the socket is closed."""
    end = taken(arguments[0])
    # Ctrl-C is for the process that started this one, which then ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    try:
        load(arguments[1])
        send(end, {})
        servant = _opened(receive(end), end)
        while servant is not None:
            job = receive(end)
            send(end, _answer(servant.do, job))
            flush()
    except (EOFError, ConnectionError):
        return 0
    except DeviceLost as error:
        send(end, {"lost": str(error)})
        return LOST
    return 1


def _opened(opening: Message, end: socket) -> Servant | None:
    """Return the servant after it has reported its facts; None after reporting why it failed."""
    try:
        servant = opened(opening)
    except Exception as error:  # whatever is missing on this machine
        send(end, {"failure": f"{type(error).__name__}: {error}"})
        return None
    send(end, {"said": servant.said})
    return servant


def _answer(do: Callable[[Message], Message], job: Message) -> Message:
    try:
        return {"answer": do(job)}
    except DeviceLost:
        raise
    except Exception as error:  # a bug of ours, or an error of a candidate; it is reported
        return {"failure": f"{type(error).__name__}: {error}"}


def _end_with_parent() -> None:
    """End this process when its parent ends, even if it hangs by then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, KILL)
        if os.getppid() == 1:
            raise SystemExit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
