"""Ways to cut a kernel: what there is of them, and that each is a schedule."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod
from typing import ClassVar, Self

import pytest

from dtpoly.autoschedule.chains import chain
from dtpoly.autoschedule.choose import candidates
from dtpoly.autoschedule.elementwise import elementwise
from dtpoly.autoschedule.layout_directives import new_name, said_of
from dtpoly.autoschedule.layout_variants import variants
from dtpoly.autoschedule.nest import KernelNest
from dtpoly.autoschedule.product_tiles import orders_of, turns_of
from dtpoly.autoschedule.reduction_walks import reductions
from dtpoly.autoschedule.threads import warps
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.plan.layout import Group, Layout, Partial
from dtpoly.schedule.primitive import LaunchEdit, Written
from tests.autoschedule.asked import H200, SUM, call_of, example, nest_of, plans_of, products_of


def shown(layout: Layout) -> str:
    return " ".join(map(str, said_of(layout, DIRECTIVES)))


def test_a_layout_as_directives() -> None:
    layout = Layout(
        *("f", (("m", 128), ("n", 64)), Partial("k", "kb", 512), (("m", 0), ("k", 32), ("r", 1))),
        order=("m", "n"),
        group=Group("m", "mi", 8),
        flat=("r", "k"),
        precision="tf32",
        descriptors=("A", "B"),
        aligned=("A",),
        turned=("k",),
        each=2,
        warps=8,
        stages=3,
    )
    assert shown(layout) == (
        "f.precision(tf32); f.block(m:128, n:64, k:kb/512); f.tensorize(m:0, k:32);"
        " f.map(m:mi/8, n, mi); f.flatten(r, k); f.descriptor(A, B); f.align(A); f.alternate(k);"
        " f.persistent(2); f.num_warps(8); f.num_stages(3);"
    )
    assert shown(Layout("f", warps=1)) == "f.num_warps(1);"


@dataclass(frozen=True, slots=True)
class Hurry(LaunchEdit):
    """A directive of one's own for short kernels."""

    name: ClassVar[str] = "hurry"
    written: ClassVar[Written] = Written.RESULT

    @classmethod
    def of_layout(cls, layout: Layout) -> Self | None:
        return cls(layout.func) if layout.busy < 1e-5 else None


@pytest.mark.parametrize("is_early", [True, False])
def test_a_directive_of_ones_own_says_its_part(is_early: bool) -> None:
    found = map(str, said_of(Layout("f", busy=5e-6 if is_early else 5e-3), (*DIRECTIVES, Hurry)))
    assert (
        list(found) == ["f.hurry();"] * is_early + ["f.num_warps(4);"] + ["f.early();"] * is_early
    )


def test_new_names_are_new() -> None:
    assert new_name("m", "i", frozenset({"m"})) == "mi"
    assert new_name("m", "i", frozenset({"mi", "mi2"})) == "mi3"


def test_threads_have_some_elements_each() -> None:
    assert list(warps(4096, 8, 32)) == [4, 8, 16]
    assert list(warps(16, 8, 32)) == [1]
    assert list(warps(1 << 20, 8, 32)) == [32]


def test_what_reduces_nothing_goes_along_memory() -> None:
    nest = nest_of(call_of(example("geglu"), x=16384, y=16384))
    found = list(elementwise(nest))
    assert found
    for layout in found:
        blocks = dict(layout.blocks)
        assert blocks["x"] == 1
        assert 256 <= blocks["y"] <= 8192
        assert layout.order == ("x", "y")
        assert 4 <= blocks["y"] / (32 * layout.warps) <= 32


def test_what_is_contiguous_both_ways_is_square() -> None:
    text = "Func f; In A; Var x, y; f[x, y] = A[y, x];"
    found = list(elementwise(nest_of(call_of(text, x=4096, y=4096))))
    assert all(32 <= size <= 128 for layout in found for _, size in layout.blocks)


def test_short_lines_go_many_at_a_time() -> None:
    nest = nest_of(call_of(SUM, x=1 << 20, y=64))
    found = list(reductions(nest, 132))
    assert all(dict(layout.blocks)["x"] >= 8 for layout in found)
    assert max(dict(layout.blocks)["x"] for layout in found) == 256


def test_long_lines_go_in_parts() -> None:
    nest = nest_of(call_of(SUM, x=4096, y=1 << 20))
    found = list(reductions(nest, 132))
    assert {layout.tile("y") for layout in found} == {1024, 2048, 4096, 8192, 16384}
    assert {dict(layout.blocks)["x"] for layout in found} == {1}


@pytest.mark.parametrize(("rows", "is_split"), [(16, True), (1 << 16, False)])
def test_few_lines_are_split(rows: int, is_split: bool) -> None:
    nest = nest_of(call_of(SUM, x=rows, y=1 << 22))
    parts = [layout.partial for layout in reductions(nest, 132) if layout.partial is not None]
    assert bool(parts) is is_split
    assert {part.name for part in parts} <= {"yb"}


