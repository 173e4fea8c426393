"""A `dtpoly` process that stays, and answers each command with what it would have printed.

Tests interpret kernels, and Triton cannot do both in one process; nor has it to be imported anew
for each command. `python -m tests.cli.server` is that process. A command that begins with `call`
names a function of the tests instead, with its arguments: `call tests.codegen.compiling:main 4`.
"""

import importlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

from dtpoly.cli.main import entry
from tests.cli.process import ROOT, environment


@dataclass(slots=True)
class Server:
    """The process, seen from a test."""

    known: Mapping[str, str]
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, **more: str) -> Self:
        """Return a process with these environment variables."""
        known = {
            key: value for key, value in environment(**more).items() if key != "TRITON_INTERPRET"
        }
        return cls(known, _started(known))

    def __call__(self, *arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        """Exit code, standard output, standard error of a command in the folder of the test."""
        asked = {"arguments": arguments, "stdin": stdin.decode(), "folder": os.getcwd()}
        is_answered = False
        try:
            print(json.dumps(asked), file=_pipe(self.process.stdin), flush=True)
            answer = json.loads(_pipe(self.process.stdout).readline())
            is_answered = True
        finally:
            # A test may be cut off while it waits. The next one must not get this answer.
            if not is_answered:
                self._start_again()
        return answer["code"], answer["out"], answer["err"]

    def _start_again(self) -> None:
        self.process.kill()
        with self.process, suppress(BrokenPipeError):
            _pipe(self.process.stdin).close()
        self.process = _started(self.known)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        _pipe(self.process.stdin).close()
        self.process.wait(timeout=60)
        _pipe(self.process.stdout).close()


def _started(known: Mapping[str, str]) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.cli.server"],
        cwd=ROOT,
        env=known,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _pipe(pipe: IO[str] | None) -> IO[str]:
    assert pipe is not None
    return pipe


def serve() -> None:
    """Answer until there are no more commands."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library writes past Python is no answer
    for line in sys.stdin:
        asked = json.loads(line)
        os.chdir(asked["folder"])
        print(json.dumps(answer(asked["arguments"], asked["stdin"])), file=answers, flush=True)


def answer(arguments: list[str], text: str) -> dict[str, object]:
    """Run a command with streams of its own."""
    streams = sys.stdin, sys.stdout, sys.stderr
    out, err = (io.TextIOWrapper(io.BytesIO(), errors="replace") for _ in range(2))
    sys.stdin, sys.stdout, sys.stderr = io.TextIOWrapper(io.BytesIO(text.encode())), out, err
    try:
        code = _called(*arguments[1:]) if arguments[0] == "call" else entry(arguments)
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
    out.seek(0)
    err.seek(0)
    return {"code": code, "out": out.read(), "err": err.read()}


def _called(name: str, *arguments: str) -> int:
    module, _, function = name.partition(":")
    answer: int = getattr(importlib.import_module(module), function)(*arguments)
    return answer


if __name__ == "__main__":
    serve()
