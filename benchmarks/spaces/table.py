"""Writes tables in Markdown that say what came of each space."""

from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.spaces.summary import BY_RULE, Kept, read
from dtpoly.explore.report.study import NEAR

HEAD = (
    *("space", "sizes", "points", "refused by a rule", "by the compiler", "compiled", "measured"),
    *("not proved", "failed", "best, ms", "best baseline / best", f"within {NEAR - 1:.0%} of it"),
)
RANKS = ("space", "sizes", "schedules", "slowest / best", "rank", "of the best in the top 5 %")


def table(data: Sequence[dict[str, Any]]) -> str:
    """Return a row for each question."""
    return lines(HEAD, [row(one) for one in read(data)])


def lines(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    every = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in every)


def row(one: Kept) -> tuple[str, ...]:
    """Return the row of the table for one space."""
    least = min(one.baselines.values(), default=None)
    late = sum(one.refused.values()) - one.by_rule
    return (
        one.space,
        sizes(one),
        f"{one.points:,}" if one.tried == one.points else f"{one.tried:,} of {one.points:,}",
        f"{one.by_rule:,}{_reasons(one, True)}",
        f"{late:,}{_reasons(one, False)}",
        f"{one.compiled:,}",
        f"{one.timed:,}",
        f"{one.unproved:,}",
        f"{sum(one.failed.values()):,}",
        "" if one.best is None else f"{one.best:.4g}",
        "" if one.best is None or least is None else f"{least / one.best:.2f}",
        "" if one.near is None or not one.timed else f"{one.near / one.timed:.0%}",
    )


def rank(one: Kept) -> tuple[str, ...]:
    """Return the row that says how good predictions are in one space."""
    times = [time for _, time in one.pairs]
    share = one.share_of_top
    return (
        one.space,
        sizes(one),
        str(len(times)),
        f"{max(times) / min(times):.1f}" if times else "",
        "" if one.rank is None else f"{one.rank:.2f}",
        "" if share is None else f"{share:.3f}",
    )


def sizes(one: Kept) -> str:
    """`x = 64, y = 8, f32`."""
    return ", ".join([*(f"{label} = {size}" for label, size in one.sizes.items()), one.dtype])


def _reasons(one: Kept, is_rule: bool) -> str:
    """Return the ones that refuse, most first."""
    found = {kind: n for kind, n in one.refused.items() if kind.startswith(BY_RULE) == is_rule}
    told = "; ".join(f"{kind} {count:,}" for kind, count in found.items())
    return f" ({told})" if told else ""
