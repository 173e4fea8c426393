"""Starts a process that is asked through a socket, and gives it its end of the socket.

On POSIX a process inherits the number of an open file. On Windows a socket is shared with a process
that is already running, which gets the data for that on its standard input.
"""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from socket import socket
from typing import IO, Any

SHARED = "shared"  # in the place of a number
IS_SHARED = hasattr(socket, "share")


def started(
    module: str,
    arguments: Sequence[str],
    end: socket,
    words: IO[bytes],
    environment: Mapping[str, str],
) -> subprocess.Popen[bytes]:
    """Run a module in a process of its own, which gets the socket; its output goes into `words`."""
    number = SHARED if IS_SHARED else str(end.fileno())
    process = subprocess.Popen(
        [sys.executable, "-m", module, number, *arguments],
        stdin=subprocess.PIPE if IS_SHARED else subprocess.DEVNULL,
        stdout=words,
        stderr=words,
        pass_fds=() if IS_SHARED else (end.fileno(),),
        env=environment,
        start_new_session=True,  # Windows has no sessions, and ignores this
    )
    if process.stdin is not None:
        sharing: Any = end
        with process.stdin as given:
            given.write(sharing.share(process.pid))
    return process


def taken(number: str) -> socket:
    """Return the socket that `started` gave this process."""
    if number != SHARED:
        return socket(fileno=int(number))
    module: Any = sys.modules[socket.__module__]
    found: socket = module.fromshare(sys.stdin.buffer.read())
    return found
