"""Tests what dtpoly does where the system is not POSIX, as far as a POSIX system can show it."""

import subprocess
import sys
from pathlib import Path

from dtpoly.runtime.cache import folder
from tests.cli.process import SOFTMAX, environment

# A process in which Python lacks what Windows lacks, before anything is imported.
WITHOUT = """
import os, sys
from importlib import util
there = util.find_spec
util.find_spec = lambda name, *more: None if name == "fcntl" else there(name, *more)
sys.modules["fcntl"] = None
for name in ("fchown", "fchmod", "geteuid", "getegid", "O_CLOEXEC"):
    delattr(os, name)
from dtpoly.cli.main import entry
sys.exit(entry(sys.argv[1:]))
"""
# What of the exploration takes turns.
TURNS = """
from dtpoly.explore.workers.turn import turn_of
from dtpoly.system.file_locks import fcntl
assert fcntl is None
with turn_of("0"):
    pass
"""


def test_turns_without_locks_of_files() -> None:
    code = WITHOUT.replace("from dtpoly.cli.main", TURNS + "from dtpoly.cli.main")
    done = subprocess.run(
        [sys.executable, "-c", code, "--version"],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_is_there_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "softmax.dt").write_text(SOFTMAX.replace(" = ", "  =  "))
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, "fmt", "softmax.dt"],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "softmax.dt").read_text() == SOFTMAX


def test_the_cache_is_where_each_system_has_it() -> None:
    windows = {"LOCALAPPDATA": "C:/Users/me/AppData/Local"}
    assert folder(windows, "win32") == Path("C:/Users/me/AppData/Local/dtpoly/Cache")
    assert folder({}, "darwin") == Path.home() / "Library" / "Caches" / "dtpoly"
    assert folder(windows, "linux") == Path.home() / ".cache" / "dtpoly"
    assert folder({"XDG_CACHE_HOME": "/x"}, "linux") == Path("/x/dtpoly")
    assert folder({"DTPOLY_CACHE_DIR": "/y", **windows}, "win32") == Path("/y")
