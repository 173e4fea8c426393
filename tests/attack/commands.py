"""Gives hostile files and words to every command.

Each command must end with a message, and do nothing else.
"""

import contextlib
import io
import os
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from dtpoly.cli.main import entry
from tests.attack.hostile_files import SECRET, Folder, base, close_pipes, folder_of
from tests.attack.hostile_words import NAMED, command_line
from tests.attack.outcome import Outcome, Verdict
from tests.cli.process import environment

CODES = (0, 1, 2)
# These commands change existing files; the others write new ones only.
CHANGING = ("fmt", "ship")
# One command in this many is run as users run it, in a process of its own, which takes ten times as
# long.
APART = 40
SECONDS = 60.0  # that process may take this long
LINES = 60  # of what a command prints, in a finding


@dataclass(frozen=True)
class Ended:
    """The outcome of a command."""

    code: int
    said: str
    environment: Mapping[str, str]


def attempt(seed: int) -> Outcome:
    """Make a folder, run one command in it, and look at what it did."""
    random = Random(seed)
    base()
    where = Path(mkdtemp(prefix="dtpoly-attack-"))
    try:
        folder = folder_of(where, random)
        words = command_line(folder, random)
        before = contents(folder.path)
        is_short = random.random() < 0.04
        stdin = random.choice([*before.values()]) or b""
        environment = dict(os.environ)
        is_apart = seed % APART == 0 and not any("\0" in word for word in words)
        run_it = run_apart if is_apart else run
        ended = run_it(words, folder.path, stdin, is_short=is_short)
        wrong = misdeed(ended, words, folder, before, environment)
        named = words[0] if words and words[0] in NAMED else "no command"
        apart = "in a process of its own"
        figures = {"inputs": 1, f"exit {ended.code}": 1, named: 1, apart: int(is_apart)}
        if wrong is None:
            verdict = Verdict.AGREE if ended.code == 0 else Verdict.REFUSED
            return Outcome(verdict, figures=figures)
        return Outcome(Verdict.WRONG, wrong, told(words, ended, folder, before), figures)
    finally:
        close_pipes(where / "inside")
        shutil.rmtree(where, ignore_errors=True)


def contents(folder: Path) -> dict[str, bytes | None]:
    """Return the contents of each file, and None for what is no file."""
    return {
        one.name: one.read_bytes() if one.is_file() and not one.is_symlink() else None
        for one in folder.iterdir()
    }


def run(words: tuple[str, ...], folder: Path, stdin: bytes, *, is_short: bool) -> Ended:
    """Run a command in a folder, in this process, as the program does."""
    printed = io.BytesIO()
    kept, here = dict(os.environ), Path.cwd()
    streams = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    out = io.TextIOWrapper(printed, encoding="utf-8", write_through=True)
    sys.stdout = sys.stderr = out
    try:
        os.chdir(folder)
        with little_room() if is_short else contextlib.nullcontext():
            code = entry(words)
        out.flush()
        found = dict(os.environ)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        os.chdir(here)
        os.environ.clear()
        os.environ.update(kept)
    return Ended(code, printed.getvalue().decode(errors="backslashreplace"), found)


def run_apart(words: tuple[str, ...], folder: Path, stdin: bytes, *, is_short: bool) -> Ended:
    """Run a command in a folder, in a process of its own. Raises TimeoutExpired."""
    with little_room() if is_short else contextlib.nullcontext():
        done = subprocess.run(
            [sys.executable, "-m", "dtpoly", *words],
            cwd=folder,
            env=environment(**({"PYTHONDONTWRITEBYTECODE": "1"} if is_short else {})),
            input=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
    return Ended(done.returncode, done.stdout.decode(errors="backslashreplace"), dict(os.environ))


@contextlib.contextmanager
def little_room() -> Generator[None]:
    """No file may grow beyond some bytes, as on a disk that is full.

    Python would leave compiled modules cut off, which other processes of the tests load.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    is_compiled, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = is_compiled


def misdeed(
    ended: Ended,
    words: tuple[str, ...],
    folder: Folder,
    before: Mapping[str, bytes | None],
    environment: Mapping[str, str],
) -> str | None:
    """Return, in one line, what a command did that it may not do."""
    if ended.code not in CODES:
        lines = [line for line in ended.said.splitlines() if "rror" in line]
        return f"exit code {ended.code}: {next(iter(lines), '')[:150]}"
    if "Traceback (most recent" in ended.said:
        return "a traceback is printed"
    if SECRET in ended.said:
        return "it says what is in another file"
    ours = {"TRITON_INTERPRET", "PYTEST_CURRENT_TEST"}
    changed = {
        k
        for k, v in {**environment, **ended.environment}.items()
        if k not in ours and (environment.get(k) != v or ended.environment.get(k) != v)
    }
    if folder.canary.exists() or "canary" in contents(folder.path) or changed:
        return f"code of a file was run: {sorted(changed)}"
    after = contents(folder.path)
    left = [name for name in after if name not in before and name.startswith(".")]
    if left:
        return f"it leaves {left[0]} behind"
    if ended.code != 0:
        # The proof that was asked for is written, though not all is proved.
        named = words if "--certificate" in words else ()
        new = [name for name in after if name not in before and name not in named]
        if new and words[0] not in CHANGING:
            return f"it fails, and leaves {new[0]}"
        other = [name for name, data in before.items() if after.get(name, data) != data]
        if other and words[0] not in CHANGING and other[0] not in named:
            return f"it fails, and changes {other[0]}"
    emptied = [one for one, data in after.items() if data == b"" and before.get(one)]
    return f"it empties {emptied[0]}" if emptied else None


def told(
    words: tuple[str, ...], ended: Ended, folder: Folder, before: Mapping[str, bytes | None]
) -> str:
    """Return all that a person needs who looks at it."""
    lines = ended.said.splitlines()[:LINES]
    said = [f"$ dtpoly {shlex.join(words)}", *lines, f"exit code {ended.code}"]
    good = base()
    for word in words:
        name = Path(word).name if "\x00" not in word else ""
        data = before.get(name)
        if data is not None and data != good.get(name):
            said.append(f"===== {name}: {data[:4000]!r}")
    # The name of a file may have bytes that are not UTF-8, which no text can hold.
    return "\n".join(said).encode(errors="backslashreplace").decode()
