"""Locks a file, so that of all processes of a machine one at a time goes on."""

try:
    import fcntl
except ImportError:  # Windows has none, and locks nothing here.
    fcntl = None  # type: ignore[assignment]


def lock(handle: int) -> None:
    """Wait until no other process has locked the open file, and lock it until it is closed.

    Where the system has no such locks, nothing is locked, and nobody waits.
    """
    if fcntl is not None:
        fcntl.flock(handle, fcntl.LOCK_EX)
