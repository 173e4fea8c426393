"""Finds what became slower between two files of results."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table

from benchmarks.gpu.results import Results, Timed
from benchmarks.gpu.summary import Line, lines


@dataclass(frozen=True, slots=True)
class Change:
    """A row that had a time: what it took before, and takes now if it was measured."""

    name: str
    before: Timed
    now: Timed | None
    # The peers may have changed as well: a machine is never the same.
    ratio_before: float | None
    ratio_now: float | None
    is_missing: bool  # its .dt file is not there any more

    @property
    def slower(self) -> float | None:
        """0.1 where it takes a tenth longer."""
        if self.now is None or not self.now.median:
            return None
        return self.now.median / self.before.median - 1

    @property
    def said(self) -> str:
        """Return the same in words."""
        if self.is_missing:
            return "missing"
        if self.now is None:
            return "not measured"
        return "failed" if self.slower is None else f"{self.slower:+.1%}"


def changes(before: Results, now: Results) -> Iterator[Change]:
    """Yield every row that had a time before."""
    here = {line.row.name: line for line in lines(now)}
    for line in lines(before):
        if line.ours.median:
            found: Line | None = here.get(line.row.name)
            yield Change(
                line.row.name,
                line.ours,
                None if found is None else found.ours,
                line.ratio,
                None if found is None else found.ratio,
                found is None and line.row.file in now.missing,
            )


def is_regression(change: Change, percent: float) -> bool:
    """Slower by more than that, failed, or missing; what was not measured again is none."""
    if change.slower is not None:
        return change.slower > percent / 100
    return change.is_missing or change.now is not None


def changes_table(given: list[Change], percent: float) -> Table:
    """Lay changes out as a table; what became slower comes first."""
    made = Table(title="before and now", title_justify="left")
    for head in ("row", "ms before", "ms now", "change", "ratio before", "ratio now", ""):
        made.add_column(head, justify="left" if head in ("row", "") else "right")
    for one in sorted(given, key=lambda c: float("inf") if c.slower is None else c.slower)[::-1]:
        made.add_row(
            one.name,
            f"{one.before.median:.4f}",
            f"{one.now.median:.4f}" if one.now is not None and one.now.median else "",
            one.said,
            "" if one.ratio_before is None else f"{one.ratio_before:.3f}",
            "" if one.ratio_now is None else f"{one.ratio_now:.3f}",
            "regression" if is_regression(one, percent) else "",
        )
    return made
