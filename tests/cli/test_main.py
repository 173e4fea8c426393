"""Exit codes, whatever happens: usage, bugs, interruptions, streams that break."""

import errno
import io
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from dtpoly import __version__
from dtpoly.checking import Checked
from dtpoly.cli import check_command
from dtpoly.cli.output import wants_colour
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.cli.process import COMMAND, ROOT, SOFTMAX, WRONG, dtpoly, ended, environment

COMMANDS = (
    *("check", "fmt", "show", "explain", "why-not", "legal", "directives", "compile", "verify"),
    *("run", "space", "cost", "schedule", "device", "explore", "report", "ship"),
    *("differentiate", "new", "lsp", "doctor", "cache", "completion"),
)


def test_version(call: Entry) -> None:
    assert call("--version") == (0, f"dtpoly {__version__}\n", "")


def test_help_lists_all_commands(call: Entry) -> None:
    code, out, err = call("--help")
    assert (code, err) == (0, "")
    assert "Examples:" in out
    listed = re.findall(r"^  ([a-z][\w-]*)  ", out, re.MULTILINE)
    assert listed == list(COMMANDS)
    assert "..." not in out.replace("[ARGS]...", "")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_each_command_has_an_example(call: Entry, name: str) -> None:
    code, out, _ = call(name, "--help")
    assert code == 0
    assert re.search(rf"Examples:\n(    .*)?dtpoly {name}[ \n]", out)
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Usage: dtpoly"),
        (("chekc", "a.dt"), "no command 'chekc'; did you mean 'check'?"),
        (("xyzzy",), "no command 'xyzzy'"),
        (("check",), "Missing argument 'FILE...'"),
        (("show",), "Missing argument 'FILE'"),
        (("fmt", "--chekc", "a.dt"), "--chekc"),
        (("run", "--seed", "x", "a.dt"), "--seed"),
    ],
)
def test_usage(call: Entry, arguments: tuple[str, ...], message: str) -> None:
    code, out, err = call(*arguments)
    assert code == 2
    assert message in out + err


def broken(source: Source, *_: object) -> Checked:
    raise KeyError(f"\x1b[2Jplanted in {source.name}")