def test_columns_are_side_by_side() -> None:
    text = "Func f; In A; Var y; RVar x; f[y] = rsum(A[x, y], x);"
    for layout in reductions(nest_of(call_of(text, x=16384, y=16384)), 132):
        assert 32 <= dict(layout.blocks)["y"] <= 256
        assert layout.tile("y") == 0
        assert layout.tile("x") > 1


def layouts_of_products(nest: KernelNest) -> Iterator[Layout]:
    for layout in products_of(nest):
        yield layout
        for ordered in orders_of(nest, layout):
            yield from turns_of(nest, H200, ordered)


def test_products_have_room() -> None:
    nest = nest_of(call_of(example("half_matmul"), "bf16", m=4096, n=4096, k=4096))
    found = list(layouts_of_products(nest))
    for layout in found:
        rows, columns = dict(layout.blocks)["m"], dict(layout.blocks)["n"]
        assert rows * columns <= 128 * 32 * layout.warps
        assert (rows + columns) * layout.tile("k") * 2 * max(layout.stages, 1) <= 232448
        assert layout.descriptors == ("A", "B")
    assert any(layout.group and layout.each for layout in found)
    assert {layout.tile("k") for layout in found} == {32, 64}


def test_threads_that_multiply_get_tiles_by_address() -> None:
    """Descriptors, programs that stay and more than 64 sums made exact products slower."""
    text = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
    found = list(layouts_of_products(nest_of(call_of(text, m=4096, n=4096, k=4096))))
    for layout in found:
        rows, columns = dict(layout.blocks)["m"], dict(layout.blocks)["n"]
        assert not layout.descriptors
        assert not layout.each
        assert rows * columns <= 64 * 32 * layout.warps
    assert {layout.tile("k") for layout in found} == {16, 32}


def test_steps_of_a_convolution_may_go_along_channels_alone() -> None:
    text = (
        "Func f; In X, W; Var z, o, x, y; RVar c, r: 3, s: 3;"
        "f[z, o, x, y] = rdot(X[z, c, x + r, y + s], W[o, c, r, s], c, r, s);"
    )
    sizes = {"z": 8, "o": 64, "x": 56, "y": 56, "c": 64, "r": 3, "s": 3}
    found = products_of(nest_of(call_of(text, **sizes)))
    along = [one for one in found if (one.tile("r"), one.tile("s")) == (1, 1)]
    assert {one.tile("c") for one in along} == {16, 32}
    assert {one.flat for one in along} == {("r", "s", "c")}
    assert any(one.tile("r") > 1 for one in found)


def test_the_copy_engine_wants_aligned_rows_and_a_gpu_that_has_one() -> None:
    sizes = {"m": 4096, "n": 4095, "k": 4096}
    ragged = nest_of(call_of(example("half_matmul"), "bf16", **sizes))
    assert {layout.descriptors for layout in products_of(ragged)} == {("A",)}
    # A kernel with descriptors is not told of rows that are multiples of four.
    fours = nest_of(call_of(example("half_matmul"), "bf16", **{**sizes, "n": 4092}))
    assert {layout.descriptors for layout in products_of(fours)} == {()}
    call = call_of(example("half_matmul"), "bf16", "a100", m=4096, n=4096, k=4096)
    assert {layout.descriptors for layout in products_of(nest_of(call), call.device)} == {()}


def test_a_convolution_sums_in_steps_of_channels_in_one_loop() -> None:
    nest = nest_of(call_of(example("conv2d"), "f16", b=4, c=64, h=110, w=110, f=128, r=3, s=3))
    for layout in products_of(nest):
        assert layout.flat == ("r", "s", "c")
        assert (layout.tile("r"), layout.tile("s")) == (1, 1)
        assert layout.tile("c") in (32, 64)
        sides = dict(layout.blocks)
        assert prod((sides["b"], sides["h"], sides["w"])) >= 16


def test_one_channel_is_too_few_for_a_step() -> None:
    call = call_of(example("one_channel_conv2d"), "f16", b=8, c=1, h=157, w=696, f=64, r=5, s=5)
    for layout in products_of(nest_of(call)):
        assert prod(layout.tile(label) for label in "rsc") >= 16


def test_chains_keep_sums_in_registers() -> None:
    nest = nest_of(call_of(example("attention"), m=256, n=256, k=256, l=256))
    made = chain(nest, "tf32", 132)
    first = made.layout([0] * len(made.knobs))
    assert first is not None
    assert (first.precision, first.warps, first.stages) == ("tf32", 4, 0)
    assert first.block("m") == 16
    sums = [layout for at in range(4) if (layout := made.layout([at, 3, 0, 0, 0])) is not None]
    assert [layout.block("m") for layout in sums] == [16, 32, 64]


