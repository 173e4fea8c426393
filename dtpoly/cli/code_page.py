"""Shows the page of a diagnostic: what its code means, an example, and the way out."""

import json
import re
from collections.abc import Iterator

import click

from dtpoly.catalogue import CATALOGUE
from dtpoly.catalogue.pages import page_of
from dtpoly.cli.output import write
from dtpoly.suggest import near

VERSION = 1  # of the JSON document
INDENT = "    "
FENCE = re.compile(r"`{3,}")
EMPHASIS = re.compile(r"\*\*(.+?)\*\*|^\*(\w+\.)\*")


def explain_code(word: str, *, as_json: bool) -> int:
    """Print the page of a code. Raises click.BadParameter if there is no such code."""
    code = word.upper()
    if code not in CATALOGUE:
        meant = near(code, sorted(CATALOGUE))
        there = f"did you mean {meant}?" if meant else "docs/diagnostics.md lists all of them"
        raise click.BadParameter(f"there is no code {code}; {there}", param_hint="'FILE|CODE'")
    page, entry = page_of(code), CATALOGUE[code]
    if as_json:
        about = {"code": code, "title": entry.title, "remedy": entry.remedy, "page": page}
        write(json.dumps({"version": VERSION, **about}, indent=2) + "\n")
    else:
        write(f"{code}\n\n" + "".join(f"{line}\n" for line in _plain(page)))
    return 0


def _plain(page: str) -> Iterator[str]:
    """Yield the lines of a page for a terminal: examples are indented, and marks are left out."""
    fence = ""
    for line in page.splitlines():
        if fence:
            if line == fence:
                fence = ""
            else:
                yield f"{INDENT}{line}".rstrip()
        elif match := FENCE.match(line):
            fence = match[0]
        else:
            yield EMPHASIS.sub(lambda found: found[1] or found[2], line)
