"""Carries a command out in processes, of which one follows another that has crashed."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import FrameType

from benchmarks.gpu.results import Broken, began_file, read, write

# How a process ends that has lost its device and written down why; and one that was stopped.
LOST, STOPPED = 75, 130
# What such a process is told besides: that it is one, and how long it may take.
OWN = ("--here", "--seconds", "0")
CRASHES = {-signal.SIGSEGV, -signal.SIGABRT, -signal.SIGBUS, -signal.SIGILL, -signal.SIGFPE}


def in_processes(given: Sequence[str], output: Path, seconds: float) -> int:
    """Run a command until all its rows are there; the candidate of a crash is not tried again."""
    end = time.monotonic() + seconds
    broken = -1
    while True:
        left = max(end - time.monotonic(), 0.0)
        code = _child([*given, *OWN[:-1], f"{left:.0f}"])
        if code in CRASHES:
            crashed(output, f"it ended the process (signal {-code})")
        # Each new process has one candidate less to run, or there is no end to them.
        before, broken = broken, len(read(output).broken) if output.exists() else 0
        if (code not in CRASHES and code != LOST) or broken <= max(before, 0):
            return STOPPED if code < 0 else code


def _child(arguments: Sequence[str]) -> int:
    child = subprocess.Popen([sys.executable, "-m", "benchmarks", *arguments])

    def pass_on(number: int, _: FrameType | None) -> None:
        # Of Ctrl-C the terminal has told the child as well.
        if number == signal.SIGTERM:
            child.terminate()

    before = [(one, signal.signal(one, pass_on)) for one in (signal.SIGINT, signal.SIGTERM)]
    try:
        return child.wait()
    finally:
        for one, handler in before:
            signal.signal(one, handler)


def crashed(output: Path, why: str) -> None:
    """Write down which candidate ran when its process ended, if that is known."""
    began = began_file(output)
    if not began.exists() or not output.exists():
        return
    known = json.loads(began.read_text())
    broken = Broken(known["row"], known["candidate"], known["text_hash"], why)
    results = read(output)
    write(output, replace(results, broken=(*results.broken, broken)))
    began.unlink()