def test_variants_are_what_the_model_cannot_tell() -> None:
    call = call_of(example("wide_softmax"), x=8192, y=50257)
    nest = nest_of(call)
    layout = next(one for one in reductions(nest, 132) if one.tile("y") == 8192)
    found = list(variants(nest, layout))
    assert [(one.aligned, one.turned) for one in found] == [
        (("A",), ("y",)),
        ((), ("y",)),
        (("A",), ()),
    ]
    even = nest_of(call_of(example("wide_softmax"), x=8192, y=65536))
    assert [(one.aligned, one.turned) for one in variants(even, layout)] == [((), ("y",))]
    product = nest_of(call_of(example("half_matmul"), "bf16", m=4096, n=4096, k=4096))
    one = products_of(product)[0]
    assert [other.descriptors for other in variants(product, one)] == [()]


def test_inputs_may_lie_otherwise_in_memory() -> None:
    """Programs go along what is contiguous there, and the copy engine does not bring it."""
    call = call_of(SUM, x=1 << 14, y=1 << 10)
    turned = replace(call, orders={"A": (1, 0)})
    assert nest_of(call).contiguous()[0] == "y"
    assert nest_of(turned).contiguous()[0] == "x"
    first, other = (candidates(one)[0].kernels[-1].layout for one in (call, turned))
    assert dict(first.blocks)["x"] < dict(other.blocks)["x"]
    product = call_of(example("half_matmul"), "bf16", m=4096, n=4096, k=4096)
    nest = nest_of(replace(product, orders={"B": (1, 0)}))
    assert {layout.descriptors for layout in products_of(nest)} == {("A",)}


def test_what_is_contiguous_may_be_too_short_to_go_down_along_it() -> None:
    text = "Func f; In A; Var x; RVar k; f[x] = rargmax(A[k, x], k);"
    nest = nest_of(call_of(text, x=17, k=1 << 16))
    tiles = {layout.tile("k") for layout in reductions(nest, 132)}
    assert {0, 16384} <= tiles


def test_a_maximum_goes_along_a_row_as_the_scan_that_reads_it() -> None:
    """They have labels of their own, and read the same memory: none of them goes by one index."""
    nest = nest_of(
        call_of(
            "Func f, top; In X; Var x, t; RVar s; top[x] = rmax(X[x, s], s);"
            "f[x, t] = scan_sum(exp(X[x, s] - reshape(top[x], x, 1)), s, t);",
            **{"x": 4096, "t": 2048},
        )
    )
    for layout in reductions(nest, 132):
        assert layout.tile("s") == layout.tile("t") != 1


def test_lists_have_small_tiles_and_whole_places() -> None:
    """Most tiles of a row are skipped, and a warp that has a small one skips it soon."""
    text = "Func f; In A; Var x, j: 8; RVar k; f[x, j] = rtopk(A[x, k], k, j);"
    found = list(reductions(nest_of(call_of(text, x=8192, k=4096)), 132))
    assert {dict(layout.blocks)["j"] for layout in found} == {8}
    assert {128, 256, 1024} <= {layout.tile("k") for layout in found}
    assert 1 in {layout.warps for layout in found if layout.tile("k") == 256}


def test_values_and_indices_of_a_list_are_in_one_kernel() -> None:
    text = (
        "Func v, i; In A; Var x, j: 8; RVar k; v[x, j] = rtopk(A[x, k], k, j);"
        "i[x, j] = rargtopk(A[x, k], k, j); v.compile(i);"
    )
    assert ("i", "v") in {plan.kernels[0] for plan in plans_of(call_of(text, x=8192, k=4096))}
    other = text.replace("rargtopk(A[x, k], k, j)", "rargtopk(A[x, l], l, j)")
    other = other.replace("RVar k;", "RVar k, l;")
    apart = plans_of(call_of(other, x=8192, k=4096, l=4096))
    assert all(len(plan.kernels) == 2 for plan in apart)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_is_reduced_may_have_one_index(size: int) -> None:
    text = f"Func f; In X, W; Var z, x; RVar r: {size}; f[z, x] = rsum(X[z, x + r] * W[r], r);"
    found = list(reductions(nest_of(call_of(text, z=35, x=3002)), 132))
    assert any(dict(layout.blocks)["x"] * dict(layout.blocks)["z"] >= 512 for layout in found)


def test_products_have_parts_along_a_loop_around_the_tiles() -> None:
    """k has too few steps for several programs; each index of e has all of them."""
    text = "Func f; In X, W; Var t, n; RVar e, k; f[t, n] = rdot(X[t, e, k], W[e, k, n], e, k);"
    made = products_of(nest_of(call_of(text, "bf16", t=1024, n=512, e=8, k=512)))
    deep = [one for one in made if one.tile("k") == 64]
    assert {one.partial.label for one in deep if one.partial} == {"e"}
    made = products_of(nest_of(call_of(text, "bf16", t=1024, n=512, e=8, k=8192)))
    assert {one.partial.label for one in made if one.partial} == {"k"}
