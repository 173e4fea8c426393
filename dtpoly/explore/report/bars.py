"""Draws the run times of all schedules as bars, with the baselines as lines."""

from collections.abc import Sequence
from typing import Any

from dtpoly.explore.report.marks import MARKS
from dtpoly.explore.report.study import Study

FAST, MIDDLE, BEHIND = "#2a6fbb", "#9dbfe0", "#cfcfcf"
LINES = ("#d1495b", "#e08e0b", "#3c8d5a", "#7b4ea3", "#6b6b6b", "#00838f")
# Times beyond this many times the best one are cut off, since they would make all bars small.
MOST = 6.0


def draw_bars(axes: Any, study: Study) -> Sequence[str]:
    """Draw the figure of the thesis, in which lower is better; return the points of its bars."""
    times = [one.time for one in study.timed]
    least, most = study.best_baseline, max(study.baselines.values(), default=None)
    colours = [_colour(time, least, most) for time in times]
    # One drawing has all bars, so that thousands of bars are as fast as one.
    wide = 1.0 if len(times) > 60 else 0.85
    for bar in axes.bar(range(1, len(times) + 1), times, width=wide, color=colours):
        bar.set_gid(MARKS)
    top = _top(times, most)
    for at, time in enumerate(study.baselines.values()):
        axes.axhline(time, color=LINES[at % len(LINES)], linewidth=1.4)
    _name_lines(axes, study, top)
    axes.set_xlim(0.4, len(times) + 0.6)
    axes.set_ylim(0, top)
    dark = "; dark ones are faster than all baselines, light blue ones than some"
    axes.set_xlabel(f"schedules, by run time{dark if study.baselines else ''}")
    axes.set_ylabel("run time in ms")
    higher = sum(time > top for time in times)
    if higher:
        slowest = f"{times[-1]:.3g} ms"
        note = f"{higher} bars are higher, up to {slowest}" if higher > 1 else f"up to {slowest}"
        axes.annotate(
            note,
            (0.99, 0.985),
            xycoords="axes fraction",
            ha="right",
            va="top",
            fontsize=7.5,
            color="#444444",
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.5},
        )
    return [one.point for one in study.timed]


def _colour(time: float, least: float | None, most: float | None) -> str:
    """Return a colour that says whether a time beats all baselines, some, or none."""
    if least is None or most is None or time <= least:
        return FAST
    return MIDDLE if time <= most else BEHIND


def _top(times: list[float], slowest: float | None) -> float:
    enough = MOST * times[0] if slowest is None else max(3 * times[0], 1.6 * slowest)
    whole = 1.05 * max(times[-1], slowest or 0.0)
    return whole if whole < 1.5 * enough else enough


def _name_lines(axes: Any, study: Study, top: float) -> None:
    """Write the names beside the lines, at least as far apart as letters are high."""
    apart = 0.055 * top
    below = float("-inf")
    for at, (name, time) in enumerate(study.baselines.items()):
        place = below = max(time, below + apart)
        axes.annotate(
            f"{name}  {time:.4g} ms",
            (1.006, place),
            xycoords=("axes fraction", "data"),
            va="center",
            fontsize=8,
            color=LINES[at % len(LINES)],
            annotation_clip=False,
        )
