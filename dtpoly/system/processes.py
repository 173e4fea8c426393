"""Looks at processes, and ends them."""

import ctypes
import os
import signal
import subprocess
import sys
from typing import Any

# The exit code of a process that was killed; Windows has none.
KILLED = -signal.SIGKILL if hasattr(signal, "SIGKILL") else None
# In the environment of a Python process: whatever the system is, it writes to pipes in UTF-8.
SPOKEN = {"PYTHONIOENCODING": "utf-8"}
QUERY, NO_SUCH_PROCESS, STILL_RUNS = 0x1000, 87, 259  # as Windows calls them by number


def is_alive(process: int) -> bool:
    """Return whether a process of this machine may still run."""
    if sys.platform == "win32":
        return _is_alive_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # It is there, and belongs to somebody else.
        return True
    return True


def _is_alive_on_windows(process: int) -> bool:
    """Ask Windows: a signal 0 would interrupt the process there, instead of only asking for it."""
    kernel: Any = getattr(ctypes, "windll").kernel32  # noqa: B009 (only Windows has it)
    handle = kernel.OpenProcess(QUERY, False, process)
    if not handle:
        return bool(kernel.GetLastError() != NO_SUCH_PROCESS)
    code = ctypes.c_ulong()
    known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
    kernel.CloseHandle(handle)
    return not known or code.value == STILL_RUNS


def kill(process: int) -> None:
    """End a process at once, without asking it. Raises OSError if there is none."""
    os.kill(process, getattr(signal, "SIGKILL", signal.SIGTERM))


def kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill a process that began a session, with all that it started.

    Windows has no such groups: there, only the process is killed.
    """
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()


def crash() -> None:
    """End this process as one that touched memory that is not its own."""
    os.kill(os.getpid(), signal.SIGSEGV)
