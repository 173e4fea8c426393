"""Lays results out as tables for a terminal."""

from collections.abc import Iterable, Iterator, Sequence

from rich.table import Table

from benchmarks.gpu.results import Results, Timed
from benchmarks.gpu.summary import Family, Line, families, lines, over


def tables(results: Results) -> Iterator[Table]:
    """Yield all that there is to see; an empty table is left out."""
    known = lines(results)
    every = (
        rows_table("proved: the best peer's time / ours", [one for one in known if one.counts]),
        rows_table(
            "not proved or not compared: they do not count", [o for o in known if not o.counts]
        ),
        families_table([*families(known)]),
        best_table(known),
        host_table(results),
        waiting_table(results),
        failures_table(results),
    )
    yield from (table for table in every if table.row_count)


def rows_table(title: str, given: Iterable[Line]) -> Table:
    """Return one row a line, in milliseconds."""
    made = _table(
        title, "kernel", "shape, dtype", "ours", *("±", "best peer", "", "ratio", "floor")
    )
    for line in given:
        ours, peer = line.ours, line.peer
        made.add_row(
            line.row.kernel,
            line.row.case,
            _ms(ours),
            _spread(ours),
            "" if peer is None else peer.name,
            "" if peer is None else _ms(peer),
            _ratio(line.ratio),
            "" if line.share is None else f"{line.share:.0%}",
        )
    return made


def families_table(given: Sequence[Family]) -> Table:
    """Lay out the ratios of each family beside its aim."""
    made = _table("families", "family", "rows", "mean", "least", "aim", "reached")
    for one in given:
        aims = [
            *([f"mean {one.aim.mean:.2f}"] if one.aim.mean is not None else []),
            *([f"least {one.aim.least:.2f}"] if one.aim.least is not None else []),
            *([f"on {one.aim.rows} rows"] if one.aim.rows is not None else []),
        ]
        made.add_row(
            one.name,
            f"{one.rows} of {one.of}",
            f"{one.mean:.3f}",
            f"{one.least:.3f}",
            ", ".join(aims),
            _reached(one) if aims else "",
        )
    return made


def best_table(given: Iterable[Line]) -> Table:
    """Return where a variant was timed: each text of ours, the fastest first."""
    heads = ("kernel", "shape, dtype", "text", "ms", "±", "to what counts", "to the best peer")
    made = _table("best schedule", *heads)
    for line in given:
        texts = sorted(
            (t for t in line.row.times if t.is_ours and t.median), key=lambda t: t.median
        )
        if len(texts) < 2:
            continue
        for at, text in enumerate(texts):
            mark = " (counts)" if text.name == line.row.file else ""
            head = ("", "") if at else (line.row.kernel, line.row.case)
            times = _ms(text), _spread(text)
            ratios = _ratio(over(line.ours, text)), _ratio(over(line.peer, text))
            made.add_row(*head, text.name + mark, *times, *ratios)
    return made


def host_table(results: Results) -> Table:
    """Microseconds of the host for a call."""
    made = _table("host time of a call, in microseconds", "kernel", "who", "median", "quarters")
    for one in results.host:
        if not one.failure:
            quarters = f"{one.quarter:.1f} .. {one.three_quarters:.1f}"
            made.add_row(one.kernel, one.name, f"{one.median:.1f}", quarters)
    return made


def waiting_table(results: Results) -> Table:
    """Return how long it took until each ran for the first time: mostly what compiles."""
    made = _table("until it ran first, all rows together", "who", "seconds")
    spent: dict[str, float] = {}
    for row in results.rows:
        for one in row.times:
            who = "ours" if one.is_ours else one.name
            spent[who] = spent.get(who, 0.0) + one.prepared
    for who, seconds in sorted(spent.items(), key=lambda item: -item[1]):
        made.add_row(who, f"{seconds:.1f}")
    return made


def failures_table(results: Results) -> Table:
    """Everything that has no time, and why."""
    made = _table("without a time", "what", "who", "why")
    for name in results.missing:
        made.add_row("", f"{name}.dt", "it is missing")
    for kind, why in results.absent.items():
        made.add_row("", kind, why)
    for text in results.texts:
        if text.failure:
            made.add_row("", text.source, f"not prepared: {text.failure}")
    for row in results.rows:
        for timed in row.times:
            if timed.failure and not timed.is_unfit:
                made.add_row(row.name, timed.name, timed.failure)
    for one in results.host:
        if one.failure:
            made.add_row(f"{one.kernel}, host", one.name, one.failure)
    return made


def _reached(one: Family) -> str:
    """Say whether a goal is reached; `so far` if a part of the family's rows is missing."""
    if not one.is_reached:
        return "no"
    return "yes" if one.rows == one.of else "so far"


def _table(title: str, *heads: str) -> Table:
    made = Table(title=title, title_justify="left")
    for head in heads:
        is_text = head in (
            "kernel",
            "shape, dtype",
            "best peer",
            "what",
            "who",
            "why",
            "text",
            "family",
        )
        made.add_column(head, justify="left" if is_text else "right")
    return made


def _ms(one: Timed) -> str:
    if not one.median:
        return "none"
    return f"{one.median:.4f}" if one.median < 1 else f"{one.median:.3f}"


def _spread(one: Timed) -> str:
    """Half of the middle half, as a share of the median."""
    if not one.median:
        return ""
    return f"{(one.three_quarters - one.quarter) / 2 / one.median:.1%}"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.3f}"
