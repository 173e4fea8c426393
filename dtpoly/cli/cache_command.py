"""Implements `dtpoly cache`, which shows what the cache holds, and removes it."""

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from dtpoly.amounts import amount, many
from dtpoly.cli.amount_types import AgeType, BytesType
from dtpoly.cli.lazy import load
from dtpoly.cli.output import terminal_width, wants_colour, write
from dtpoly.cli.saving import tell_error
from dtpoly.render.printable import printable
from dtpoly.runtime.cache import KINDS, folder
from dtpoly.runtime.cache_contents import CacheEntry, cache_folder, entries, remove, to_prune

VERSION = 1  # of the JSON document
HEAD = ("kind", "entries", "size", "oldest", "what it holds")
INFO, CLEAR, PRUNE = "info", "clear", "prune"


@click.command(
    short_help="Show what the cache holds, and remove it.",
    epilog="""\b
Examples:
  dtpoly cache
  dtpoly cache clear
  dtpoly cache clear --kind proofs
  dtpoly cache prune --older 30d --most 500MB
  dtpoly cache prune --older 12h --dry-run --json""",
)
@click.argument("action", type=click.Choice([INFO, CLEAR, PRUNE]), default=INFO)
@click.option(
    "--kind",
    "kinds",
    type=click.Choice([*KINDS]),
    multiple=True,
    help="Only entries of this kind.  [default: all]",
)
@click.option(
    "--older",
    type=AgeType(),
    metavar="30d",
    help="For prune: remove what was written longer ago than this.",
)
@click.option(
    "--most",
    type=BytesType(),
    metavar="500MB",
    help="For prune: remove the oldest entries until no more than this is left.",
)
@click.option("--dry-run", is_flag=True, help="Remove nothing, and say what would be removed.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON document.")
def command(
    action: str,
    kinds: tuple[str, ...],
    older: float | None,
    most: float | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Show how much the cache holds (info), remove all of it (clear), or a part of it (prune).

    dtpoly keeps proofs and generated texts on disk, so that they are made only once. Whatever is
    removed is made again when it is needed. DTPOLY_CACHE_DIR says where the cache lies.
    """
    if action != PRUNE and (older is not None or most is not None):
        raise click.UsageError("--older and --most are for dtpoly cache prune")
    if action == PRUNE and older is None and most is None:
        raise click.UsageError("say with --older or --most what shall be removed")
    if action == INFO and dry_run:
        raise click.UsageError("--dry-run is for clear and prune: info removes nothing")
    base, place = cache_folder(), folder()
    if base is None and place is not None and place.exists():
        tell_error(f"'{place}' is no cache: it is no folder that only you can write to")
        return 1
    found = () if base is None else tuple(entries(base, kinds or KINDS))
    if action == INFO:
        _show(place, found, kinds or tuple(KINDS), as_json)
        return 0
    before = None if older is None else time.time() - older
    wanted = found if action == CLEAR else to_prune(found, before, most)
    gone = wanted if dry_run else remove(wanted)
    _tell(found, gone, dry_run, as_json)
    if len(gone) < len(wanted):
        tell_error(f"{_entries(len(wanted) - len(gone))} could not be removed")
        return 1
    return 0


def _show(
    place: Path | None, found: Sequence[CacheEntry], kinds: Sequence[str], as_json: bool
) -> None:
    """Print how much there is of each kind."""
    of = {kind: [one for one in found if one.kind == kind] for kind in kinds}
    if as_json:
        listed = [
            {
                "kind": kind,
                "entries": len(some),
                "bytes": _size(some),
                "oldest": min((one.written for one in some), default=None),
            }
            for kind, some in of.items()
        ]
        folder_name = None if place is None else str(place)
        document = {"version": VERSION, "folder": folder_name, "kinds": listed}
        write(json.dumps(document, indent=2) + "\n")
        return
    write(f"{'there is no place for a cache' if place is None else printable(str(place))}\n")
    rows = [
        (kind, f"{len(some):,}", amount(_size(some)), _age(some), KINDS[kind])
        for kind, some in of.items()
    ]
    table: Callable[..., str] = load("dtpoly.render.text_table").table
    colour = wants_colour(sys.stdout, os.environ)
    write(table(HEAD, rows, terminal_width(sys.stdout), colour=colour))


def _tell(
    found: Sequence[CacheEntry], gone: Sequence[CacheEntry], is_dry: bool, as_json: bool
) -> None:
    """Say what is removed, and what is left."""
    left = len(found) - len(gone)
    if as_json:
        removed = {"entries": len(gone), "bytes": _size(gone)}
        rest = {"entries": left, "bytes": _size(found) - _size(gone)}
        document = {"version": VERSION, "dry_run": is_dry, "removed": removed, "left": rest}
        write(json.dumps(document, indent=2) + "\n")
        return
    word = "would remove" if is_dry else "removed"
    write(f"{word} {_entries(len(gone))}, {amount(_size(gone))}; {_entries(left)} left\n")


def _entries(count: int) -> str:
    return f"{count:,} {'entry' if count == 1 else 'entries'}"


def _size(some: Sequence[CacheEntry]) -> int:
    return sum(one.size for one in some)


def _age(some: Sequence[CacheEntry]) -> str:
    """Return how long ago the oldest entry was written."""
    if not some:
        return ""
    seconds = max(time.time() - min(one.written for one in some), 0.0)
    for size, word in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= size:
            return f"{many(int(seconds // size), word)} ago"
    return "just now"
