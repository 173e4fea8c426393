"""Draws the ratio of each case, sorted, of the first schedule and of the best one."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.gpu.pictures import NOT_THERE, drawing, saved
from benchmarks.gpu.plot import COLOURS
from benchmarks.unseen.summary import Line, compared

LEAST, MOST = 0.05, 20.0


def plot(given: Sequence[Line], path: Path, title: str) -> str:
    """Write the picture; say why there is none, if there is none."""
    known = compared(given)
    if not known:
        return "no picture: nothing was compared"
    if (pyplot := drawing()) is None:
        return NOT_THERE
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    first = sorted(max(one.ratio, LEAST) for one in known)
    best = sorted(max(one.ratio_of_best, LEAST) for one in known)
    axes.plot(first, color=COLOURS[1], label="the first schedule, unmeasured")
    axes.plot(best, color=COLOURS[0], label="the best of those that were measured")
    for line in (0.5, 0.85, 1.0):
        axes.axhline(line, color="black" if line == 1.0 else "grey", linewidth=0.6)
    axes.set_yscale("log")
    axes.set_ylim(LEAST, min(max(*first, *best, 1.2) * 1.1, MOST))
    axes.set_xlabel("cases, sorted; higher is better", fontsize=8)
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
    return saved(pyplot, figure, path)
