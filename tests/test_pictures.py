"""The picture of the README is what `dtpoly check` prints."""

import io
import re

from rich.console import Console
from rich.text import Text

from dtpoly.compile import check
from dtpoly.render.text import render
from dtpoly.source import Source
from tests.conftest import Golden

MISTAKEN = """\
Func norm;
In X, W;
SIn eps;
Var x, y;
RVar k;

norm[x, y] = X[x, y] * rsqt(rsum(X[x, k] * X[x, k], k) / len(y) + eps)
             * (1 + W[x]);

norm.block(x:1);
norm.tensorize(y:100, k:512);
"""


def test_picture_of_check(golden: Golden) -> None:
    mended = MISTAKEN.replace("rsqt", "rsqrt")
    sources = (Source("norm.dt", MISTAKEN), Source("norm.dt", mended.replace("W[x]", "W[y]")))
    console = Console(record=True, width=88, file=io.StringIO(), highlight=False)
    for source in sources:
        console.print(Text("$ dtpoly check norm.dt", style="bold"))
        for line in render(check(source).diagnostics, width=86):
            console.print(Text.assemble(*line))
    # No font is fetched from anywhere.
    svg = console.export_svg(title="dtpoly check", unique_id="dtpoly")
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    golden("../../docs/images/check.svg", svg)
