"""Draws predicted against measured times, and the course of a search."""

from collections.abc import Sequence
from typing import Any

from dtpoly.explore.extras import extra
from dtpoly.explore.report.bars import FAST, LINES
from dtpoly.explore.report.marks import MARKS
from dtpoly.explore.report.study import Study


def draw_expected(axes: Any, study: Study) -> Sequence[str]:
    """Draw one mark for each schedule; a mark on the line means that the prediction was exact.

    Returns the points of the marks.
    """
    known = [one for one in study.timed if one.expected is not None]
    expected, took = zip(*study.predicted, strict=True)
    axes.scatter(expected, took, s=12, color=FAST, alpha=0.55, linewidths=0, gid=MARKS)
    low, high = min(*expected, *took), max(*expected, *took)
    axes.plot([low, high], [low, high], color="#888888", linewidth=0.9, linestyle="--")
    axes.annotate(
        "as expected", (high, high), fontsize=7.5, color="#666666", ha="right", va="bottom"
    )
    _in_logarithms(axes.xaxis, axes.set_xscale)
    _in_logarithms(axes.yaxis, axes.set_yscale)
    axes.set_xlabel("expected by the cost model, ms")
    axes.set_ylabel("measured, ms")
    if study.correlation is not None:
        axes.annotate(
            f"rank correlation {study.correlation:.2f}",
            (0.01, 0.98),
            xycoords="axes fraction",
            va="top",
            fontsize=9,
        )
    return [one.point for one in known]


def draw_search(axes: Any, study: Study) -> Sequence[str]:
    """Draw the best time after each candidate, in the order in which they were measured.

    Returns the points of the marks.
    """
    times = [row.result.median for row in study.rows]
    best: list[float | None] = []
    for time in times:
        before = best[-1] if best else None
        best.append(before if time is None else time if before is None else min(before, time))
    numbers = range(1, len(times) + 1)
    pairs = [(n, t) for n, t in zip(numbers, times, strict=True) if t is not None]
    axes.scatter(
        *zip(*pairs, strict=True),
        s=6,
        color="#b8b8b8",
        linewidths=0,
        label="one schedule",
        gid=MARKS,
    )
    known = [(n, b) for n, b in zip(numbers, best, strict=True) if b is not None]
    axes.step(
        *zip(*known, strict=True), where="post", color=FAST, linewidth=1.6, label="best so far"
    )
    for at, (name, time) in enumerate(study.baselines.items()):
        axes.axhline(time, color=LINES[at % len(LINES)], linewidth=1.0, label=name)
    _in_logarithms(axes.yaxis, axes.set_yscale)
    axes.set_xlabel("schedules, in the order in which they were tried")
    axes.set_ylabel("run time in ms")
    axes.legend(fontsize=7.5, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return [row.point for row in study.rows if row.result.median is not None]


def _in_logarithms(axis: Any, set_scale: Any) -> None:
    """Make a logarithmic axis with ordinary numbers, also between the powers of ten."""
    ticker = extra("matplotlib.ticker", "plots")
    set_scale("log")
    axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 3, 5)))
    axis.set_major_formatter(ticker.FormatStrFormatter("%g"))
    axis.set_minor_formatter(ticker.NullFormatter())
