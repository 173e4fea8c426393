"""Calls to schedule: examples, or texts, at sizes."""

from pathlib import Path

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.autoschedule.choose import nests_of
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.plans import PlacementPlan, plans
from dtpoly.autoschedule.pricing import PricedCall
from dtpoly.autoschedule.product_tiles import products
from dtpoly.autoschedule.unscheduled_source import algorithm_of, bare
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.devices.devices import Device, find_device
from dtpoly.generate import outputs, results_of
from dtpoly.plan.layout import Layout
from dtpoly.source import Source

EXAMPLES = Path(__file__).parents[2] / "examples"
H200 = find_device("h200")
SUM = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);"


def example(name: str) -> Source:
    """The text of an example."""
    return Source(f"{name}.dt", (EXAMPLES / f"{name}.dt").read_text())


def call_of(
    source: Source | str, dtype: str = "f32", device: str = "h200", /, **sizes: int
) -> PricedCall:
    """A text at sizes."""
    given = Source("text.dt", source) if isinstance(source, str) else source
    algorithm = algorithm_of(given, DIRECTIVES)
    program = bare(algorithm)
    known = filled(program, sizes)
    chosen = find_device(device)
    return PricedCall(program, known, DType(dtype), chosen, DIRECTIVES, algorithm.precision)


def products_of(nest: KernelNest, device: Device = H200, precision: str = "") -> list[Layout]:
    """All layouts of a kernel that multiplies."""
    shapes = products(nest, device, precision)
    return [one for shape in shapes for one in (*shape.usual, *shape.others)]


def plans_of(call: PricedCall) -> tuple[PlacementPlan, ...]:
    """The plans of a call, for f32."""
    named = outputs(call.program)
    others = [one for row in results_of(call.program, named).values() for one in row[1:]]
    return plans(call.program, named, call.sizes, 4, 132, others)


def nest_of(call: PricedCall) -> KernelNest:
    """The kernel of the first plan that has one."""
    plan = min(plans_of(call), key=lambda one: len(one.kernels))
    return nests_of(call, plan)[-1]
