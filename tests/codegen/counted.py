"""The command of modules that try random cases: it counts what became of each, and records that.

It can be stopped and called again: what became of each case stands in a file beside the record,
which is read when the command is called again. If dtpoly has changed since then, it begins anew.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from dtpoly.writing import write_atomically
from tests.codegen.running import forget

ROOT = Path(__file__).parents[2]
SOURCES = ("dtpoly", "codegen", "frontend", "tests/codegen", "tests/verify", "tests/oracle")
Counts = Mapping[str, int]
Tried = Callable[[int], Iterable[str]]


def nothing_more(_: Counts) -> dict[str, object]:
    """Return nothing that a record says besides its counts."""
    return {}


def record(
    module: str,
    cases: str,
    what: str,
    tried: Tried,
    *,
    more: Callable[[Counts], Mapping[str, object]] = nothing_more,
    arguments: Sequence[str] | None = None,
) -> None:
    """Try the cases of a range of seeds, and write how many there are of each kind.

    The command line names the first seed, the one behind the last, and the file. `tried` returns
    the words that are counted, `cases` is what the record calls them, and `more` says what else the
    record has, from the counts.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description=what)
    parser.add_argument("first", type=int, help="the first seed")
    parser.add_argument("last", type=int, help="the seed behind the last one")
    parser.add_argument("file", type=Path, help="where the counts are written")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="stop after so long")
    given = parser.parse_args(arguments)
    journal = Journal(given.file.with_suffix(".seeds.jsonl"), digest())
    end = time.monotonic() + 60 * given.minutes
    wanted = range(given.first, given.last)
    for seed in wanted:
        if seed in journal.words:
            continue
        if time.monotonic() > end:
            break
        words = tuple(tried(seed))
        journal.add(seed, words)
        forget()
        done = sum(one in journal.words for one in wanted)
        print(f"{done} of {len(wanted)}: {seed}: {', '.join(words)}", file=sys.stderr, flush=True)
    told = counted(journal.words, wanted, cases, what, f"python -m {module}", more)
    write_atomically(given.file, f"{json.dumps(told, indent=1)}\n".encode())


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
    """What became of each seed, in a file that grows by a line for each of them."""

    def __init__(self, path: Path, sources: str) -> None:
        self.path = path
        self.words: dict[int, tuple[str, ...]] = {}
        if path.exists():
            self._read(sources)
        lines = [json.dumps({"sources": sources}), *map(json.dumps, self.words.items())]
        write_atomically(path, "".join(f"{line}\n" for line in lines).encode())

    def _read(self, sources: str) -> None:
        first, *rest = self.path.read_text("utf-8").splitlines()
        if json.loads(first) != {"sources": sources}:
            print(f"{self.path} is of other sources: it begins anew", file=sys.stderr)
            return
        for line in rest:
            try:
                seed, words = json.loads(line)
            except json.JSONDecodeError:
                break  # the last line, if the command was killed while it wrote
            self.words[seed] = tuple(words)

    def add(self, seed: int, words: Sequence[str]) -> None:
        """Write down what became of a seed."""
        self.words[seed] = tuple(words)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps([seed, [*words]])}\n")


def digest() -> str:
    """Return a digest of the sources on which the outcomes depend."""
    found = sha256()
    for folder in SOURCES:
        for path in sorted((ROOT / folder).rglob("*.py")):
            found.update(path.read_bytes())
    return found.hexdigest()[:16]
