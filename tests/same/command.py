"""Compares what the compiler does with the record, or writes the record again.

    python -m tests.same [--only PATTERN] [--shard I/N] [--quick] [--facts] [--shown N]
    python -m tests.same --freeze [--choose | --more]
    python -m tests.same --freeze-launches

The record has texts of programs and the outcome of each: the emitted functions, all messages, and
for some the verdict of each layer. It has the programs themselves, so that examples and generators
may change without changing what is compared. A second record has calls of the emitted functions,
and what they launched; if the emitted text has changed, its calls are made again. The exit code is
0 if all is the same, and 1 if not.
"""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from tests.same.asking import outcome_of
from tests.same.choosing import choose, more, proved
from tests.same.launch_record import (
    FROZEN_LAUNCHES,
    Launched,
    launched_by,
    texts_of,
    with_launches,
    write_launches,
)
from tests.same.outcome import Entry, Kind, Outcome
from tests.same.record import FROZEN, read_record, write_record
from tests.same.telling import Compared, is_kept, told
from tests.same.working import worked

# A quick comparison takes one text in this many.
QUICK = 10
INTERRUPTED = 130
NO_RECORD = 2
# If this many processes died, the reason is not in their texts.
MOST_LOST = 10


def arguments(words: Sequence[str] | None = None) -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(prog="tasks.py same", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--only", metavar="PATTERN", help="texts of such a name: 'pairs/1*'")
    parser.add_argument("--shard", metavar="I/N", type=_shard, help="the I-th of N parts, from 1")
    parser.add_argument("--quick", nargs="?", type=int, const=0, metavar="SEED", help="a tenth")
    parser.add_argument("--facts", action="store_true", help="do not compare wording")
    parser.add_argument("--shown", type=int, default=3, help="of each kind so many changes")
    parser.add_argument("--freeze", action="store_true", help="keep what comes out now")
    parser.add_argument("--choose", action="store_true", help="with --freeze: other texts, anew")
    parser.add_argument("--more", action="store_true", help="with --freeze: more texts, if needed")
    parser.add_argument("--freeze-launches", action="store_true", help="of the texts as frozen")
    parser.add_argument("--record", type=Path, default=FROZEN, help="another record")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(words)
    if (asked.choose or asked.more) and not asked.freeze:
        parser.error("--choose and --more are for --freeze")
    return asked


def _shard(word: str) -> tuple[int, int]:
    """Read a word such as `2/5` as two numbers."""
    first, slash, last = word.partition("/")
    if not (slash and first.isdigit() and last.isdigit() and 1 <= int(first) <= int(last)):
        raise argparse.ArgumentTypeError(f"'{word}' is not like 2/5")
    return int(first), int(last)


def is_quick(name: str, seed: int) -> bool:
    """True if the text is in the tenth that the seed chooses."""
    return int(sha256(f"{seed} {name}".encode()).hexdigest()[:8], 16) % QUICK == 0


def selected(entries: list[Entry], asked: argparse.Namespace) -> list[Entry]:
    """Return the entries that the command line asks for."""
    found = entries
    if asked.only:
        found = [one for one in found if fnmatchcase(one.name, asked.only)]
    if asked.quick is not None:
        found = [one for one in found if is_quick(one.name, asked.quick)]
    if asked.shard:
        first, count = asked.shard
        found = found[first - 1 :: count]
    return found


def now_of(entry: Entry) -> Outcome:
    """Return the outcome of a text now."""
    return with_launches(entry, outcome_of(entry.text, entry.asks_proof))


def outcomes(
    entries: Sequence[Entry], workers: int, console: Console
) -> Iterator[tuple[Entry, Outcome]]:
    """Yield the outcome of each text now, with a bar that shows how many are done."""
    with Progress(console=console, transient=True) as progress:
        task, lost = progress.add_task("same", total=len(entries)), 0
        for entry, now in worked(now_of, entries, workers):
            progress.advance(task)
            lost += now is None
            if lost > MOST_LOST:
                raise SystemExit("processes die, one after the other: nothing can be compared")
            yield entry, now or Outcome(Kind.BROKEN, why="the process died or hung")


def compare(entries: Sequence[Entry], asked: argparse.Namespace, console: Console) -> int:
    """Compare, and print what differs."""
    compared = Compared()
    is_whole = True
    try:
        console.print(f"comparing {len(entries):,} texts", markup=False, highlight=False)
        for entry, now in outcomes(entries, asked.workers, console):
            compared.add(entry, now, asked.facts)
    except KeyboardInterrupt:
        is_whole = False
    for line in told(compared, asked.shown):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if not is_whole:
        left = len(entries) - compared.entries
        console.print(f"interrupted: {left:,} texts were not compared", markup=False)
        return INTERRUPTED
    return int(not compared.is_same)


def freeze(
    entries: list[Entry], chosen: Sequence[Entry], asked: argparse.Namespace, console: Console
) -> int:
    """Keep the outcomes of the chosen entries as they are now; the other entries stay."""
    compared, kept = Compared(), {one.name: one for one in entries}
    broken: list[str] = []
    for entry, now in outcomes(chosen, asked.workers, console):
        compared.add(entry, now)
        if is_kept(now):
            kept[entry.name] = replace(entry, outcome=now)
        elif now.kind is Kind.BROKEN:
            broken.append(f"{entry.name} is not frozen: {now.why}")
    for line in (*told(compared, asked.shown), *broken):
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    if compared.found:
        write_record(kept.values(), asked.record)
    console.print(f"{len(compared.changed)} of {len(kept):,} entries changed", markup=False)
    return int(bool(broken))


def freeze_launches(entries: Sequence[Entry], workers: int, console: Console) -> int:
    """Keep what the frozen texts launch, with calls that are chosen again."""
    kept: dict[str, Launched] = {}
    texts = texts_of(entries)
    for entry, launched in worked(launched_by, texts, workers):
        if launched is None:
            console.print(f"the process of {entry.name} died or hung", markup=False)
            return 1
        kept[entry.name] = launched
    write_launches({entry.name: kept[entry.name] for entry in texts})
    calls, size = sum(map(len, kept.values())), FROZEN_LAUNCHES.stat().st_size
    console.print(f"{calls:,} calls of {len(texts):,} texts, {size:,} bytes", markup=False)
    return 0


def choose_anew(asked: argparse.Namespace, console: Console) -> int:
    """Choose other texts, and keep their outcomes."""
    chosen = choose(asked.workers, console.print)
    write_record(chosen, asked.record)
    write_record(proved(chosen, asked.workers), asked.record)
    size = asked.record.stat().st_size
    console.print(f"{len(chosen):,} entries, {size:,} bytes: {asked.record.name}", markup=False)
    return 0


def choose_more(entries: list[Entry], asked: argparse.Namespace, console: Console) -> int:
    """Choose texts with directives that too few texts have; all other entries stay as they are."""
    found = proved(more(entries, asked.workers, console.print), asked.workers)
    write_record([*entries, *found], asked.record)
    console.print(f"{len(found):,} entries more: {asked.record.name}", markup=False)
    return 0


def main(words: Sequence[str] | None = None) -> int:
    """Do what the command line asks for."""
    asked = arguments(words)
    console = Console()
    began = time.monotonic()
    try:
        if asked.choose:
            return choose_anew(asked, console)
        if not asked.record.exists():
            console.print(f"there is no record {asked.record}: make one with --freeze --choose")
            return NO_RECORD
        entries = read_record(asked.record)
        if asked.more:
            return choose_more(entries, asked, console)
        if asked.freeze_launches:
            return freeze_launches(entries, asked.workers, console)
        chosen = selected(entries, asked)
        if not chosen:
            console.print("no text has such a name", markup=False)
            return 1
        if asked.freeze:
            return freeze(entries, chosen, asked, console)
        return compare(chosen, asked, console)
    except KeyboardInterrupt:
        console.print("interrupted: the record is as it was", markup=False)
        return INTERRUPTED
    finally:
        console.print(f"{time.monotonic() - began:.0f} s", markup=False)
