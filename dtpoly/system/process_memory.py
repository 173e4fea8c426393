"""Says how much memory processes have."""

import mmap
import sys

try:
    import resource
except ImportError:  # Windows has none: memory is not looked at there.
    resource = None  # type: ignore[assignment]

UNIT = 1 if sys.platform == "darwin" else 1024  # what the system counts memory in


def peak() -> float:
    """Return the most memory that this process had so far, in bytes; 0 where nobody counts it."""
    if resource is None:
        return 0.0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most * UNIT


def now_of(process: int) -> int:
    """Return the memory that a process has, in bytes; 0 if it is gone or the system cannot say."""
    try:
        with open(f"/proc/{process}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[1])
    except OSError:
        return 0
    return pages * mmap.PAGESIZE
