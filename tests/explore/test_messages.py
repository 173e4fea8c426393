"""Tests that messages leave a socket as they came in, or not at all."""

import threading
import time
from collections.abc import Iterator
from socket import socket, socketpair

import pytest

from dtpoly.explore.workers.socket_messages import receive, send


@pytest.fixture
def ends() -> Iterator[tuple[socket, socket]]:
    reader, writer = socketpair()
    with reader, writer:
        yield reader, writer


def test_messages_come_in_order(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    for message in ({"a": 1}, {}, {"text": "ä\n\0", "list": [1.5, None, True]}):
        send(writer, message)
        assert receive(reader) == message


def test_a_message_may_be_larger_than_what_waits(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    large = {"text": "x" * 1_000_000}
    thread = threading.Thread(target=send, args=(writer, large))
    thread.start()
    assert receive(reader, time.monotonic() + 20) == large
    thread.join()


def test_who_does_not_answer_is_not_waited_for(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    with pytest.raises(TimeoutError):
        receive(reader, time.monotonic() + 0.05)
    # Half a message is none.
    writer.sendall(b"\0\0\0\x09{")
    with pytest.raises(TimeoutError):
        receive(reader, time.monotonic() + 0.05)
    with pytest.raises(TimeoutError):
        send(writer, {"text": "x" * 1_000_000}, time.monotonic() + 0.05)


def test_a_closed_end_is_told(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    writer.sendall(b"\0\0\0\x09{")
    writer.close()
    with pytest.raises(EOFError):
        receive(reader)


def test_nobody_reads_any_more(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    reader.close()
    with pytest.raises(BrokenPipeError):
        send(writer, {})


def test_who_ends_with_something_unread_is_told(ends: tuple[socket, socket]) -> None:
    reader, writer = ends
    send(reader, {})
    writer.close()
    with pytest.raises(EOFError):
        receive(reader)
