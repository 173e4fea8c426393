"""The formulas and demands of plans do what `sizes_of` says, on shapes that fit and others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dtpoly.algorithm.label_sizes import input_shapes, sizes_of, used_labels
from dtpoly.algorithm.program import Program
from dtpoly.algorithm.show import show
from dtpoly.algorithm.value_limits import check_values
from dtpoly.carried.sizes import dt_demands, dt_passed, dt_require, dt_sizes
from dtpoly.checking import load
from dtpoly.codegen.planned_sizes import demands_of, keyword_labels, planned_sizes
from dtpoly.codegen.sizing import Sizing
from dtpoly.diagnostics import DtpolyError, has_errors
from dtpoly.plan.plan import Plan, TensorInput
from dtpoly.plan.plan_data import data_of
from dtpoly.source import Source
from tests.generation import extents
from tests.generation.algorithms import Limits, algorithm
from tests.generation.choice import Choose, one_in, pick, seeded

Shapes = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Shaped:
    """A stand-in for a tensor, with only what its sizes are found from."""

    shape: tuple[int, ...]


class NotPassed(Exception):
    """A size that is said by nobody."""


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def planned(one: Program) -> dict[str, Any]:
    """Return a plan with only those parts that say which sizes a call has or is refused for."""
    labels = {label: label for label in used_labels(one)}
    inputs = {i.name: i.name for i in one.inputs}
    sizing = Sizing(one, inputs, labels)
    return data_of(
        Plan(
            function="f",
            names={},
            inputs={name: TensorInput("float", 0) for name in inputs},
            sizes=tuple(planned_sizes(sizing)),
            demands=tuple(demands_of(sizing)),
            meet=(),
            types=(),
            adds=(),
            results=(),
            between=(),
            indices=(),
            launches=(),
        )
    )


def found(one: Program) -> Callable[..., dict[str, int]]:
    """Return what the runtime makes of a plan: the sizes of a call. Raises what a call raises."""
    plan: dict[str, Any] = {**planned(one), "limits": {}}  # a specification has none
    note_passed, note_sizes, demands = dt_passed(plan), dt_sizes(plan), dt_demands(plan)

    def sizes(inputs: Mapping[str, Shaped], passed: Mapping[str, int]) -> dict[str, int]:
        known: dict[str, Any] = {**inputs}
        known |= dict.fromkeys(plan.get("passed", ())) | {**passed}
        try:
            note_passed(known)
        except TypeError as error:  # one may also be of sums with None
            raise NotPassed from error
        note_sizes(known)
        dt_require(demands, known)
        return {label: known[label] for label in used_labels(one)}

    return sizes


def specified(
    one: Program, shapes: Mapping[str, tuple[int, ...]], passed: Mapping[str, int]
) -> dict[str, int] | None:
    try:
        return sizes_of(one, shapes, passed)
    except DtpolyError:
        return None


def given_by_text(
    one: Program,
    function: Callable[..., dict[str, int]],
    shapes: Mapping[str, tuple[int, ...]],
    passed: Mapping[str, int],
) -> dict[str, int] | None:
    inputs = {i.name: Shaped(shapes.get(i.name, ())) for i in one.inputs}
    try:
        return function(inputs, passed)
    except (ValueError, NotPassed):
        return None


def compare(choose: Choose) -> int:
    """Return how many shapes were refused."""
    one = algorithm(choose, Limits(labels=5, tensors=3, scalars=0, funcs=3, rank=3, depth=2))
    if has_errors(check_values(one)):
        return 0  # a number that never fits 64 bits: no file may have it
    function = found(one)
    refused = 0
    for _ in range(6):
        wanted = extents.label_sizes(choose, one, 0, 5)
        shapes = changed(choose, one, input_shapes(one, wanted))
        passed = {
            label: max(wanted[label] + pick(choose, (0, 0, 0, 1, -1)) * may_miss, 0)
            for label, may_miss in keyword_labels(one).items()
            if not may_miss or one_in(choose, 2)
        }
        expected = specified(one, shapes, passed)
        assert given_by_text(one, function, shapes, passed) == expected, (
            f"{show(one)}{planned(one)}\n{shapes} {passed}"
        )
        refused += expected is None
    return refused


def changed(choose: Choose, one: Program, shapes: Mapping[str, tuple[int, ...]]) -> Shapes:
    """Return the shapes, half of them with one or two axes longer or shorter."""
    made = {name: list(shape) for name, shape in shapes.items()}
    axes = [(name, axis) for name, shape in made.items() for axis in range(len(shape))]
    while axes and one_in(choose, 2):
        name, axis = pick(choose, axes)
        made[name][axis] = max(made[name][axis] + pick(choose, (1, -1, 2, -2, -7)), 0)
    return {name: tuple(shape) for name, shape in made.items()}


@pytest.mark.long
def test_as_specified() -> None:
    refused = sum(compare(seeded(seed)) for seed in range(400))
    assert refused > 50


@pytest.mark.long
@pytest.mark.parametrize("first", range(1000, 20_000, 1900))
def test_as_specified_many_times(first: int) -> None:
    refused = sum(compare(seeded(seed)) for seed in range(first, first + 1900))
    assert refused > 200


@pytest.mark.long
@settings(deadline=None, max_examples=50)
@given(st.data())
def test_as_specified_for_what_hypothesis_finds(data: st.DataObject) -> None:
    compare(lambda n: data.draw(st.integers(0, n - 1)))


# Every way in which a size can follow, and every check.
PROGRAMS = (
    "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[x, y];",
    "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[y];",
    "Func f; In A; Var x; f[x] = A[x, x];",
    "Func f; In A, B; Var x; f[x] = A[x] + A[x + 2] + B[x + 1];",
    "Func f; In A; Var x; f[x] = A[x + 1];",
    "Func f; In A; Var x; f[x] = A[2 * x] + A[3 * x + 1];",
    "Func f; In A; Var x; f[x] = A[x] + A[3];",
    "Func f; In A; Var x; f[x] = A[2] + x;",
    "Func f; In A, W; Var y; RVar r; f[y] = rsum(A[y + r] * W[r], r);",
    "Func f; In A, W; Var y; RVar r; f[y] = rsum(A[2 * y + 3 * r + 1] * W[r], r);",
    "Func f; In A, B, W; Var y; RVar r; f[y] = rsum(A[y + r] * W[r], r) + B[y];",
    "Func f; In A, W; Var y; RVar r; f[y] = rsum(A[y - r + 2] * W[r], r);",
    "Func f; In A, B, C; Var x, y; f[x, y] = A[x + 2 * y] + reshape(B[x], x, 1) + C[y];",
    "Func f; In A, B, C; Var x, y; f[x, y] = A[x - 2 * y + 3] + reshape(B[x], x, 1) + C[y];",
    "Func f; In A; Var x, y; f[x, y] = pad(A, 0)[x - 1, y + 1] + A[x, y];",
    "Func f; In A; Var x, y; f[x, y] = pad(A, 0)[x - 1, y + 1];",
    "Func g, f; In A; Var x, y; g[x] = A[x]; f[y] = g[y] + g[y + 2];",
    "Func g, f; In A; Var x, y; g[x] = 2 * x; f[y] = A[y] * g[y] + g[y + 2];",
    "Func g, f; In A, B; Var x, y, z; g[x] = 2 * x;"
    "f[y, z] = reshape(A[y] * g[y], y, 1) + B[z] * g[z + 1];",
    "Func g, f; In A; Var x, y; g[x, y] = A[x] + y; f[x] = g[x, 2] + g[x, 5];",
    "Func f; In A, B, C; Var x, y; RVar k; f[x, y] = rdot(A[x, k], B[k, y], k) + C[y, x];",
    "Func g, f; In A, B; Var x, y; g[x] = A[x] + B[x]; f[y] = g[y] * B[y];",
    # Sizes that a call may pass.
    "Func f; In A; Var h; RVar r; f[h] = rmax(A[2 * h + r], r);",
    "Func f; In A; Var h; RVar r; f[h] = rmax(A[r - 2 * h + 3], r);",
    "Func f; In A, B; Var h; RVar r, q; f[h] = rmax(A[h + r], r) + rmax(B[h + 2 * q], q);",
    "Func f; In A, B; Var h; RVar r; f[h] = rmax(A[2 * h + r], r) + B[h];",
    "Func f; In A; Var h; RVar r: 3; f[h] = rmax(A[2 * h + r], r);",
    "Func f; In A; Var h; RVar r, q; f[h] = rmax(A[h + r + q + 1], r, q);",
    "Func g, f; In A, B; Var h, z; RVar r; g[h] = rmax(A[h + r], r); f[z] = g[z] + B[z];",
    "Func g, f; In A; Var x, y, h; RVar r; g[x] = A[x]; f[h] = rmax(g[h + r], r);",
    "Func f; In A; Var h; RVar r; f[h] = rmax(A[h + r] + pad(A, 0)[h - 1], r);",
    # Quotients and remainders.
    "Func f; In A; Var x; f[x] = A[x // 2];",
    "Func f; In A; Var x; f[x] = A[x % 3, x // 3];",
    "Func f; In A, B; Var x; f[x] = A[x // 2] + B[x];",
    "Func f; In A; Var x; f[x] = A[x // 2 + 1] * A[(x + 1) // 3];",
    "Func f; In A; Var x, y; f[x, y] = A[(x + 2 * y) // 3, y];",
    "Func f; In A; Var h; RVar r; f[h] = rmax(A[(2 * h + r) // 2], r);",
    "Func f; In A; Var h; RVar r; f[h] = rmax(A[2 * (h // 2) + r], r);",
    "Func f; In A; Var x; f[x] = A[(9 - x) // 4];",
    "Func f; In A; Var x, y; f[x, y] = A[(7 - 2 * x) // 3 + y // 2];",
    "Func f; In A; Var d; f[d] = A[d] * A[d // 2 * 2 + 1 - d % 2];",
    "Func f; In A; Var d; f[d] = A[3 * (d // 2) + d % 2];",
    "Func g, f; In A; Var x, z; g[z] = A[z]; f[x] = g[x // 2] + g[x % 3];",
    "Func f; In A; Var c, h; f[c, h] = A[c // 9, 3 * h + c // 3 % 3];",
    "Func f; In A, W; Var x; RVar r: 3; f[x] = rsum(A[(x + r) // 2] * W[r], r);",
    "Func f; In A; Var x: 6; f[x] = A[x // 2];",
    "Func f; In A; Var x: 5; f[x] = A[x % 3] * A[(4 - x) // 2];",
)


@pytest.mark.sampled
@pytest.mark.parametrize("text", PROGRAMS)
def test_as_specified_for_all_small_shapes(text: str) -> None:
    one = program(text)
    function = found(one)
    ranks = {name: len(shape) for name, shape in input_shapes(one, ZEROS).items()}
    most = 7 if sum(ranks.values()) <= 3 else 4
    outcomes: set[bool] = set()
    for extents_of_all in product(range(most), repeat=sum(ranks.values())):
        left = iter(extents_of_all)
        shapes = {name: tuple(next(left) for _ in range(rank)) for name, rank in ranks.items()}
        keywords = keyword_labels(one)
        sizes = ((*range(5), None) if may_miss else range(7) for may_miss in keywords.values())
        for chosen in product(*sizes):
            pairs = zip(keywords, chosen, strict=True)
            passed = {label: size for label, size in pairs if size is not None}
            expected = specified(one, shapes, passed)
            assert given_by_text(one, function, shapes, passed) == expected, (shapes, passed)
            outcomes.add(expected is None)
    assert False in outcomes


ZEROS = dict.fromkeys("xyzkrhqcd", 0)
