"""Tests that long work is ended: by an interruption at once, and when its time is over.

What hangs here is a fusion whose footprint isl does not describe in any time; it computes in C.
"""

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.process import COMMAND, ROOT, ended, environment

HARD = """\
Func f, g;
In A;
Var x, y, z;

g[x, y, z] = A[x, y, z] * 2;
f[x, y, z] = g[x + 37*y + 41*z, y + 43*z, z] + g[y + 31*x, z + 29*x, x + 23*y];

f.block(x:37, y:41, z:43);
f.tensorize(x:16, y:16, z:16);
g.fuse_at(f, z, recompute);
f.compile();
"""
MANY = """\
Func a, b, c, d, f;
In X;
Var m, n;
RVar k;

a[m, n] = X[m, n] * 2;
b[m, n] = a[m, n] + rsum(a[m, k], k);
c[m, n] = b[m, n] + rsum(b[m, k], k);
d[m, n] = c[m, n] + rsum(c[m, k], k);
f[m, n] = d[m, n] + rsum(d[m, k], k);

a.compile();
b.compile();
c.compile();
d.compile();
f.compile();
"""
COMMANDS = {
    "check": ["check"],
    "compile": ["compile", "-o", "out.py"],
    "verify": ["verify"],
    "schedule": ["schedule", "--size", "x=4096,y=4096,z=4096"],
    "space": ["space"],
    "legal": ["legal", "f"],
    "show": ["show"],
    "explain": ["explain"],
    "why-not": ["why-not", "f.num_warps(8);"],
    "cost": ["cost", "--size", "x=4096,y=4096,z=4096"],
}
# What computes no longer than it is told to, as a command without a file to write.
TIMED = ("legal", "show", "explain", "why-not", "cost")


def started(command: list[str], folder: Path) -> "subprocess.Popen[bytes]":
    """Return a process that is at work on the hard file."""
    (folder / "hard.dt").write_text(HARD)
    return subprocess.Popen(
        [*COMMAND, command[0], "hard.dt", *command[1:]],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=environment(XDG_CACHE_HOME=str(folder / "cache")),
    )


def written(folder: Path) -> list[str]:
    """Return what is there besides the file and the cache."""
    return sorted(one.name for one in folder.iterdir() if one.name not in ("hard.dt", "cache"))


@pytest.mark.long
@pytest.mark.parametrize("name", ["check", "compile"])
def test_an_interruption_ends_what_computes_in_c(name: str, tmp_path: Path) -> None:
    with ended(started(COMMANDS[name], tmp_path)) as process:
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, told = process.communicate(timeout=60)
    assert (process.returncode, out, told) == (130, b"", b"")
    assert time.monotonic() - began < 10  # on a machine that does much else; alone it is 0.5
    assert written(tmp_path) == []


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
def test_an_interruption_ends_every_command_at_any_time(name: str, tmp_path: Path) -> None:
    chance = random.Random(name)
    for at in range(10):
        folder = tmp_path / str(at)
        folder.mkdir()
        with ended(started(COMMANDS[name], folder)) as process:
            time.sleep(0.3 + 3 * chance.random())
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            _, told = process.communicate(timeout=60)
        assert time.monotonic() - began < 10
        assert process.returncode in (130, 0, 1, -signal.SIGINT)
        assert b"Traceback" not in told or process.returncode == -signal.SIGINT
        assert written(folder) in ([], ["out.py"])


@pytest.mark.long
def test_time_that_is_over_is_said_with_the_stage(tmp_path: Path) -> None:
    with ended(started(["check", "--seconds", "1"], tmp_path)) as process:
        out, told = process.communicate(timeout=300)
    assert process.returncode == 1
    assert b"DT210" in out + told
    assert b"it was stopped while deciding whether its schedule is legal" in out + told


@pytest.mark.long
@pytest.mark.parametrize("name", TIMED)
def test_every_command_ends_in_the_time_that_it_is_given(name: str, tmp_path: Path) -> None:
    began = time.monotonic()
    with ended(started([*COMMANDS[name], "--seconds", "1"], tmp_path)) as process:
        out, told = process.communicate(timeout=300)
    assert process.returncode == 1
    # What has its own limit of operations may be over before.
    assert b"DT210" in out + told or b"DT208" in out + told
    assert time.monotonic() - began < 60  # on a machine that does much else; alone it is 3


@pytest.mark.long
def test_the_text_that_verify_reads_is_written_in_time(tmp_path: Path) -> None:
    with ended(started(["verify", "--seconds", "1"], tmp_path)) as process:
        out, told = process.communicate(timeout=300)
    assert process.returncode == 1
    assert b"DT210" in out + told


def test_legal_lists_what_was_tried_in_time(tmp_path: Path) -> None:
    (tmp_path / "many.dt").write_text(MANY)
    done = subprocess.run(
        [*COMMAND, "legal", "many.dt", "f", "--json", "--seconds", "0.5"],
        capture_output=True,
        cwd=tmp_path,
        env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")),
        timeout=300,
    )
    assert done.returncode == 1
    assert b"DT210" in done.stderr
    found = json.loads(done.stdout)
    assert not found["is_complete"]
    assert all(one["reason"] != "this takes more than 0.5 seconds" for one in found["directives"])


@pytest.mark.long
def test_space_says_what_is_known_when_its_time_is_over(tmp_path: Path) -> None:
    file = str(ROOT / "examples/spaces/attention.dts")
    done = subprocess.run(
        [*COMMAND, "space", file, "--json", "--seconds", "1", "--workers", "1"],
        capture_output=True,
        cwd=tmp_path,
        env=environment(XDG_CACHE_HOME=str(tmp_path / "cache")),
        timeout=300,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    assert found["is_late"]
    assert found["looked_at"] < 2000


@pytest.mark.long
def test_time_that_is_over_is_json_where_that_was_asked_for(tmp_path: Path) -> None:
    with ended(started(["check", "--json", "--seconds", "1"], tmp_path)) as process:
        out, _ = process.communicate(timeout=300)
    assert process.returncode == 1
    (found,) = json.loads(out)["diagnostics"]
    assert found["code"] == "DT210"


@pytest.mark.long
def test_nothing_is_written_when_the_time_is_over(tmp_path: Path) -> None:
    with ended(started(["compile", "-o", "out.py", "--seconds", "1"], tmp_path)) as process:
        process.communicate(timeout=300)
    assert process.returncode == 1
    assert written(tmp_path) == []


@pytest.mark.long
def test_who_is_ended_by_force_leaves_no_process_behind(tmp_path: Path) -> None:
    with ended(started(["check"], tmp_path)) as process:
        time.sleep(3)
        began = time.monotonic()
        process.kill()
        process.communicate(timeout=60)  # the pipes close when the child is gone, too
    assert time.monotonic() - began < 10


FILLS = """\
from dtpoly.system.apart import apart, ended_after, note

def work():
    note("filling memory")
    with ended_after(60, 2**26, lambda: None):
        kept = bytearray(b"x") * 2**30
        while kept:
            pass

raise SystemExit(apart(work, lambda stage, limit: print(stage, "/", limit) or 5))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system says no sizes there")
def test_a_process_that_takes_too_much_memory_and_does_not_see_it_is_ended() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FILLS], capture_output=True, env=environment(), timeout=60, cwd=ROOT
    )
    assert done.stdout == b"filling memory / the memory that it may take\n"
    assert (done.returncode, done.stderr) == (5, b"")
