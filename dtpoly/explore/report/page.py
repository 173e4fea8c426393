"""Writes one HTML page, which needs no other file, with the numbers and figures of studies."""

from collections.abc import Iterator, Sequence
from html import escape

from dtpoly.explore.extras import MissingExtra
from dtpoly.explore.report.figures import as_svg, figures_of, heading
from dtpoly.explore.report.marks import scripted
from dtpoly.explore.report.study import NEAR, Study, Timed, axes_of
from dtpoly.explore.store.results import Outcome

BEST = 10

CSS = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1d1d1f; margin: 2rem auto; max-width: 62rem;
  padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.2rem; margin-top: 2.5rem; }
h3 { font-size: 1rem; margin: 1.6rem 0 .4rem; }
svg { width: 100%; height: auto; }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .6rem; text-align: right; border-bottom: 1px solid #e4e4e4; }
th { font-weight: 600; } td.word, th.word { text-align: left; }
td.other { background: #fdf1cf; } code { font: 12px/1.5 ui-monospace, monospace; }
.wide { overflow-x: auto; } .said { color: #555; }
#tip { position: absolute; margin: 0; padding: .4rem .6rem; background: #fff; font-size: 12px;
  border: 1px solid #bbb; box-shadow: 0 2px 6px #0003; pointer-events: none; white-space: pre-wrap;
  max-width: 44rem; }
.dtpoly-marks use:hover, .dtpoly-marks path:hover { stroke: #d1495b; }
"""


def page(given: Sequence[Study], title: str) -> str:
    """Return a page with all studies of a file; without matplotlib it has no figures."""
    parts = [part for at, study in enumerate(given) for part in _section(at, study)]
    return "\n".join(
        [
            "<!DOCTYPE html>",
            '<html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{escape(title)}</title><style>{CSS}</style></head><body>",
            f"<h1>{escape(title)}</h1>",
            *parts,
            scripted([{one.point: told(study, one) for one in study.timed} for study in given]),
            "</body></html>",
            "",
        ]
    )


def _section(at: int, study: Study) -> Iterator[str]:
    yield f'<section data-study="{at}">'
    yield f"<h2>{escape(heading(study))}</h2>"
    yield f'<p class="said">{escape("; ".join(sentences(study)))}.</p>'
    yield from _figures(study)
    if study.timed:
        yield f"<h3>The {min(BEST, len(study.timed))} best, and how they differ</h3>"
        yield from _best(study)
    if study.kinds:
        yield "<h3>What has no time that counts, or not a full one</h3>"
        yield from _kinds(study)
    versions = ", ".join(f"{k} {v}" for k, v in study.question.facts.versions.items())
    if versions:
        yield f'<p class="said">{escape(versions)}</p>'
    yield "</section>"


def _figures(study: Study) -> Iterator[str]:
    """Yield the figures, or what to install for them."""
    for title, draw, height in figures_of(study):
        try:
            drawn = as_svg(study, draw, height)
        except MissingExtra as error:
            yield f'<p class="said">There are no figures: {escape(str(error))}</p>'
            return
        yield f"<h3>{escape(title[0].upper() + title[1:])}</h3>"
        yield drawn


def told(study: Study, one: Timed) -> str:
    """Return what a mark says of its schedule: times, the line of the point, file and sizes."""
    low, high = one.quarters
    half = f", half of the runs between {low:.4g} and {high:.4g}" if high > low else ""
    times = [f"{one.time:.4g} ms{half}{', stopped early' if one.is_stopped else ''}"]
    if study.best is not None and one is not study.best:
        times.append(f"{one.time / study.best.time - 1:+.1%} to the best")
    if study.best_baseline is not None:
        times.append(f"{one.time / study.best_baseline - 1:+.1%} to the best baseline")
    if one.expected is not None:
        times.append(f"{one.expected:.4g} ms expected by the cost model")
    return "\n".join([*times, one.point, heading(study)])


def sentences(study: Study) -> Iterator[str]:
    """Yield sentences on what matters most in a study."""
    timed, best, least = len(study.timed), study.best, study.best_baseline
    yield f"{len(study.rows):,} of {study.points:,} schedules were tried, {timed:,} have a time"
    unproved = study.outcomes.get(Outcome.UNPROVED, 0)
    if unproved:
        yield f"{unproved:,} have a time that does not count: their kernels are not proved"
    if best is not None:
        yield f"the best takes {best.time:.4g} ms"
    if best is not None and least is not None:
        yield f"that is {least / best.time:.2f} times as fast as the best baseline"
        share = 100 * (study.near or 0) / timed
        yield f"{share:.0f}% of them are within {NEAR - 1:.0%} of that"
    if study.correlation is not None:
        yield f"ranks expected and measured correlate by {study.correlation:.2f}"


def _best(study: Study) -> Iterator[str]:
    rows = study.timed[:BEST]
    names = [*axes_of(rows)]
    least = study.best_baseline
    heads = ["ms", "to the best", *(["to the baseline"] if least else []), *names]
    yield '<div class="wide"><table><tr><th>#</th>'
    yield "".join(f"<th>{escape(head)}</th>" for head in heads)
    yield '<th class="word">schedule</th></tr>'
    for at, row in enumerate(rows, 1):
        numbers = [f"{row.time:.4g}", f"{row.time / rows[0].time - 1:+.1%}"]
        if least:
            numbers.append(f"{row.time / least - 1:+.1%}")
        yield f"<tr><td>{at}</td>" + "".join(f"<td>{one}</td>" for one in numbers)
        for name in names:
            value, first = row.parameters.get(name, ""), rows[0].parameters.get(name, "")
            # Choices that differ from those of the best schedule are marked.
            yield f"<td{_mark(value != first)}>{escape(value)}</td>"
        yield f'<td class="word"><code>{escape(row.point)}</code></td></tr>'
    yield "</table></div>"


def _mark(is_other: bool) -> str:
    return ' class="other"' if is_other else ""


def _kinds(study: Study) -> Iterator[str]:
    yield '<table><tr><th class="word">outcome</th><th class="word">why</th><th>schedules</th>'
    yield '<th class="word">one of them</th></tr>'
    for (outcome, kind), count in sorted(study.kinds.items(), key=lambda item: -item[1]):
        reason = _example(study, outcome, kind)
        yield f'<tr><td class="word">{outcome}</td><td class="word">{escape(kind)}</td>'
        yield f'<td>{count:,}</td><td class="word">{escape(reason)}</td></tr>'
    yield "</table>"


def _example(study: Study, outcome: Outcome, kind: str) -> str:
    found = (row.result for row in study.rows)
    reasons = (one.reason for one in found if (one.outcome, one.kind) == (outcome, kind))
    reason = next(reasons, "")
    return reason if len(reason) <= 200 else f"{reason[:199]}…"
