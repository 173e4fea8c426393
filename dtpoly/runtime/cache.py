"""What a text was made from in, the text out: made once, then kept on disk.

A file in the cache is never changed: its name says everything that it depends on. It is written
beside its place and then moved there, so processes need no locks: who comes second writes the same.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from dtpoly import __version__
from dtpoly.writing import write_atomically

PACKAGE = Path(__file__).resolve().parent.parent
FOLDERS = (PACKAGE, PACKAGE.parent / "frontend", PACKAGE.parent / "codegen")


def folder(environment: Mapping[str, str] = os.environ) -> Path | None:
    """Where the cache is; None for a user without a home."""
    if chosen := environment.get("DTPOLY_CACHE_DIR"):
        return Path(chosen)
    if base := environment.get("XDG_CACHE_HOME"):
        return Path(base) / "dtpoly"
    try:
        return Path.home() / ".cache" / "dtpoly"
    except RuntimeError:
        return None


def key(parts: Iterable[str]) -> str:
    """A name for a sequence of texts; other texts, or other cuts between them, have another."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


@cache
def compiler() -> str:
    """The version of this compiler; for a checkout, which changes without one, also its files."""
    return key([__version__, *sorted(fact for one in FOLDERS for fact in _facts(one))])


def _facts(place: Path | str) -> Iterator[str]:
    """What tells one version of a folder's files from another; links to folders are left out."""
    if not os.path.isdir(place):
        return
    with os.scandir(place) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                status = entry.stat()
                yield f"{entry.path} {status.st_size} {status.st_mtime_ns}"
            elif entry.is_dir(follow_symlinks=False):
                yield from _facts(entry.path)


def _always(_: str) -> bool:
    return True


def remembered(
    parts: Iterable[str],
    make: Callable[[], str],
    kind: str = "texts",
    is_lasting: Callable[[str], bool] = _always,
) -> str:
    """The text that is made from these parts by this compiler.

    What would be another one next time is not kept. Whatever is wrong with the cache (no room, no
    permission, a damaged file) costs only time.
    """
    base = folder()
    if base is None:
        return make()
    path = base / kind / key([compiler(), *parts])
    with contextlib.suppress(OSError, UnicodeDecodeError):
        check, _, text = path.read_bytes().decode().partition("\n")
        if check == key([text]):
            return text
    text = make()
    if is_lasting(text):
        keep(path, f"{key([text])}\n{text}")
    return text


def keep(path: Path, text: str) -> bool:
    """Put a text into the cache; false where that cannot be done."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # What is read from there is checked, so that nothing waits for the disk.
        write_atomically(path, text.encode(errors="surrogatepass"), is_lasting=False)
        return True
    return False
