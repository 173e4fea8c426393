"""Keeps texts on disk by what they were made from, so that each is made once.

A file in the cache is never changed: its name says everything that it depends on. It is written
beside its place and then moved there. So processes need no locks: who comes second writes the same.

Proofs lie in the cache, so nobody else may write to it. The folder is used only if it belongs to
this user and nobody else can write to it. The first line of an entry is a code (an HMAC) of its
name and text, made with a key that only this user can read. An entry that was edited, or copied to
another name, is made again.
"""

import contextlib
import hashlib
import hmac
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from dtpoly import __version__
from dtpoly.system.owners import ONLY_FILES, is_mine, is_secret
from dtpoly.system.whole_files import claim
from dtpoly.writing import write_atomically

PACKAGE = Path(__file__).resolve().parent.parent
SECRET = 32  # bytes of the key
MOST_BYTES = 2**28  # of an entry: what is larger is damaged, and is not read into memory
# The folders of the cache, and what lies in each.
TEXTS, PROOFS, MODULES = "texts", "proofs", "modules"
KINDS = {
    TEXTS: "generated texts and chosen schedules",
    PROOFS: "proofs of generated and given texts",
    MODULES: "generated files as they were loaded",
}
FOLDERS = (PACKAGE, PACKAGE.parent / "frontend", PACKAGE.parent / "codegen")


def folder(environment: Mapping[str, str] = os.environ, system: str = sys.platform) -> Path | None:
    """Find where the cache is, by the rules of the system; None for a user without a home."""
    if chosen := environment.get("DTPOLY_CACHE_DIR"):
        return Path(chosen)
    if base := environment.get("XDG_CACHE_HOME"):
        return Path(base) / "dtpoly"
    if local := environment.get("LOCALAPPDATA") if system == "win32" else None:
        return Path(local) / "dtpoly" / "Cache"
    try:
        home = Path.home()
        return home / ("Library/Caches" if system == "darwin" else ".cache") / "dtpoly"
    except RuntimeError:
        return None


def key(parts: Iterable[str]) -> str:
    """Make a name for a sequence of texts; other texts, or other cuts, get another name."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogatepass")
        digest.update(f"{len(data)}:".encode())
        digest.update(data)
    return digest.hexdigest()


@cache
def compiler() -> str:
    """Give a key for the version of this compiler.

    A checkout changes without a new version, so the key also depends on its files.
    """
    return key([__version__, *sorted(fact for one in FOLDERS for fact in _facts(one))])


def _facts(place: Path | str) -> Iterator[str]:
    """Yield what tells one version of a folder's files from another.

    Links to folders are left out.
    """
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
    kind: str = TEXTS,
    is_lasting: Callable[[str], bool] = _always,
) -> str:
    """Give the text that is made from these parts by this compiler, from the cache if it is there.

    A text that would be another one next time is not kept. Whatever is wrong with the cache (no
    room, no permission, a damaged file) costs only time.
    """
    assert kind in KINDS, kind
    base = private_folder()
    secret = None if base is None else _secret(base)
    if base is None or secret is None:
        return make()
    path = base / kind / key([compiler(), *parts])
    with contextlib.suppress(OSError, UnicodeDecodeError):
        check, _, text = read_own(path).decode().partition("\n")
        if hmac.compare_digest(check.encode(), _code(secret, path, text).encode()):
            return text
    text = make()
    if is_lasting(text):
        keep(path, f"{_code(secret, path, text)}\n{text}")
    return text


def keep(path: Path, text: str) -> bool:
    """Put a text into the cache, for this user alone; false where that cannot be done."""
    with contextlib.suppress(OSError):
        if not all(map(_is_private, _made(path.parent))):
            return False
        # Entries are checked when they are read, so there is no need to wait for the disk here.
        write_atomically(path, text.encode(errors="surrogatepass"), mode=0o600, is_lasting=False)
        return True
    return False


def private_folder() -> Path | None:
    """Return the cache's folder, made if need be; None if none is this user's alone.

    It may be a link that the user made.
    """
    base = folder()
    with contextlib.suppress(OSError):
        if base is None or (base.is_symlink() and not is_mine(base.lstat())):
            return None
        base.mkdir(mode=0o700, parents=True, exist_ok=True)
        base = base.resolve()
        return base if _is_private(base) else None
    return None


def _made(place: Path) -> list[Path]:
    """Return the folders of an entry, below that of the cache, which are made."""
    base = private_folder()
    inner = [one for one in (place, *place.parents) if base is not None and base in one.parents]
    for one in reversed(inner):
        one.mkdir(mode=0o700, exist_ok=True)
    return inner


def _is_private(place: Path) -> bool:
    """Return whether it is a folder of this user to which nobody else can write; no link to one."""
    status = place.lstat()
    return stat.S_ISDIR(status.st_mode) and is_mine(status)


def read_own(path: Path) -> bytes:
    """Return a file of this user's. Raises OSError, also for a link and where others can write."""
    with open(os.open(path, os.O_RDONLY | ONLY_FILES), "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not is_mine(status) or not _is_private(path.parent):
            raise PermissionError(f"others can write '{path}'")
        if status.st_size > MOST_BYTES:
            raise OSError(f"'{path}' is larger than any entry")
        return file.read(MOST_BYTES)


def _secret(base: Path) -> bytes | None:
    """Give the key of this user's cache, made when first needed; None where it cannot be kept."""
    path = base / "key"
    with contextlib.suppress(OSError):
        for _ in range(2):
            with contextlib.suppress(FileNotFoundError):
                found = read_own(path)
                if len(found) == SECRET and is_secret(path.stat()):
                    return found
                path.unlink()  # cut short, or others have read it
            # If several processes make a key at once, one wins, and the others take its key.
            beside = base / f".key.{os.urandom(16).hex()}"
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
                file.write(os.urandom(SECRET))
            try:
                with contextlib.suppress(FileExistsError):
                    claim(beside, path)
            finally:
                beside.unlink(missing_ok=True)
    return None


def _code(secret: bytes, path: Path, text: str) -> str:
    """Give the first line of an entry: nobody without the key can make it for another text."""
    named = key([path.parent.name, path.name, text])
    return hmac.new(secret, named.encode(), hashlib.sha256).hexdigest()
