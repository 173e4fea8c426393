"""Lets the marks of a figure on a page say which schedule they are, while one points at them.

matplotlib writes the name of what it draws as an `id`. The figures give all their marks one name,
and here it becomes a class, with the points of the marks in the order of drawing.
"""

import json
from collections.abc import Mapping, Sequence
from html import escape

MARKS = "dtpoly-marks"

# The text follows the pointer. A mark is a <use> of a shape, or a path of its own.
SCRIPT = """
const tip = document.getElementById("tip");
const said = JSON.parse(document.getElementById("said").textContent);
for (const svg of document.querySelectorAll("svg[data-points]")) {
  const points = JSON.parse(svg.dataset.points);
  const section = said[svg.closest("section").dataset.study];
  const marks = [...svg.querySelectorAll(".MARKS use, .MARKS path")];
  marks.filter((mark) => !mark.closest("defs")).forEach((mark, at) => {
    mark.addEventListener("pointermove", (event) => {
      tip.textContent = section[points[at]];
      tip.hidden = false;
      const most = document.documentElement.clientWidth - tip.offsetWidth - 8;
      tip.style.left = `${window.scrollX + Math.max(0, Math.min(event.clientX + 14, most))}px`;
      tip.style.top = `${event.pageY + 14}px`;
    });
    mark.addEventListener("pointerleave", () => { tip.hidden = true; });
  });
}
""".replace("MARKS", MARKS)


def marked(svg: str, points: Sequence[str]) -> str:
    """Return a figure whose marks are a class, and which lists their points."""
    listed = escape(json.dumps([*points]))
    classed = svg.replace(f'id="{MARKS}"', f'class="{MARKS}"')
    return classed.replace("<svg", f'<svg data-points="{listed}"', 1)


def scripted(texts: Sequence[Mapping[str, str]]) -> str:
    """Return what a page needs for it: the text of each point of each study, and the script."""
    # Nothing in the data may end the element that holds it.
    data = json.dumps([dict(one) for one in texts]).replace("<", "\\u003c")
    return (
        '<pre id="tip" hidden></pre>\n'
        f'<script type="application/json" id="said">{data}</script>\n'
        f"<script>{SCRIPT}</script>"
    )
