"""A file is written whole or not at all."""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from dtpoly.writing import write_atomically


def test_new_file(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"


@pytest.fixture
def umask() -> Iterator[None]:
    before = os.umask(0o027)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_a_new_file_has_the_mode_that_the_process_allows(tmp_path: Path) -> None:
    path, private = tmp_path / "a.txt", tmp_path / "b.txt"
    write_atomically(path, b"new")
    write_atomically(private, b"new", mode=0o600)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert stat.S_IMODE(private.stat().st_mode) == 0o600


def test_mode_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    path.chmod(0o751)
    write_atomically(path, b"new")
    assert path.read_bytes() == b"new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    path, link = tmp_path / "a.txt", tmp_path / "link"
    path.write_bytes(b"old")
    link.symlink_to(path.name)
    write_atomically(link, b"new")
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(before: str, after: str) -> None:
        raise KeyboardInterrupt

    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, b"new")
    assert list(tmp_path.iterdir()) == [path]


def test_a_read_only_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path, mode: int) -> bool:
        """The tests may run as root, who may write everything."""
        return False

    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "access", deny)
    with pytest.raises(PermissionError):
        write_atomically(path, b"new")
    assert path.read_bytes() == b"old"


def test_only_a_regular_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(OSError, match="not a regular file"):
        write_atomically(path, b"new")
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_folder_without_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def deny(path: Path, flags: int, mode: int) -> int:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, "open", deny)
    with pytest.raises(PermissionError, match="no new file can be made in its folder") as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
    assert path.read_bytes() == b"old"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "a.txt"
    with pytest.raises(FileNotFoundError) as caught:
        write_atomically(path, b"new")
    assert caught.value.filename == str(path)
