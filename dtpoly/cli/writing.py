"""Bytes in, a file that holds all of them, or is as it was before, out."""

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file so that no one ever sees half of it. Raises OSError.

    A file that is there keeps its mode and owner; where the path is a link, the file that it
    leads to is written.
    """
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before is not None:
        _check_replaceable(target, before)
    try:
        handle, name = tempfile.mkstemp(prefix=f".{target.name[:32]}.", dir=target.parent)
    except PermissionError as error:
        reason = "no new file can be made in its folder"
        raise PermissionError(error.errno, reason, str(target)) from None
    try:
        with open(handle, "wb") as file:
            if before is not None:
                _make_alike(file.fileno(), before)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _check_replaceable(target: Path, before: os.stat_result) -> None:
    """Replacing a file asks only the folder for permission; a read-only file shall stay."""
    if not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(target))


def _make_alike(handle: int, before: os.stat_result) -> None:
    if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
        with contextlib.suppress(PermissionError):
            os.fchown(handle, before.st_uid, before.st_gid)
    os.fchmod(handle, stat.S_IMODE(before.st_mode))
