"""Directives correct the predicted time of a launch, also those of users."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.checking import check
from dtpoly.diagnostics import DtpolyError
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.devices.devices import find_device
from dtpoly.plan.price import Price
from dtpoly.plugins import with_plugins
from dtpoly.primitives import Kernel, Launch, LaunchEdit
from dtpoly.source import Source
from tests.cli.conftest import Entry, call
from tests.plugin_files import HEAD, plugin

__all__ = ["call", "plugin"]

ROWS = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.block(x:16, y:64); f.compile();"
PAIR = (
    "Func f, g, h; In A; Var x; RVar y; g[x] = rsum(A[x, y], y); f[x] = rmax(A[x, y], y); "
    "h[x] = f[x] - g[x]; h.compile();"
)
BY_PLUGIN = HEAD.replace(
    "        return state\n",
    "        return state\n\n    def priced(self, price, kernel):\n        return {value}\n",
)


@dataclass(frozen=True, slots=True)
class Halved(LaunchEdit):
    """Let memory move half as much."""

    name = "halved"

    def edit(self, launch: Launch, kernel: Kernel) -> Launch:
        """Let it be launched while others run."""
        return replace(launch, is_early=True)

    def priced(self, price: Price, kernel: Kernel) -> Price:
        """Half of memory's time, and no launch."""
        return replace(price.times("memory", 0.5), launch=0.0)


def cost_of(text: str, *plugins: type[LaunchEdit]) -> Cost:
    checked = check(Source("t.dt", text), with_plugins(plugins))
    assert checked.verdict is not None
    state = checked.verdict.scheduled
    sizes = filled(state.program, {"x": 4096, "y": 4096})
    return cost(state, sizes, DType.F32, find_device("h200"))


def test_a_directive_of_a_user_changes_the_price_of_its_kernel() -> None:
    (plain,) = cost_of(ROWS).kernels
    (changed,) = cost_of(f"{ROWS} f.halved();", Halved).kernels
    assert changed.launch == 0 < plain.launch
    assert changed.limits["memory"] == pytest.approx(plain.limits["memory"] / 2)
    others = [one for one in plain.limits if one != "memory"]
    assert [changed.limits[one] for one in others] == [plain.limits[one] for one in others]
    assert changed.seconds < plain.seconds


def test_a_kernel_beside_another_one_takes_no_launch() -> None:
    apart, together = cost_of(PAIR), cost_of(f"{PAIR} f.beside(g);")
    assert [one.launch > 0 for one in apart.kernels] == [True, True, True]
    assert sorted(one.launch > 0 for one in together.kernels) == [False, True, True]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("None", "priced returns NoneType"),
        ("price.times('memory', -1)", "'memory' takes -"),
        ("price.times('memory', float('nan'))", "'memory' takes nan seconds"),
        ("replace(price, launch='1')", "'launch' of Price is a str"),
        ("replace(price, units={1: 2.0})", "'units' of Price is a dict"),
    ],
)
def test_what_is_no_price_is_told(value: str, said: str, plugin: Callable[[str], str]) -> None:
    checked = check(
        Source("t.dt", f"{ROWS} f.turn();"), with_plugins([plugin(BY_PLUGIN.format(value=value))])
    )
    assert checked.verdict is not None
    state = checked.verdict.scheduled
    with pytest.raises(DtpolyError) as error:
        cost(state, filled(state.program, {"x": 64, "y": 64}), DType.F32, find_device("h200"))
    (found,) = error.value.diagnostics
    assert found.code == "DT227"
    assert said in found.title


def test_what_a_price_raises_is_told_by_the_command(
    plugin: Callable[[str], str], call: Entry, tmp_path: Path
) -> None:
    path = plugin(BY_PLUGIN.format(value="price.units['gears']"))
    kernel = tmp_path / "t.dt"
    kernel.write_text(f"{ROWS}\nf.turn();\n")
    code, out, said = call("cost", str(kernel), "--size", "x=64,y=64", "--plugin", path)
    assert (code, "DT226" in out + said, "Traceback" in out + said) == (1, True, False)