@pytest.fixture
def bug(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Return a planted bug; the folder that its repro file goes to."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(check_command, "check", broken)
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.delenv("DTPOLY_DEBUG", raising=False)
    return folder


WITHOUT_ISL = """
import importlib.util, sys
before = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name == "islpy" else before(name, *more)
from dtpoly.cli.main import entry
sys.exit(entry(["check", "examples/softmax.dt"]))
"""


def test_a_package_that_is_missing_is_no_bug() -> None:
    command = (sys.executable, "-c", WITHOUT_ISL)
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 1
    assert done.stderr == "error: islpy is not installed: pip install islpy\n"


@pytest.mark.long
def test_too_little_memory_is_no_bug() -> None:
    words = ("run", "--reference", "softmax.dt", "--size", "x=100000,y=100000", "--memory", "999")
    limited = ["sh", "-c", 'ulimit -v 6000000; exec "$@"', "sh", sys.executable, "-m", "dtpoly"]
    done = subprocess.run(
        [*limited, *words],
        cwd=ROOT / "examples",
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr == "error: there is not enough memory here for that: take smaller sizes\n"


def test_a_bug_gives_a_repro_file(call: Entry, bug: Path) -> None:
    code, out, err = call("check", "-", "--quiet", stdin=SOFTMAX.encode())
    assert (code, out) == (3, "")
    (path,) = bug.iterdir()
    assert err.startswith("internal error: KeyError:")
    assert "\x1b" not in err
    assert "Traceback" not in err
    for word in (str(path), "report", "command: dtpoly check - --quiet", __version__, "Python 3."):
        assert word in err
    repro = path.read_text()
    assert "Traceback" in repro
    assert "in broken" in repro
    assert f"===== <stdin>\n{SOFTMAX}" in repro
    assert "command: dtpoly check - --quiet" in repro


def test_a_bug_on_a_full_disk(call: Entry, bug: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    code, _, err = call("check", "-", stdin=SOFTMAX.encode())
    assert code == 3
    assert "no repro file could be written: No space left on device" in err
    assert list(bug.iterdir()) == []


def test_debug_shows_the_traceback(call: Entry, bug: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DTPOLY_DEBUG", "1")
    with pytest.raises(KeyError):
        call("check", "-", stdin=SOFTMAX.encode())
    assert list(bug.iterdir()) == []


@pytest.mark.parametrize("arguments", [("check", "-"), ("fmt", "-"), ("show", "-")])
def test_interrupted_while_reading(arguments: tuple[str, ...]) -> None:
    with ended(
        subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    ) as process:
        assert process.stdin is not None
        # More than a pipe holds: when all of it is written, the process is reading.
        process.stdin.write(b"# line\n" * 40_000)
        process.stdin.flush()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        # An open standard input keeps the process waiting, so only the signal can end it.
        assert process.wait(timeout=30) == 130
        assert process.stdout is not None
        assert process.stderr is not None
        assert (process.stdout.read(), process.stderr.read()) == (b"", b"")


@pytest.mark.long
@pytest.mark.parametrize(
    "module", ["dtpoly/cli/check_command.py", "dtpoly/source.py", "dtpoly/cli/main.py"]
)
def test_a_compiled_module_that_is_cut_off(module: str, tmp_path: Path) -> None:
    (tmp_path / "softmax.dt").write_text(SOFTMAX)
    words = [*COMMAND, "check", "softmax.dt"]
    # Without the folder that tests share, and with one of its own for what Python compiles.
    own = environment(PYTHONPYCACHEPREFIX=str(tmp_path / "compiled"))
    assert subprocess.run(words, cwd=tmp_path, env=own, check=False).returncode == 0
    name = f"{Path(module).stem}.{sys.implementation.cache_tag}.pyc"
    (kept,) = (tmp_path / "compiled").rglob(f"{Path(module).parent}/{name}")
    kept.write_bytes(kept.read_bytes()[:100])
    done = subprocess.run(words, cwd=tmp_path, env=own, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Python cannot load a module that it has compiled before" in done.stderr
    assert f"delete it: {kept}" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [("--help",), ("check", "-"), ("fmt", "-"), ("show", "-")])
def test_a_reader_that_goes_away(arguments: tuple[str, ...]) -> None:
    with ended(
        subprocess.Popen(
            [*COMMAND, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        )
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.write(SOFTMAX.encode())
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=30) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("arguments", [("--version",), ("--help",), ("check", "-"), ("fmt", "-")])
def test_a_full_disk_behind_standard_output(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments],
            input=SOFTMAX.encode(),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(),
        )
    assert done.returncode == 1
    assert done.stderr == b"error: cannot write the output: No space left on device\n"


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_a_closed_stream(closed: str, wrong: Path) -> None:
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {closed}', "sh", *COMMAND, "check", str(wrong)],
        capture_output=True,
        check=False,
        env=environment(),
    )
    assert done.returncode == 1
    assert b"Traceback" not in done.stdout + done.stderr


def test_an_encoding_that_lacks_characters() -> None:
    text = WRONG.replace("q", "\u20ac")
    done = dtpoly("check", "-", stdin=text.encode(), env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1
    assert b"4 | f[x] = A[x] + \\u20ac;" in done.stdout


def test_no_colour_in_a_pipe(wrong: Path) -> None:
    assert b"\x1b" not in dtpoly("check", str(wrong)).stdout
    assert b"\x1b[1;31m" in dtpoly("check", str(wrong), env={"FORCE_COLOR": "1"}).stdout


@pytest.mark.parametrize(("more", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_on_a_terminal(wrong: Path, more: dict[str, str], coloured: bool) -> None:
    main, side = pty.openpty()
    started = subprocess.Popen(
        [*COMMAND, "check", str(wrong)],
        stdin=side,
        stdout=side,
        stderr=side,
        env=environment(**more),
    )
    os.close(side)
    shown = b""
    with ended(started) as process:
        # Linux reports the end of a terminal as an error.
        while True:
            try:
                chunk = os.read(main, 4096)
            except OSError:
                break
            if not chunk:
                break
            shown += chunk
        os.close(main)
        assert process.wait(timeout=30) == 1
    assert b"^" in shown
    assert (b"\x1b[1;31m" in shown) is coloured
    assert (b"\x1b" in shown) is coloured


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("wishes", "on_terminal", "in_pipe"),
    [
        ({"TERM": "xterm"}, True, False),
        ({"TERM": "dumb"}, False, False),
        ({"NO_COLOR": "1"}, False, False),
        ({"NO_COLOR": ""}, True, False),
        ({"FORCE_COLOR": "1"}, True, True),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False, False),
    ],
)
def test_who_gets_colours(wishes: dict[str, str], on_terminal: bool, in_pipe: bool) -> None:
    assert wants_colour(Terminal(), wishes) is on_terminal
    assert wants_colour(io.StringIO(), wishes) is in_pipe


def test_a_null_character_is_no_argument(call: Entry) -> None:
    for words in (("report", "\0"), ("check", "a\0.dt"), ("\0",)):
        code, out, err = call(*words)
        assert (code, out) == (2, "")
        assert "an argument holds a null character" in err


def test_a_name_that_is_no_name_of_a_file(call: Entry, good: Path) -> None:
    name = "x" * 5000
    for words in (
        ("report", name),
        ("ship", name, "-o", "x.dts"),
        ("ship", str(good), "-o", name),
        ("check", name),
        ("compile", str(good), "-o", name),
        ("verify", str(good), "--kernel", name),
        ("verify", str(good), "--check", name),
        ("show", str(good), "--stage", "map", "--size", "x=2,y=2", "-o", name + ".svg"),
    ):
        code, out, err = call(*words)
        assert code in (1, 2), words
        assert "internal" not in out + err, words
