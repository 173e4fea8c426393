"""The cost model: laws that hold of every legal schedule, and how its numbers move."""

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.pace import is_kept
from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.explore.accesses.accesses import launched
from dtpoly.explore.accesses.footprints import footprint
from dtpoly.explore.accesses.tile_counts import instances
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.devices.devices import UNITS, Device, devices, find_device
from dtpoly.frontend.reading import read_file
from dtpoly.schedule.applied_directives import resolve
from dtpoly.schedule.bound_primitives import bind
from dtpoly.schedule.legality import judge_state
from tests.codegen.cases import random_case
from tests.explore.counted import counted
from tests.explore.test_footprints import state_of

H200 = find_device("h200")
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.dt"))
MANY = 2000  # instances, to look at one by one
MATMUL = "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
SUM = "Func f; In A; Var x; RVar y; f[x] = rsum(A[x, y], y);"


def cost_of(text: str, sizes: Mapping[str, int], dtype: DType = DType.F32) -> Cost:
    state = state_of(text)
    return cost(state, filled(state.program, sizes), dtype, H200)


@pytest.mark.sampled
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_has_a_cost(path: Path) -> None:
    state = state_of(read_file(str(path)).text)
    labels = [label.name for label in state.program.labels]
    for device, dtype in zip(devices().values(), (DType.F32, DType.BF16), strict=False):
        sizes = filled(state.program, {}, dict.fromkeys(labels, 1024 if len(labels) < 4 else 64))
        found = cost(state, sizes, dtype, device)
        assert 0 < found.floor < found.seconds
        assert all(math.isfinite(value) for k in found.kernels for value in k.limits.values())


# A loop over parts of a block that is larger than the label, of which too few elements are counted.
TOO_FEW = pytest.param(10, marks=pytest.mark.xfail(strict=True, raises=AssertionError))


@pytest.mark.sampled
@pytest.mark.parametrize("seed", [*range(10), TOO_FEW, *range(11, 24)])
def test_random_legal_schedules(seed: int) -> None:
    case = random_case(seed)
    bound = bind(case.program.directives, DIRECTIVES)
    if bound.found:
        pytest.skip("a directive of a user")
    state = resolve(case.program, bound.primitives)
    if not judge_state(state).is_legal:
        pytest.skip("refused")
    found = cost(state, case.sizes, case.recipe.dtype, H200)
    assert found.seconds > 0
    for kernel in found.kernels:
        for one in kernel.operands:
            assert one.asked >= one.ideal or not kernel.programs
            assert one.from_memory >= 0
    for node in launched(state, case.sizes, case.recipe.dtype):
        for stream in node.streams:
            walk = stream.walk
            if instances(walk) > MANY:
                continue
            real = counted(
                walk.statement, walk.path, state.model, case.sizes, stream.indices, stream.shape
            )
            assert footprint(stream, {}) >= len(real.elements), stream.array


