"""Draws each schedule as a line through its parameters to its time."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import log
from typing import Any

from dtpoly.explore.extras import extra
from dtpoly.explore.report.marks import MARKS
from dtpoly.explore.report.study import Study, Timed, axes_of

BEND = 0.45  # of the way between two axes
BEST = 10  # schedules whose lines are drawn on top
JITTER = 0.32  # of the distance of two options, so that neighbouring lines can be told apart
NONE = "none"
LETTERS = 50  # characters of all names that stand beside each other


def draw_coordinates(axes: Any, study: Study) -> Sequence[str]:
    """Draw upright axes; the last one is the time, with the fastest at the top.

    Returns the points of the lines.
    """
    collections = extra("matplotlib.collections", "plots")
    rows = study.timed
    options = _options(rows)
    low, high = log(rows[0].time), log(rows[-1].time)
    shares = [(log(row.time) - low) / (high - low) if high > low else 0.0 for row in rows]
    colours = extra("matplotlib", "plots").colormaps["viridis"]
    lines = [
        _curve([*_heights(row, options, at, len(rows)), 1 - share])
        for at, (row, share) in enumerate(zip(rows, shares, strict=True))
    ]
    # The fastest are drawn last, on top of the others.
    order = range(len(rows) - 1, -1, -1)
    axes.add_collection(
        collections.PathCollection(
            [lines[at] for at in order],
            facecolors="none",
            edgecolors=[colours(0.95 * shares[at]) for at in order],
            linewidths=[1.8 if at < BEST else 0.7 for at in order],
            alpha=_alphas(len(rows)),
            gid=MARKS,
        ),
        autolim=False,
    )
    _name_axes(axes, options, rows)
    return [rows[at].point for at in order]


def _curve(heights: Sequence[float]) -> Any:
    """Draw a curve from axis to axis that crosses each one level.

    It is one cubic between two axes, which takes little room in the file.
    """
    path = extra("matplotlib.path", "plots").Path
    points: list[tuple[float, float]] = [(0.0, heights[0])]
    for at, (left, right) in enumerate(pairwise(heights)):
        points += [(at + BEND, left), (at + 1 - BEND, right), (at + 1, right)]
    return path(points, [path.MOVETO, *[path.CURVE4] * (len(points) - 1)])


def _alphas(count: int) -> list[float]:
    """Return the opacity of each line: low if there are many, and full for the best ones."""
    others = max(0.12, min(0.6, 60 / count))
    return [1.0 if at < BEST else others for at in range(count - 1, -1, -1)]


def _options(rows: Sequence[Timed]) -> dict[str, list[str]]:
    found = axes_of(rows)
    for name, values in found.items():
        if any(name not in row.parameters for row in rows):
            values.append(NONE)
    return found


def _heights(row: Timed, options: Mapping[str, list[str]], at: int, count: int) -> list[float]:
    """Return where a line crosses each axis: near its option, the faster the higher."""
    rank = 0.5 - at / max(1, count - 1)
    return [
        (values.index(row.parameters.get(name, NONE)) + 0.5 + JITTER * rank) / len(values)
        for name, values in options.items()
    ]


def _name_axes(axes: Any, options: Mapping[str, list[str]], rows: Sequence[Timed]) -> None:
    last = len(options)
    for at, values in enumerate(options.values()):
        axes.axvline(at, color="#333333", linewidth=0.8)
        for number, value in enumerate(values):
            axes.text(
                at - 0.02,
                (number + 0.5) / len(values),
                value,
                ha="right",
                va="center",
                fontsize=8,
                bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.75, "pad": 0.8},
            )
    axes.axvline(last, color="#333333", linewidth=0.8)
    low, high = log(rows[0].time), log(rows[-1].time)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        time = rows[0].time * (rows[-1].time / rows[0].time) ** share
        axes.text(last + 0.02, 1 - share, f"{time:.3g} ms", ha="left", va="center", fontsize=8)
        if high <= low:
            break
    names = [*options, "time"]
    is_long = sum(map(len, names)) > LETTERS
    slanted = {"rotation": 20, "ha": "left", "rotation_mode": "anchor"} if is_long else {}
    axes.xaxis.set_ticks_position("top")
    axes.set_xticks(range(last + 1), names, **slanted)
    axes.tick_params(axis="x", length=0, labelsize=9)
    axes.set_yticks([])
    axes.set_xlim(-0.35, last + 0.35)
    axes.set_ylim(-0.03, 1.03)
    for side in ("left", "bottom", "top"):
        axes.spines[side].set_visible(False)
