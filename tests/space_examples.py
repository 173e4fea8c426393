"""Calls that produce diagnostics about spaces where a file alone cannot show them."""

import tempfile
from collections.abc import Callable
from pathlib import Path

import dtpoly
from dtpoly.explore.space.count import counted
from dtpoly.explore.space.short import point_of
from dtpoly.explore.space.space import Space
from dtpoly.explore.space.space_file import load_space
from dtpoly.source import Source
from dtpoly.tuned.tuned_file import load_tuned

TOTAL = """\
Func total;
In A;
Var x;
RVar k;

total[x] = rsum(A[x, k], k);

{ total.block(x:{1..8 *2}) | };
total.num_warps({4, 8});
where block.x <= num_warps;
total.compile();
"""


def space(text: str = TOTAL) -> Space:
    """Return the space of a text."""
    return load_space(Source("total.dt", text), Path())


def no_comma() -> None:
    space(TOTAL.replace("4, 8", "4 8"))


def backwards() -> None:
    space(TOTAL.replace("1..8", "8..1"))


def misspelt() -> None:
    space(TOTAL.replace("where block", "where bloc"))


def no_algorithm() -> None:
    load_space(Source("total.dts", 'algorithm "totals.dt";\n'), Path())


def no_such_choice() -> None:
    point_of(space(), "block=1,x:4 num_warp=4")


def no_such_option() -> None:
    point_of(space(), "block=1,x:3 num_warps=4")


def no_choice() -> None:
    point_of(space(), "block=1,x:4")


def twice() -> None:
    point_of(space(), "block=1,x:4,x:8 num_warps=4")


def not_taken() -> None:
    point_of(space(), "block=2,x:4 num_warps=4")


def no_form() -> None:
    point_of(space(), "block num_warps=4")


def not_kept() -> None:
    point_of(space(), "block=1,x:8 num_warps=4")


def tangled() -> None:
    labels = [f"x{number}" for number in range(3)]
    chosen = "".join(f"total.unroll({label}:{{1..1000}});\n" for label in labels)
    products = " + ".join(f"unroll.{label} * unroll.{label}" for label in labels)
    counted(space(f"{TOTAL}{chosen}where {products} < 100000;\n"))


TUNED = """\
algorithm "{path}";

{{
    # The fastest.
    total.block(x:8), total.compile()
}};
"""


def no_place() -> None:
    tuned(TUNED)


def two_lists() -> None:
    tuned(TUNED + "total.num_warps(4);\n")


def tuned(text: str) -> None:
    """Read a file of tuned schedules of an algorithm that lies in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "total.dt").write_text(TOTAL)
        load_tuned(Source("total.tuned.dts", text.format(path="total.dt")), Path(folder))


def no_strategy() -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "total.dts"
        file.write_text(TOTAL, encoding="utf-8")
        sizes, output = {"x": 4, "k": 8}, Path(folder) / "total.sqlite"
        dtpoly.space(file).explore(sizes, strategy="bays", simulate=True, output=output)


def no_results() -> None:
    dtpoly.results("total.sqlite")


CALLS: dict[str, Callable[[], object]] = {
    "DT100_algorithm": no_algorithm,
    "DT113_choice": no_comma,
    "DT243_empty": backwards,
    "DT245_near": misspelt,
    "DT250": no_such_choice,
    "DT250_option": no_such_option,
    "DT250_missing": no_choice,
    "DT250_twice": twice,
    "DT250_alternative": not_taken,
    "DT250_form": no_form,
    "DT251": not_kept,
    "DT252": tangled,
    "DT257": no_strategy,
    "DT257_results": no_results,
    "DT253": no_place,
    "DT253_form": two_lists,
}
