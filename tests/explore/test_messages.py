"""Messages come out of a pipe as they went in, or not at all."""

import contextlib
import os
import threading
import time
from collections.abc import Iterator

import pytest

from dtpoly.explore.workers.messages import receive, send


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for end in (reader, writer):
        with contextlib.suppress(OSError):
            os.close(end)


def test_messages_come_in_order(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    for message in ({"a": 1}, {}, {"text": "ä\n\0", "list": [1.5, None, True]}):
        send(writer, message)
        assert receive(reader) == message


def test_a_message_may_be_larger_than_a_pipe(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    large = {"text": "x" * 1_000_000}
    thread = threading.Thread(target=send, args=(writer, large))
    thread.start()
    assert receive(reader, time.monotonic() + 20) == large
    thread.join()


def test_who_does_not_answer_is_not_waited_for(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    with pytest.raises(TimeoutError):
        receive(reader, time.monotonic() + 0.05)
    # Half a message is none.
    os.write(writer, b"\0\0\0\x09{")
    with pytest.raises(TimeoutError):
        receive(reader, time.monotonic() + 0.05)
    with pytest.raises(TimeoutError):
        send(writer, {"text": "x" * 1_000_000}, time.monotonic() + 0.05)


def test_a_closed_pipe_is_told(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.write(writer, b"\0\0\0\x09{")
    os.close(writer)
    with pytest.raises(EOFError):
        receive(reader)


def test_nobody_reads_any_more(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    os.close(reader)
    with pytest.raises(BrokenPipeError):
        send(writer, {})
