"""The command of modules that try random cases: it counts what became of each, and records that.

It can be stopped and called again: what became of each case stands in a file beside the record,
which is read when the command is called again. If dtpoly has changed since then, it begins anew.

`--workers N` tries the cases in N processes. A case that takes more than `--seconds` of the
processor's time, or whose process dies, is counted as one without an answer; it is tried again if
the command is called again with more seconds. What cases have in common, such as a draw, is made
once, in the process of the command, which gives each worker the cases that it tries.

Kernels run in Triton's interpreter, unless TRITON_INTERPRET says something else.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, overload

from dtpoly.writing import write_atomically
from tests.codegen.running import forget
from tests.same.working import worked

os.environ.setdefault("TRITON_INTERPRET", "1")  # before a kernel is imported, here or in a worker

ROOT = Path(__file__).parents[2]
SOURCES = ("dtpoly", "codegen", "frontend", "tests/codegen", "tests/verify", "tests/oracle")
Counts = Mapping[str, int]
Case = TypeVar("Case")
CASE_S = 120.0
NO_ANSWER = "no answer: it took too long, or its process died"


def nothing_more(_: Counts) -> dict[str, object]:
    """Return nothing that a record says besides its counts."""
    return {}


@overload
def record(
    module: str,
    cases: str,
    what: str,
    tried: Callable[[int], Iterable[str]],
    *,
    more: Callable[[Counts], Mapping[str, object]] = nothing_more,
    arguments: Sequence[str] | None = None,
) -> None: ...


@overload
def record(
    module: str,
    cases: str,
    what: str,
    tried: Callable[[Case], Iterable[str]],
    case_of: Callable[[int], Case],
    *,
    more: Callable[[Counts], Mapping[str, object]] = nothing_more,
    arguments: Sequence[str] | None = None,
) -> None: ...


def record(
    module: str,
    cases: str,
    what: str,
    tried: Callable[[Case], Iterable[str]],
    case_of: Callable[[int], Case] | None = None,
    *,
    more: Callable[[Counts], Mapping[str, object]] = nothing_more,
    arguments: Sequence[str] | None = None,
) -> None:
    """Try the cases of a range of seeds, and write how many there are of each kind.

    The command line names the first seed, the one behind the last, and the file. `tried` returns
    the words that are counted, `cases` is what the record calls them, and `more` says what else the
    record has, from the counts. `tried` is given the seed, or what `case_of` makes of it in this
    process. The record is written, too, if the command is stopped by Ctrl-C.
    """
    given = _parser(module, what).parse_args(arguments)
    journal = Journal(given.file.with_suffix(".seeds.jsonl"), digest())
    end = time.monotonic() + 60 * given.minutes
    wanted = range(given.first, given.last)
    left = [seed for seed in wanted if not journal.has(seed, given.seconds)]
    jobs = [(seed, case_of(seed) if case_of else seed) for seed in left]
    try:
        with closing(_answers(tried, jobs, given.workers, given.seconds)) as answers:
            while time.monotonic() <= end:
                answer = next(answers, None)
                if answer is None:
                    break
                seed, words = answer
                journal.add(seed, words, given.seconds)
                done = sum(one in journal.words for one in wanted)
                said = f"{done} of {len(wanted)}: {seed}: {', '.join(words)}"
                print(said, file=sys.stderr, flush=True)
    finally:
        found = counted(journal.words, wanted, cases, what, f"python -m {module}", more)
        write_atomically(given.file, f"{json.dumps(found, indent=1)}\n".encode())


def _parser(module: str, what: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=what)
    parser.add_argument("first", type=int, help="the first seed")
    parser.add_argument("last", type=int, help="the seed behind the last one")
    parser.add_argument("file", type=Path, help="where the counts are written")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    parser.add_argument("--workers", type=int, default=0, help="how many processes try cases")
    told = "how much of the processor's time each case may take, with --workers"
    parser.add_argument("--seconds", type=float, default=CASE_S, help=told)
    return parser


def _answers(
    tried: Callable[[Any], Iterable[str]],
    jobs: Sequence[tuple[int, object]],
    workers: int,
    seconds: float,
) -> Generator[tuple[int, tuple[str, ...]]]:
    """Yield each seed with its words: in their order in this process, or as workers end them."""
    if not workers:
        yield from ((job[0], _answer(tried, job)) for job in jobs)
        return
    with closing(worked(partial(_answer, tried), jobs, workers, seconds)) as results:
        for (seed, _), words in results:
            yield seed, (NO_ANSWER,) if words is None else words


def _answer(tried: Callable[[Any], Iterable[str]], job: tuple[int, object]) -> tuple[str, ...]:
    """Return the words of a case. Its generated files are dropped."""
    words = tuple(tried(job[1]))
    forget()
    return words


def counted(
    words: Mapping[int, Sequence[str]],
    wanted: range,
    cases: str,
    what: str,
    command: str,
    more: Callable[[Counts], Mapping[str, object]],
) -> dict[str, object]:
    """Return the record of the seeds that were tried, among those that are wanted."""
    done = [seed for seed in wanted if seed in words]
    found = Counter(word for seed in done for word in words[seed])
    return {
        "what": what,
        "command": f"{command} {wanted.start} {wanted.stop} FILE",
        cases: len(done),
        "outcomes": dict(found.most_common()),
        **more(found),
    }


class Journal:
    """Keeps the result of each seed in a file, to which each seed adds a line.

    Of a case without an answer, it knows for how many seconds it was tried.
    """

    def __init__(self, path: Path, sources: str) -> None:
        self.path = path
        self.words: dict[int, tuple[str, ...]] = {}
        self.seconds: dict[int, float] = {}
        if path.exists():
            self._read(sources)
        lines = [json.dumps({"sources": sources}), *map(self._line, self.words)]
        write_atomically(path, "".join(f"{line}\n" for line in lines).encode())

    def _read(self, sources: str) -> None:
        first, *rest = self.path.read_text("utf-8").splitlines()
        if json.loads(first) != {"sources": sources}:
            print(f"{self.path} is of other sources: it begins anew", file=sys.stderr)
            return
        for line in rest:
            try:
                seed, words, *seconds = json.loads(line)
            except json.JSONDecodeError:
                break  # the last line, if the command was killed while it wrote
            self._take(seed, words, *seconds)

    def _take(self, seed: int, words: Sequence[str], seconds: float = 0.0) -> None:
        self.words[seed] = tuple(words)
        self.seconds[seed] = seconds

    def _line(self, seed: int) -> str:
        return json.dumps([seed, [*self.words[seed]], self.seconds[seed]])

    def has(self, seed: int, seconds: float) -> bool:
        """Return whether a seed need not be tried with so many seconds."""
        words = self.words.get(seed)
        return words is not None and (words != (NO_ANSWER,) or self.seconds[seed] >= seconds)

    def add(self, seed: int, words: Sequence[str], seconds: float) -> None:
        """Write down what became of a seed, which had so many seconds."""
        self._take(seed, words, seconds)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{self._line(seed)}\n")


def digest() -> str:
    """Return a digest of the sources on which the outcomes depend."""
    found = sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]
