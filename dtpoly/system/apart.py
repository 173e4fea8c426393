"""Runs a command in a process of its own, so that it can be ended from outside.

isl computes in C. During that time Python reacts neither to an interruption nor to a clock. So the
process that a user starts forks: the child does the work, and the parent waits. An interruption
ends the child at once. If the child has used up its time and does not notice, the system ends it.
If it takes far more memory than it may, the parent ends it. The parent then reports the stage in
which that happened, which it reads from a page of memory that both processes have.

Where there is no fork (Windows), the command runs in the process itself.
"""

import mmap
import os
import signal
import struct
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from dtpoly.system.process_memory import now_of

try:
    import fcntl
except ImportError:  # Windows has neither this module nor a fork.
    fcntl = None  # type: ignore[assignment]

INTERRUPTED = 130  # the exit code, as shells have it
CAN_FORK = hasattr(os, "fork")
GRACE = 0.5  # after an interruption, for a child that can still tidy up
TIDYING_UP = "tidying up"
MORE_GRACE = 5.0  # for a child that says that it is tidying up
# Additional computing time before the system ends a child that does not notice the limit.
MORE = 5.0
OFTEN = 0.25  # between two looks at the budget
OVER = signal.SIGVTALRM if hasattr(signal, "SIGVTALRM") else None
PAGE = 4096
# The place in the page, after a number of bytes, of the text that says what the child is doing.
TEXT_AT = 8
MORE_BYTES = 2**28  # of memory, for a child that does not notice that it has too much
TIME = "the time that it has"
MEMORY = "the memory that it may take"

# In the child this has the page that it shares with its parent.
_page: list[mmap.mmap] = []


def apart(work: Callable[[], int], told: Callable[[str, str], int]) -> int:
    """Do the work in a child, and return its exit code.

    If the child is ended from outside, `told` gets the stage it was in and the limit it broke.
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
    """Tell the parent that this child has seen an interruption and will end soon.

    The same interruption may come again: from the terminal, and from the parent.
    """
    if _page:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        note(TIDYING_UP)


@contextmanager
def ended_after(seconds: float, most_bytes: float, look: Callable[[], None]) -> Generator[None]:
    """Let a child look at its budget often.

    If it does not notice the end, it is ended from outside.
    """
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
    """Make the system end this child when its parent is gone.

    The parent has the other end of a pipe. When that end is closed, the system sends a signal that
    ends this process. If the parent is gone before the signal is requested, the end is already
    closed.
    """
    if fcntl is not None:
        fcntl.fcntl(end, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(end, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
        with suppress(BlockingIOError):  # There is nothing to read as long as the parent is there.
            os.read(end, 1)
            os._exit(INTERRUPTED)


def _is_too_large(child: int, page: mmap.mmap) -> bool:
    """True if the child has more memory than it said that it may have."""
    most: int = struct.unpack("<q", page[:TEXT_AT])[0]
    return 0 < most < now_of(child)


def _waited(child: int, page: mmap.mmap) -> tuple[int, bool]:
    """Wait for the child; return its status, and whether it was ended for its memory.

    The parent passes an interruption (SIGINT) and a request to end (SIGTERM) on to the child.
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
    """Interrupt the child, end it if that does not help, and end this process.

    The child may have got the signal from the terminal already. If it is already gone, its exit
    code is passed on by the function that waits for it.
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
