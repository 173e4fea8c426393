"""Draws the ratio of each case, sorted, of the first schedule and of the best one."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from benchmarks.gpu.plot import COLOURS
from benchmarks.unseen.summary import Line, compared

LEAST, MOST = 0.05, 20.0


def plot(given: Sequence[Line], path: Path, title: str) -> str:
    """Write the picture; say why there is none, if there is none."""
    known = compared(given)
    if not known:
        return "no picture: nothing was compared"
    if find_spec("matplotlib") is None:
        return "no picture: matplotlib is not installed"
    # It has types, but the machine that checks them need not have it.
    pyplot: Any = import_module("matplotlib.pyplot")
    # Off the screen: whoever makes the picture may have none.
    pyplot.switch_backend("agg")
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
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
    return f"wrote {path}"
