"""Writes the tables of docs/evaluation.md from results that are kept."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.chosen import Reached, mean
from benchmarks.files import RESULTS, ROOT
from benchmarks.spaces.summary import Kept, read
from benchmarks.spaces.table import HEAD, RANKS, lines, rank, row

PAGE = ROOT / "docs" / "evaluation.md"
SPACES = RESULTS / "spaces_h200.json"
SCHEDULED = RESULTS / "scheduled_h200.json"
MISSING = "Nothing was measured yet.\n"
CHOSEN = ("row", "measured", "best known, ms", "best chosen, ms", "place", "share", "first")
MARK = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end of \w+ -->)", re.DOTALL)


def filled(page: str, parts: Mapping[str, str]) -> str:
    """Return the page with what is between marks put anew."""
    return MARK.sub(lambda found: f"{found[1]}{parts[found[2]]}{found[3]}", page)


def told() -> dict[str, str]:
    """Return the text between the marks of the page, by their names."""
    every = read(json.loads(SPACES.read_text())["questions"]) if SPACES.exists() else []
    return {
        "spaces": spaces_told(every),
        "ranks": ranked(every),
        "chosen": _chosen(json.loads(SCHEDULED.read_text())) if SCHEDULED.exists() else MISSING,
    }


def spaces_told(every: Sequence[Kept]) -> str:
    """Return the table of the spaces that were measured beside baselines."""
    found = [one for one in every if one.baselines]
    if not found:
        return MISSING
    whole = sum(one.tried == one.points for one in found)
    said = (
        f"{len(found)} spaces, {whole} of them to the end: {sum(one.points for one in found):,}"
        f" points, of which {sum(one.by_rule for one in found):,} were refused by a rule,"
        f" {sum(one.compiled for one in found):,} compiled and"
        f" {sum(one.timed for one in found):,} have a time.\n\n"
    )
    return said + lines(HEAD, map(row, found))


def ranked(found: Sequence[Kept]) -> str:
    """Return the table of how good predictions are in each space, at all of its sizes."""
    shares = [one.share_of_top for one in found if one.share_of_top is not None]
    ranks = [one.rank for one in found if one.rank is not None]
    if not shares or not ranks:
        return MISSING
    kernels = len({one.space for one in found})
    said = (
        f"{len(shares)} questions of {kernels} kernels: the best of the top 5 % by prediction"
        f" reaches {mean(shares):.3f} of the best of all in the geometric mean, {min(shares):.3f}"
        f" at the least; the rank correlation is {sum(ranks) / len(ranks):.2f} in the mean.\n\n"
    )
    return said + lines(RANKS, map(rank, found))


def _chosen(data: Mapping[str, Any]) -> str:
    found = [Reached(**one) for one in data["rows"]]
    shares, firsts = [one.share for one in found], [one.share_of_first for one in found]
    said = (
        f"{len(found)} rows: the best of what was chosen reaches {mean(shares):.3f} of the best"
        f" schedule known in the geometric mean, {min(shares):.3f} at the least; the first one,"
        f" which is taken unmeasured, {mean(firsts):.3f}.\n\n"
    )
    table = [
        (
            *(one.row, str(one.chosen), f"{one.known:.4g}", f"{one.best:.4g}", str(one.place)),
            *(f"{one.share:.3f}", f"{one.share_of_first:.3f}"),
        )
        for one in sorted(found, key=lambda one: one.share)
    ]
    return said + lines(CHOSEN, table) + _seconds(data["seconds"])


def _seconds(data: Sequence[Mapping[str, Any]]) -> str:
    """Return how long `dtpoly schedule` took from its start to its answer."""
    if not data:
        return ""
    rows = [(one["row"], str(one["measured"]), f"{one['seconds']:.1f}") for one in data]
    return "\n" + lines(("row", "schedules measured", "seconds, all in all"), rows)
