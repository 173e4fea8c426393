"""Looks at what lies in the cache, and removes it.

The cache has a folder for each kind of entry, and an entry has a name that no other program gives a
file. What is removed is made again when it is needed. The key of the cache always stays: without it
no entry that is left could be read.
"""

import contextlib
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

from dtpoly.frozen import dataclass
from dtpoly.runtime.cache import KINDS, folder, private_folder

# The name of an entry, and that of a file that a process left which was ended while it wrote one.
NAME = re.compile(r"[0-9a-f]{64}|\.[0-9a-f]{1,32}\.[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """One entry: where it lies, its size in bytes, and when it was written."""

    kind: str
    path: Path
    size: int
    written: float


def cache_folder() -> Path | None:
    """Return the folder of the cache; None if there is none yet, or none that is this user's."""
    base = folder()
    return private_folder() if base is not None and base.is_dir() else None


def entries(base: Path, kinds: Iterable[str] = KINDS) -> Iterator[CacheEntry]:
    """Yield the entries of some kinds that lie in the folder of the cache."""
    for kind in kinds:
        place = base / kind
        if place.is_symlink() or not place.is_dir():
            continue
        for path in sorted(place.iterdir()):
            if NAME.fullmatch(path.name):
                with contextlib.suppress(OSError):
                    yield _entry(kind, path)


def _entry(kind: str, path: Path) -> CacheEntry:
    """Return an entry, which is a file, or a folder of files. Raises OSError."""
    is_folder = path.is_dir() and not path.is_symlink()
    found = [one.lstat() for one in (path, *(path.iterdir() if is_folder else ()))]
    size = sum(status.st_size for status in (found[1:] if is_folder else found))
    return CacheEntry(kind, path, size, found[0].st_mtime)


def remove(found: Iterable[CacheEntry]) -> tuple[CacheEntry, ...]:
    """Remove entries, and return those that could be removed."""
    gone: list[CacheEntry] = []
    for entry in found:
        with contextlib.suppress(OSError):
            if entry.path.is_dir() and not entry.path.is_symlink():
                shutil.rmtree(entry.path)
            else:
                os.unlink(entry.path)
            gone.append(entry)
    return tuple(gone)


def to_prune(
    found: Iterable[CacheEntry], before: float | None, most_bytes: float | None
) -> tuple[CacheEntry, ...]:
    """Return the entries written before a time, and the oldest ones beyond so many bytes."""
    kept, pruned = 0, list[CacheEntry]()
    is_full = False
    for entry in sorted(found, key=lambda entry: entry.written, reverse=True):
        is_full = is_full or (most_bytes is not None and kept + entry.size > most_bytes)
        if is_full or (before is not None and entry.written < before):
            pruned.append(entry)
        else:
            kept += entry.size
    return tuple(pruned)
