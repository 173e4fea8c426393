"""The pictures of the documentation are what `dtpoly` prints and draws."""

import io
import re

from rich.console import Console
from rich.text import Text

from dtpoly.checking import check
from dtpoly.pictures import dependence_picture, map_picture, tree_picture
from dtpoly.render.diagnostic_text import render
from dtpoly.schedule.links import graph
from dtpoly.source import Source
from tests.conftest import Golden
from tests.schedule.tables import scheduled
from tests.schedule.told import TWO_PRODUCTS
from tests.test_thesis import DATA

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


def listing(name: str) -> str:
    return (DATA / f"{name}.dt").read_text()


def test_picture_of_a_map(golden: Golden) -> None:
    text = TWO_PRODUCTS + "_2mm.block(m:2, n:2); mm.fuse_at(_2mm, m); _2mm.tensorize(m:0, l:2);"
    golden("../../docs/images/map.svg", map_picture(scheduled(text), {"m": 5, "n": 6, "l": 4}))


def test_picture_of_dependences(golden: Golden) -> None:
    program = scheduled(listing("listing_4_04_attention")).program
    golden("../../docs/images/deps.svg", dependence_picture(graph(program)))


def test_picture_of_a_tree(golden: Golden) -> None:
    kernels = scheduled(listing("listing_4_02_softmax")).kernels
    golden("../../docs/images/tree.svg", tree_picture(kernels))
