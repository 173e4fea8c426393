"""Says who owns a file, and who else may read or write it.

Windows tells neither by a number of the user nor by a mode. There a user's folders are private, and
each answer is the one that trusts the file.
"""

import contextlib
import os
import stat

# A link is not followed, and nothing waits for a pipe. Windows has neither flag, and needs neither.
ONLY_FILES = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
# Processes that are started do not inherit the file.
KEPT_HERE = getattr(os, "O_CLOEXEC", 0)
HAS_OWNERS = hasattr(os, "geteuid")


def is_mine(status: os.stat_result) -> bool:
    """Return whether a file is of this user, and nobody else can write it."""
    if not HAS_OWNERS:
        return True
    is_open = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.geteuid() and (stat.S_ISLNK(status.st_mode) or not is_open)


def is_secret(status: os.stat_result) -> bool:
    """Return whether nobody else may read a file. On Windows the mode says that all may."""
    return not HAS_OWNERS or not status.st_mode & 0o077


def is_of_others(status: os.stat_result) -> bool:
    """Return whether a file belongs neither to this user nor to the system."""
    return HAS_OWNERS and status.st_uid not in (os.geteuid(), 0)


def make_alike(handle: int, before: os.stat_result) -> None:
    """Give an open file the owner and the mode of another one, as far as the system lets us."""
    if not hasattr(os, "fchown"):
        return
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))