def test_tiles_share_what_they_load() -> None:
    sizes = {"m": 1024, "n": 1024, "k": 1024}
    asked = [
        cost_of(f"{MATMUL} f.block(m:{t}, n:{t}); f.tensorize(m:0, n:0, k:32);", sizes, DType.F16)
        .kernels[0]
        .operands[0]
        .asked
        for t in (32, 64, 128)
    ]
    assert asked == [1024 * 1024 * 2 * 1024 // t for t in (32, 64, 128)]


def test_groups_of_blocks_read_less_from_memory() -> None:
    sizes = {"m": 16384, "n": 16384, "k": 16384}
    tiles = f"{MATMUL} f.block(m:128, n:256); f.tensorize(m:0, n:0, k:64); f.num_warps(8);"
    plain, grouped = (
        sum(
            o.from_memory
            for o in cost_of(f"{tiles} f.map({way});", sizes, DType.BF16).kernels[0].operands
        )
        for way in ("m, n", "m:mi/4, n, mi")
    )
    assert grouped < 0.7 * plain


def test_tensor_cores_are_faster() -> None:
    sizes = {"m": 2048, "n": 2048, "k": 2048}
    tiles = f"{MATMUL} f.block(m:64, n:64); f.tensorize(m:0, n:0, k:32);"
    slow = cost_of(tiles, sizes)
    fast = cost_of(f"{tiles} f.precision(tf32);", sizes)
    assert slow.kernels[0].bound == "instructions"
    assert fast.seconds < 0.5 * slow.seconds
    assert fast.kernels[0].work.products == {"tf32": 2 * 2048**3}


def test_one_program_leaves_the_device_idle() -> None:
    few = cost_of(f"{SUM} f.block(x:1024); f.tensorize(x:1, y:1024);", {"x": 1024, "y": 4096})
    many = cost_of(f"{SUM} f.block(x:1); f.tensorize(x:1, y:1024);", {"x": 1024, "y": 4096})
    assert few.kernels[0].programs == 1
    assert few.seconds > 10 * many.seconds


def test_lanes_across_rows_move_more_than_they_use() -> None:
    along = cost_of(f"{SUM} f.block(x:32); f.tensorize(x:1, y:32);", {"x": 4096, "y": 4096})
    across = cost_of(f"{SUM} f.block(x:32); f.tensorize(x:32, y:1);", {"x": 4096, "y": 4096})
    loads = [found.kernels[0].operands[0] for found in (along, across)]
    assert [one.run for one in loads] == [128, 4]
    assert loads[1].from_l2 > loads[0].from_l2


def test_what_is_computed_again() -> None:
    two = """Func f, g; In A, B, C; Var m, n; RVar k, l; g[m, l] = rdot(A[m, k], B[k, l], k);
    f[m, n] = rdot(g[m, l], C[l, n], l); f.block(m:64, n:64); g.fuse_at(f, m);"""
    found = cost_of(two, {"m": 256, "n": 256, "k": 64, "l": 64})
    assert found.kernels[0].recomputed == 4


def test_too_much_shared_memory() -> None:
    tiles = "f.block(m:256, n:256); f.tensorize(m:0, n:0, k:128); f.num_stages(4); f.num_warps(8);"
    sizes = {"m": 4096, "n": 4096, "k": 4096}
    assert not cost_of(f"{MATMUL} {tiles}", sizes, DType.F16).fits
    assert cost_of(f"{MATMUL} {tiles}".replace("k:128", "k:32"), sizes, DType.F16).fits


def test_boxes_of_what_is_stored_take_less_shared_memory() -> None:
    said = "f.block(m:128, n:256); f.tensorize(m:0, n:0, k:64); f.num_stages(4); f.num_warps(8);"
    said += " f.descriptor(A, B, f); f.persistent();"
    sizes = {"m": 4096, "n": 4096, "k": 4096}
    half, quarter = (
        cost_of(f"{MATMUL} {said} f.store(n:{n});", sizes, DType.F16).kernels[0].resources.shared
        for n in (128, 64)
    )
    assert half - quarter == 128 * 64 * 2


def test_more_bandwidth_is_faster() -> None:
    state = state_of(f"{SUM} f.block(x:4); f.tensorize(x:0, y:1024);")
    sizes = {"x": 16384, "y": 16384}
    faster = replace(H200, values={**H200.values, "memory_rate": 2 * H200["memory_rate"]})
    before, after = (cost(state, sizes, DType.F32, device) for device in (H200, faster))
    assert after.floor == pytest.approx(before.floor / 2)
    assert after.seconds < before.seconds


def test_warm_caches_hold_what_fits() -> None:
    state = state_of(f"{SUM} f.block(x:1); f.tensorize(x:0, y:1024);")
    sizes = {"x": 1024, "y": 1024}
    cold, warm = (cost(state, sizes, DType.F32, H200, is_warm) for is_warm in (False, True))
    assert warm.seconds < cold.seconds
    assert all(one.from_memory == 0 for one in warm.kernels[0].operands)


def test_nothing_to_do() -> None:
    assert cost_of(f"{SUM} f.block(x:4);", {"x": 0, "y": 0}).seconds > 0


@pytest.mark.parametrize("device", devices().values(), ids=lambda device: device.key)
def test_each_number_says_where_it_is_from(device: Device) -> None:
    assert all(value > 0 for value in device.values.values())
    assert all(len(source) > 3 for source in device.sources.values())
    assert device.values.keys() <= UNITS.keys()


@pytest.mark.parametrize("device", devices().values(), ids=lambda device: device.key)
def test_limits_are_those_of_the_target(device: Device) -> None:
    limits = device.target.limits
    assert device["shared_bytes"] == limits.shared
    assert device["block_shared"] == limits.block_shared
    assert device["threads"] == limits.warps * device.target.warp_size
    assert device["registers"] == limits.registers * device.target.warp_size
    assert device["blocks"] == limits.blocks


@pytest.mark.alone
def test_a_point_takes_a_few_milliseconds() -> None:
    attention = EXAMPLES[[path.stem for path in EXAMPLES].index("attention")]
    state = state_of(read_file(str(attention)).text)
    sizes = filled(state.program, dict.fromkeys("mnkl", 256))
    times: list[float] = []
    for _ in range(20):
        start = time.process_time()
        cost(state, sizes, DType.F32, H200)
        times.append(time.process_time() - start)
    # It takes 3 of them.
    assert is_kept(0.020, min(times))


def test_lanes_that_scan_compute_much() -> None:
    """About 20 instructions of an element, and 30 with a factor; a loop over steps adds nothing."""

    def instructions(body: str, tile: str) -> float:
        text = (
            f"Func f; In A; Var x, t; RVar s; f[x, t] = {body}; f.block(x:4);"
            f"f.tensorize(x:0, t:{tile}); f.num_warps(4); f.compile();"
        )
        sizes = {"x": 4096, "t": 4096, "s": 4096}
        state = state_of(text)
        found = cost(state, sizes, DType.F32, H200).kernels[-1].work.instructions
        return found / 4096**2

    plain, with_factor = "scan_sum(A[x, s], s, t)", "scan_affine(0.5, A[x, s], s, t, 0)"
    assert 15 <= instructions(plain, "512") <= 25
    assert 25 <= instructions(with_factor, "512") <= 40
    assert instructions(plain, "1") < 12
