"""Draws predicted against measured times."""

from collections.abc import Sequence
from pathlib import Path

from benchmarks.gpu.pictures import NOT_THERE, drawing, saved
from benchmarks.gpu.plot import COLOURS
from benchmarks.predicted import Point, summary


def plot(found: Sequence[Point], path: Path, device: str) -> str:
    """Write the picture; say why there is none, if there is none."""
    if (pyplot := drawing()) is None:
        return NOT_THERE
    figure, axes = pyplot.subplots(figsize=(7, 6), layout="constrained")
    for at, kernel in enumerate(dict.fromkeys(point.kernel for point in found)):
        mine = [point for point in found if point.kernel == kernel]
        axes.scatter(
            [point.measured for point in mine],
            [point.predicted for point in mine],
            s=10,
            color=COLOURS[at % len(COLOURS)],
            marker="os^Dv"[at // len(COLOURS) % 5],
            label=kernel,
            alpha=0.8,
        )
    times = [time for point in found for time in (point.measured, point.predicted)]
    ends = [min(times) / 1.3, max(times) * 1.3]
    axes.plot(ends, ends, color="black", linewidth=0.8)
    for factor in (0.5, 2.0):
        axes.plot(ends, [factor * end for end in ends], color="grey", linewidth=0.5)
    axes.set(xscale="log", yscale="log", xlim=ends, ylim=ends)
    axes.set_xlabel("measured, ms", fontsize=8)
    axes.set_ylabel("predicted, ms; grey: twice, half", fontsize=8)
    said = summary(found)
    title = f"{said.points} schedules on {device}: rank correlation {said.rank:.3f}"
    axes.set_title(title, loc="left", fontsize=10)
    axes.legend(fontsize=6, ncols=2)
    axes.spines[["top", "right"]].set_visible(False)
    return saved(pyplot, figure, path)
