"""Writes a file whole or not at all: if it fails, the file is as it was before."""

import contextlib
import errno
import os
import stat
from pathlib import Path

from dtpoly.system.owners import make_alike
from dtpoly.system.whole_files import put_in_place


def write_atomically(
    path: Path, data: bytes, mode: int = 0o666, *, is_lasting: bool = True
) -> None:
    """Write a file so that no one ever sees half of it. Raises OSError.

    A file that is there keeps its mode and owner; a new one has `mode`, less what the process
    withholds (its umask). Where the path is a link, the file that it leads to is written. What is
    not lasting may be lost, or cut short, when the machine fails: its reader must see that.
    """
    target = Path(os.path.realpath(path))
    before = target.stat() if target.exists() else None
    if before is not None:
        _check_replaceable(target, before)
    beside = target.parent / f".{target.name[:32]}.{os.urandom(16).hex()}"
    # Before it holds what a file had to keep to itself, it has the mode of that file.
    handle = _create(beside, target, mode if before is None else 0o600)
    try:
        with open(handle, "wb") as file:
            if before is not None:
                make_alike(file.fileno(), before)
            file.write(data)
            if is_lasting:
                file.flush()
                os.fsync(file.fileno())
        put_in_place(beside, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _create(beside: Path, target: Path, mode: int) -> int:
    try:
        return os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    except PermissionError as error:
        reason = "no new file can be made in its folder"
        raise PermissionError(error.errno, reason, str(target)) from None
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(target)) from None


def _check_replaceable(target: Path, before: os.stat_result) -> None:
    """Replacing a file asks only the folder for permission; a read-only file shall stay."""
    if not stat.S_ISREG(before.st_mode):
        raise OSError(errno.EINVAL, "it is not a regular file", str(target))
    if not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "Permission denied", str(target))
