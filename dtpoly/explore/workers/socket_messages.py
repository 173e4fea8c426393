"""Sends messages through a socket, and reads them, with a limit of time.

A message is its length and then JSON. Sockets are used because they are the only connection between
two processes that has a time limit on every system.
"""

import json
import struct
import time
from collections.abc import Mapping
from socket import socket
from typing import Any

Message = Mapping[str, Any]

_LENGTH = struct.Struct(">I")
FOREVER = float("inf")
LEAST = 0.001  # seconds: what is already there is read even if no time is left


def send(end: socket, message: Message, until: float = FOREVER) -> None:
    """Write a message. Raises TimeoutError, and ConnectionError if nobody reads any more."""
    data = json.dumps(message).encode()
    left = memoryview(_LENGTH.pack(len(data)) + data)
    while left:
        _limit(end, until)
        left = left[end.send(left) :]


def receive(end: socket, until: float = FOREVER) -> Message:
    """Read a message. Raises TimeoutError, and EOFError if no more will come."""
    (length,) = _LENGTH.unpack(_read(end, _LENGTH.size, until))
    message: Message = json.loads(_read(end, length, until))
    return message


def _read(end: socket, size: int, until: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        _limit(end, until)
        try:
            part = end.recv(size - len(data))
        except ConnectionError:
            part = b""  # The other process ended without reading everything.
        if not part:
            raise EOFError("the other end of the socket is closed")
        data += part
    return bytes(data)


def _limit(end: socket, until: float) -> None:
    # A very long time cannot be passed to the system, so it is cut.
    end.settimeout(None if until == FOREVER else min(max(until - time.monotonic(), LEAST), 1e6))
