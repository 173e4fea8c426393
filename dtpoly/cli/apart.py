"""A command in a process of its own: what no exception can reach is ended from outside.

isl computes in C, where neither an interruption nor a clock of Python gets a word in. So the
process that a user starts forks; the child does the work, and the parent waits. An interruption
ends the child at once. A child that has used up its time and does not see it is ended by the
system, one that takes far more memory than it may, by the parent; the parent then says in which
stage that was, from a page of memory that both have.

Where there is no fork (Windows), the command runs in the process itself.
"""

import mmap
import os
import signal
import struct
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress

from dtpoly.cli.interruption import INTERRUPTED

try:
    import fcntl
except ImportError:  # Windows has none, and no fork either.
    fcntl = None  # type: ignore[assignment]

# What only computes. The others drive devices, ask questions or start processes of their own.
COMMANDS = {
    *("check", "show", "explain", "why-not", "legal", "compile", "verify", "space", "cost"),
    "schedule",
}
GRACE = 0.5  # after an interruption, for a child that can still tidy up
TIDYING_UP = "tidying up"
MORE_GRACE = 5.0  # for one that says that it does
MORE = 5.0  # of the time to compute, for what does not see that it is over
OFTEN = 0.25  # between two looks at the budget
OVER = signal.SIGVTALRM if hasattr(signal, "SIGVTALRM") else None
PAGE = 4096
TEXT_AT = 8  # of the page: behind a number of bytes, what the child is doing
MORE_BYTES = 2**28  # of memory, for a child that does not see that it has too much
TIME = "the time that it has"
MEMORY = "the memory that it may take"

# In the child: what it shares with its parent.
_page: list[mmap.mmap] = []


def is_apart(arguments: Sequence[str]) -> bool:
    """Whether a command line is run in a process of its own."""
    named = next((one for one in arguments if not one.startswith("-")), "")
    return hasattr(os, "fork") and named in COMMANDS


def apart(work: Callable[[], int], told: Callable[[str, str], int]) -> int:
    """Do the work in a child, and give its exit code.

    If the child is ended, `told` is given the stage that it was in and the limit that it broke.
    """
    page = mmap.mmap(-1, PAGE)
    end, other = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(other)
        _die_with(end)
        _page.append(page)
        return work()
    os.close(end)
    status, is_too_large = _waited(child, page)
    if is_too_large:
        return told(_noted(page), MEMORY)
    if os.WIFSIGNALED(status):
        if os.WTERMSIG(status) == OVER:
            return told(_noted(page), TIME)
        return 128 + os.WTERMSIG(status)
    return os.WEXITSTATUS(status)


def note(stage: str) -> None:
    """Write down for the parent what this process is doing."""
    if _page:
        text = stage.encode()[: PAGE - TEXT_AT - 1]
        _page[0][TEXT_AT:] = text + bytes(PAGE - TEXT_AT - len(text))


def tidying_up() -> None:
    """Say in a child that an interruption was seen, and that what is left to do is done soon.

    The same interruption may come again: from the terminal, and from the process that waits.
    """
    if _page:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        note(TIDYING_UP)


@contextmanager
def ended_after(seconds: float, most_bytes: float, look: Callable[[], None]) -> Generator[None]:
    """Let a child look at its budget often, and be ended when it does not see that it is over."""
    if not _page:
        yield
        return

    def looked(_number: int, _frame: object) -> None:
        look()

    _page[0][:TEXT_AT] = struct.pack("<q", int(most_bytes) + MORE_BYTES)
    before = signal.signal(signal.SIGPROF, looked)
    signal.setitimer(signal.ITIMER_PROF, OFTEN, OFTEN)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds + MORE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
        _page[0][:TEXT_AT] = bytes(TEXT_AT)


def _noted(page: mmap.mmap) -> str:
    return bytes(page)[TEXT_AT:].rstrip(b"\0").decode(errors="replace")


def _die_with(end: int) -> None:
    """Who ends the parent by force shall not leave a child behind.

    The parent has the other end of a pipe. When that is closed the system sends a signal, of which
    a process ends. A parent that is gone before the signal was asked for has closed it already.
    """
    if fcntl is not None:
        fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(end, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        with suppress(BlockingIOError):  # There is nothing to read as long as it is there.
            os.read(end, 1)
            os._exit(INTERRUPTED)


def _is_too_large(child: int, page: mmap.mmap) -> bool:
    """Whether the child has more memory now than it said that it may have."""
    most: int = struct.unpack("<q", page[:TEXT_AT])[0]
    try:
        with open(f"/proc/{child}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:  # The child is gone, or this system says it otherwise.
        return False
    return 0 < most < pages * mmap.PAGESIZE


def _waited(child: int, page: mmap.mmap) -> tuple[int, bool]:
    """Wait for the child; return how it ended, and whether it was ended for its memory.

    An interrupt (SIGINT) and a request to end (SIGTERM) of the parent are passed on to the child.
    """
    is_too_large = False

    def interrupted(_number: int, _frame: object) -> None:
        _interrupt(child, page)

    def terminated(_number: int, _frame: object) -> None:
        _terminate(child)

    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, interrupted)

    def weighed(_number: int, _frame: object) -> None:
        nonlocal is_too_large
        if _is_too_large(child, page):
            is_too_large = True
            os.kill(child, signal.SIGKILL)

    signal.signal(signal.SIGTERM, terminated)
    signal.signal(signal.SIGALRM, weighed)
    signal.setitimer(signal.ITIMER_REAL, OFTEN, OFTEN)
    _, status = os.waitpid(child, 0)
    signal.setitimer(signal.ITIMER_REAL, 0)
    return status, is_too_large


def _interrupt(child: int, page: mmap.mmap) -> None:
    """End the child, which may have got the signal from the terminal already.

    One that is gone has an exit code, which whoever waits for it passes on.
    """
    with suppress(ProcessLookupError, ChildProcessError):
        os.kill(child, signal.SIGINT)
        began = time.monotonic()
        while time.monotonic() < began + (MORE_GRACE if _noted(page) == TIDYING_UP else GRACE):
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                os._exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else INTERRUPTED)
            time.sleep(0.005)
        _end(child, INTERRUPTED)


def _terminate(child: int) -> None:
    with suppress(ProcessLookupError, ChildProcessError):
        _end(child, 128 + signal.SIGTERM)


def _end(child: int, code: int) -> None:
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os._exit(code)
