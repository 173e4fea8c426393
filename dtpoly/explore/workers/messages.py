"""Plain data in, bytes through a pipe, plain data out: JSON behind its length, until some time."""

import json
import os
import select
import struct
import time
from collections.abc import Mapping
from typing import Any

Message = Mapping[str, Any]

_LENGTH = struct.Struct(">I")
FOREVER = float("inf")


def send(pipe: int, message: Message, until: float = FOREVER) -> None:
    """Write a message. Raises TimeoutError, and BrokenPipeError if nobody reads any more."""
    data = json.dumps(message).encode()
    left = memoryview(_LENGTH.pack(len(data)) + data)
    while left:
        _wait(pipe, select.POLLOUT, until)
        # Never more than a pipe takes at once, so that it does not block.
        left = left[os.write(pipe, left[: select.PIPE_BUF]) :]


def receive(pipe: int, until: float = FOREVER) -> Message:
    """Read a message. Raises TimeoutError, and EOFError if no more will come."""
    (length,) = _LENGTH.unpack(_read(pipe, _LENGTH.size, until))
    message: Message = json.loads(_read(pipe, length, until))
    return message


def _read(pipe: int, size: int, until: float) -> bytes:
    data = bytearray()
    while len(data) < size:
        _wait(pipe, select.POLLIN, until)
        part = os.read(pipe, size - len(data))
        if not part:
            raise EOFError("the other end of the pipe is closed")
        data += part
    return bytes(data)


def _wait(pipe: int, what: int, until: float) -> None:
    poll = select.poll()
    poll.register(pipe, what)
    # Of time that cannot be told to the system there is enough.
    left = min(until - time.monotonic(), 1e6)
    if not poll.poll(max(0.0, 1000 * left)):
        raise TimeoutError("nothing came in time")
