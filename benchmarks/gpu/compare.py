"""Two files of results in; what became slower between them, out."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.table import Table

from benchmarks.gpu.results import Results, Timed
from benchmarks.gpu.summary import Line, lines


@dataclass(frozen=True, slots=True)
class Change:
    """A row of both: what it took before and takes now; nothing, where it has no time."""

    name: str
    before: Timed
    now: Timed | None
    # The peers may have changed as well: the machine is never the same.
    ratio_before: float | None
    ratio_now: float | None

    @property
    def slower(self) -> float | None:
        """0.1 where it takes a tenth longer."""
        if self.now is None or not self.now.median:
            return None
        return self.now.median / self.before.median - 1


def changes(before: Results, now: Results) -> Iterator[Change]:
    """Every row that had a time before."""
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
            )


def is_regression(change: Change, percent: float) -> bool:
    """Slower by more than that, or without a time now."""
    return change.slower is None or change.slower > percent / 100


def changes_table(given: list[Change], percent: float) -> Table:
    """What became slower comes first."""
    made = Table(title="before and now", title_justify="left")
    for head in ("row", "ms before", "ms now", "change", "ratio before", "ratio now", ""):
        made.add_column(head, justify="left" if head in ("row", "") else "right")
    for one in sorted(given, key=lambda c: float("inf") if c.slower is None else c.slower)[::-1]:
        slower = one.slower
        made.add_row(
            one.name,
            f"{one.before.median:.4f}",
            f"{one.now.median:.4f}" if one.now is not None and one.now.median else "",
            "no time" if slower is None else f"{slower:+.1%}",
            "" if one.ratio_before is None else f"{one.ratio_before:.3f}",
            "" if one.ratio_now is None else f"{one.ratio_now:.3f}",
            "slower" if is_regression(one, percent) else "",
        )
    return made
