"""Python loads this first, in processes of a test: it takes away what Windows does not have.

Modules that are for POSIX alone cannot be imported; functions, signals and flags are gone from
`os`, `signal`, `select`; and a socket goes to another process as it does there. What Python's own
modules have looked up by then they keep, as theirs are other ones on Windows. The name of the
system stays: by it, Python itself would look for modules that are not here.
"""

import importlib
import os
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from typing import Any


class Finder:
    """One of Python's own, that finds no module that is for POSIX alone."""

    def __init__(self, finder: Any) -> None:
        self.finder = finder

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return where a module is."""
        return None if name in listed.MODULES else self.finder.find_spec(name, path, target)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.finder, name)


def share(self: socket.socket, process: int) -> bytes:
    """Return what another process finds the socket by; here it waits at an address."""
    place = os.path.join(tempfile.mkdtemp(), f"{process}")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    kept = self.dup()

    def hand_over() -> None:
        with listener, kept, listener.accept()[0] as asking:
            socket.send_fds(asking, [b"x"], [kept.fileno()])

    threading.Thread(target=hand_over, daemon=True).start()
    return place.encode()


def fromshare(data: bytes) -> socket.socket:
    """The socket that another process shared."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.connect(data.decode())
        _, (number, *_), _, _ = socket.recv_fds(asking, 1, 1)
    return socket.socket(fileno=number)


class Popen(subprocess.Popen[bytes]):
    """A process that is started as on Windows."""

    def __init__(self, *arguments: object, pass_fds: Sequence[int] = (), **named: object) -> None:
        assert not pass_fds, "pass_fds not supported on Windows."
        super().__init__(*arguments, **named)  # type: ignore[call-overload]

    def send_signal(self, sig: int) -> None:
        """Windows ends it, whatever the signal is."""
        if self.poll() is None:
            os.kill(self.pid, 9)

    def kill(self) -> None:
        """End it."""
        self.send_signal(9)


listed: Any = importlib.import_module("posix_only")  # beside this file
# These have their own way on Windows.
for name in ("asyncio", "selectors", "shutil"):
    importlib.import_module(name)
for word, names in listed.GONE.items():
    module = importlib.import_module(word)
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
for name in listed.MODULES:
    sys.modules.pop(name, None)
sys.meta_path[:] = [Finder(one) for one in sys.meta_path]
for owner, name, value in (
    (subprocess, "Popen", Popen),
    (socket.socket, "share", share),
    (socket, "fromshare", fromshare),
):
    setattr(owner, name, value)
