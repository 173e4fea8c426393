"""Files of results in; a table in Markdown that says what came of each space, out."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from dtpoly.explore.report.study import NEAR, Study, studies
from dtpoly.explore.store.results import Outcome
from dtpoly.explore.store.store import open_store

HEAD = (
    *("space", "sizes", "tried", "refused", "why", "measured", "not proved", "failed"),
    *("best, ms", "of the best baseline", f"within {NEAR - 1:.0%} of it", "rank of the model"),
)
FAILED = (Outcome.FAILED, Outcome.WRONG, Outcome.HUNG, Outcome.CRASHED, Outcome.BUG)


def table(paths: Iterable[Path]) -> str:
    """One row for each question of each file."""
    rows = [row for path in paths for row in _rows(path)]
    lines = [HEAD, tuple("---" for _ in HEAD), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _rows(path: Path) -> Iterator[tuple[str, ...]]:
    store = open_store(path, is_new=False)
    try:
        found = studies(store)
    finally:
        store.close()
    for study in found:
        yield row(path.stem, study)


def row(name: str, study: Study) -> tuple[str, ...]:
    """What came of one space."""
    asked, counts = study.question.asked, study.outcomes
    best, least = study.best, study.best_baseline
    sizes = ", ".join(f"{label} = {size}" for label, size in asked.sizes.items())
    timed = len(study.timed)
    near = "" if study.near is None or not timed else f"{study.near / timed:.0%}"
    return (
        name,
        f"{sizes}, {asked.dtype}",
        f"{len(study.rows):,} of {study.points:,}",
        f"{counts.get(Outcome.REFUSED, 0):,}",
        "; ".join(_reasons(study)),
        f"{timed:,}",
        f"{counts.get(Outcome.UNPROVED, 0):,}",
        f"{sum(counts.get(one, 0) for one in FAILED):,}",
        "" if best is None else f"{best.time:.4g}",
        "" if best is None or least is None else f"{least / best.time:.2f}",
        near,
        "" if study.correlation is None else f"{study.correlation:.2f}",
    )


def _reasons(study: Study) -> Iterator[str]:
    """The rules that refuse, most first."""
    refused = {kind: n for (outcome, kind), n in study.kinds.items() if outcome is Outcome.REFUSED}
    for kind, count in Counter(refused).most_common():
        yield f"{kind} {count:,}"
