"""`python -m dtpoly.explore.workers.worker SOCKET KIND`: a process that does one job after another.

A socket in; through it come messages, and answers go out. It says when it has loaded
what its kind needs. The first message says what it is opened as, the others are jobs. It ends when
no more will come. What goes wrong in a job may end it at once: whoever reads the other end has to
live with that.
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from socket import socket

from dtpoly.explore.bench.bench import Lost
from dtpoly.explore.workers.handing import taken
from dtpoly.explore.workers.messages import Message, receive, send
from dtpoly.explore.workers.servants import Servant, flush, load, opened

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
    except Lost as error:
        send(end, {"lost": str(error)})
        return LOST
    return 1


def _opened(opening: Message, end: socket) -> Servant | None:
    """The servant, which says what it is; none, and why is told, if it cannot be one."""
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
    except Lost:
        raise
    except Exception as error:  # a bug of ours, or of what a candidate runs into; it is told
        return {"failure": f"{type(error).__name__}: {error}"}


def _end_with_parent() -> None:
    """However the process that started this one ends, this one does; it may hang by then."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, KILL)
        if os.getppid() == 1:
            raise SystemExit(0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
