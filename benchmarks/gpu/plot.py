"""Draws the ratios of results, a bar for each row."""

from pathlib import Path
from typing import Any

from benchmarks.gpu.pictures import NOT_THERE, drawing, saved
from benchmarks.gpu.results import Results
from benchmarks.gpu.summary import Line, lines

COLOURS = (
    "#4c78a8",
    "#f58518",
    "#54a24b",
    "#b279a2",
    "#e45756",
    "#72b7b2",
    "#9d755d",
    "#bab0ac",
    "#eeca3b",
    "#2f4b7c",
)

# What is beyond would make all else small; the number stands beside it.
MOST = 4.0


def plot(results: Results, path: Path) -> str:
    """Write the picture; say why there is none, if there is none."""
    known = [line for line in lines(results) if line.ratio is not None]
    if not known:
        return "no picture: nothing was compared"
    if (pyplot := drawing()) is None:
        return NOT_THERE
    figure, axes = pyplot.subplots(figsize=(9, 1.4 + 0.2 * len(known)), layout="constrained")
    _bars(axes, known)
    device = results.machine.get("device", "")
    axes.set_title(f"the best peer's time / ours, on {device}", loc="left", fontsize=10)
    return saved(pyplot, figure, path)


def _bars(axes: Any, known: list[Line]) -> None:
    families = [*dict.fromkeys(line.row.family for line in known)]
    for at, line in enumerate(known):
        ratio = line.ratio
        assert ratio is not None
        colour = COLOURS[families.index(line.row.family) % len(COLOURS)]
        # What does not count is an outline.
        face = colour if line.counts else "none"
        axes.barh(at, ratio, color=face, edgecolor=colour, height=0.75)
        peer = line.peer.name if line.peer is not None else ""
        beside = axes.get_yaxis_transform()
        axes.text(1.01, at, f"{ratio:.2f} {peer}", va="center", fontsize=6, transform=beside)
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_yticks(range(len(known)), [line.row.name for line in known], fontsize=6)
    axes.set_ylim(len(known) - 0.4, -0.6)
    most = max(line.ratio or 0.0 for line in known)
    axes.set_xlim(0, min(max(1.05 * most, 1.2), MOST))
    axes.set_xlabel("higher is better; an outline is not proved", fontsize=8)
    axes.spines[["top", "right"]].set_visible(False)
