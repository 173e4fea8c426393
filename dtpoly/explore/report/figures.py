"""Draws the figures of a study with matplotlib, without a screen."""

import io
from collections.abc import Callable, Sequence
from typing import Any

from dtpoly.explore.extras import extra
from dtpoly.explore.report.bars import draw_bars
from dtpoly.explore.report.marks import MARKS, marked
from dtpoly.explore.report.parallel_coordinates import draw_coordinates
from dtpoly.explore.report.scatter import draw_expected, draw_search
from dtpoly.explore.report.study import Study, axes_of

# It draws, and returns the points of the marks that have a text, in the order of drawing.
Draw = Callable[[Any, Study], Sequence[str]]

WIDTH = 9.5
# Without a date, the same results make the same file; the other data have no use in a page.
UNSAID = ("Date", "Creator", "Format", "Type")
# What matplotlib would write about itself and the time into a file of each form.
METADATA = {
    "png": ("Software",),
    "svg": UNSAID,
    "pdf": ("Creator", "Producer", "CreationDate"),
}
STYLE = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "dtpoly",
    "font.family": "sans-serif",
}


def figures_of(study: Study) -> list[tuple[str, Draw, float]]:
    """List the figures of a study: the title, the function that draws, and the height in inches."""
    if not study.timed:
        return []
    found: list[tuple[str, Draw, float]] = [("schedules by run time", draw_bars, 3.4)]
    if len(axes_of(study.timed)) > 1 and len(study.timed) > 1:
        found.append(("parameters and time", draw_coordinates, 3.8))
    if len(study.predicted) > 2:
        found.append(("expected and measured", draw_expected, 4.2))
    if len(study.rows) > 1:
        found.append(("the search", draw_search, 2.6))
    return found


def as_svg(study: Study, draw: Draw, height: float) -> str:
    """Return one figure for a page, whose marks show their text. Raises MissingExtra."""
    pyplot = _pyplot()
    with pyplot.rc_context(STYLE):
        figure, axes = pyplot.subplots(figsize=(WIDTH, height), layout="constrained")
        points = draw(axes, study)
        file = io.StringIO()
        figure.savefig(file, format="svg", metadata=dict.fromkeys(UNSAID))
        pyplot.close(figure)
    text = file.getvalue()
    return marked(text[text.index("<svg") :], points)


def as_picture(given: Sequence[Study], form: str) -> bytes:
    """Return all figures of all studies, one below the other, as `png`, `svg` or `pdf`.

    Raises MissingExtra.
    """
    pyplot = _pyplot()
    wanted = [(study, *one) for study in given for one in figures_of(study)]
    heights = [height for *_, height in wanted]
    with pyplot.rc_context(STYLE):
        figure, grid = pyplot.subplots(
            len(wanted),
            figsize=(WIDTH, sum(heights) + 0.3),
            layout="constrained",
            height_ratios=heights,
            squeeze=False,
        )
        told: list[Study] = []
        for (study, title, draw, _), (axes,) in zip(wanted, grid, strict=True):
            draw(axes, study)
            is_first = study not in told
            axes.set_title(f"{heading(study)}\n{title}" if is_first else title)
            told.append(study)
        file = io.BytesIO()
        figure.savefig(file, format=form, dpi=150, metadata=dict.fromkeys(METADATA[form]))
        pyplot.close(figure)
    # Only a page has a use for the names of marks, and a name may stand in a file once.
    return file.getvalue().replace(f' id="{MARKS}"'.encode(), b"")


def heading(study: Study) -> str:
    """Return a heading such as `softmax.dt, x = 4, y = 1000, f32, on NVIDIA H200`."""
    asked = study.question.asked
    sizes = [f"{label} = {size}" for label, size in asked.sizes.items()]
    return ", ".join([asked.name, *sizes, asked.dtype, f"on {study.question.facts.device}"])


def _pyplot() -> Any:
    pyplot = extra("matplotlib.pyplot", "plots")
    # No window is opened, because the machine may have no screen.
    pyplot.switch_backend("agg")
    return pyplot
