"""The cost of joined loops: what the emitted kernel computes once counts once."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.filling import filled
from dtpoly.explore.accesses.accesses import CostedKernel, launched
from dtpoly.explore.cost.cost import Cost, cost
from dtpoly.explore.devices.devices import find_device
from tests.autoschedule.asked import example
from tests.explore.test_footprints import state_of

H200 = find_device("h200")
SIZES = {"b": 2, "h": 4, "m": 512, "l": 1024, "k": 64, "n": 128}
CAUSAL = SIZES | {"l": 512}
PRODUCTS = 2 * 2 * 4 * 512 * 1024 * (64 + 128)
BYTES = 2


def cost_of(name: str, sizes: dict[str, int], changes: tuple[str, str] = ("", "")) -> Cost:
    state = state_of(example(name).text.replace(*changes))
    return cost(state, filled(state.program, sizes), DType.BF16, H200)


def kernel_of(name: str, sizes: dict[str, int]) -> CostedKernel:
    state = state_of(example(name).text)
    (kernel,) = launched(state, filled(state.program, sizes), DType.BF16)
    return kernel


def test_scores_are_multiplied_once_and_queries_loaded_once() -> None:
    (kernel,) = cost_of("flash_attention", SIZES).kernels
    assert kernel.work.products == {"bf16": PRODUCTS}
    asked = {one.array: one.asked for one in kernel.operands}
    rows = 2 * 4 * 512
    assert asked["Q"] == rows * 64 * BYTES
    # Each of 4 blocks of 128 rows asks for all keys and values.
    assert asked["K"] == 4 * 2 * 4 * 1024 * 64 * BYTES
    assert asked["V"] == 4 * 2 * 4 * 1024 * 128 * BYTES


def test_an_exponential_that_two_sums_take_is_computed_once() -> None:
    (kernel,) = cost_of("flash_attention", SIZES).kernels
    exponentials = 2 * 4 * 512 * 1024
    quotients = 2 * 4 * 512 * 128
    assert exponentials <= kernel.work.special <= exponentials + 2 * quotients


def test_statements_of_joined_loops_are_in_one_nest() -> None:
    kernel = kernel_of("flash_attention", SIZES)
    nests = {walk.joined for walk in kernel.walks if walk.loops}
    assert nests == {("flash_attention.l",)}
    names = [walk.statement.name.partition("@")[0] for walk in kernel.walks]
    assert len(names) == len({*names})


def test_only_what_the_range_leaves_is_counted_and_no_tile_without_tensor_cores() -> None:
    (kernel,) = cost_of("causal_flash_attention", CAUSAL).kernels
    whole = 2 * 2 * 4 * 512 * 512 * (64 + 128)
    tiles = 512 // 64
    assert kernel.work.products == {"bf16": whole * (tiles + 1) // (2 * tiles)}


def test_a_line_that_two_joined_loops_read_is_loaded_once() -> None:
    sizes = {"x": 4096, "y": 65536}
    (joined,) = cost_of("online_softmax", sizes).kernels
    apart = ("top.online(total, y)", "top.fuse_at(online_softmax, x)")
    (three,) = cost_of("online_softmax", sizes, apart).kernels
    asked = [next(one for one in kernel.operands if one.array == "A") for kernel in (joined, three)]
    assert [one.asked // one.ideal for one in asked] == [2, 3]


def test_more_rows_than_warps_share_are_faster() -> None:
    """With 8 rows a warp, warps meet for each maximum: measured at 1.7 times the time."""
    sizes = SIZES | {"b": 64, "m": 4096, "l": 4096}
    few = cost_of("flash_attention", sizes, ("m:128)", "m:64)")).seconds
    alone = ("m:128)", "m:64)")
    text = example("flash_attention").text.replace(*alone).replace("num_warps(8)", "num_warps(4)")
    state = state_of(text)
    fewer = cost(state, filled(state.program, sizes), DType.BF16, H200).seconds
    assert few > 1.4 * fewer
