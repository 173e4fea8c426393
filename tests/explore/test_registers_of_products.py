"""Which registers of a product the cost model knows before anything is compiled."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.explore.cost.cost import cost
from dtpoly.explore.devices.devices import find_device
from dtpoly.explore.needs.resources import MOST_REGISTERS, WARP, Resources
from tests.explore.test_footprints import state_of

EVEN, ODD = {"m": 512, "n": 512, "k": 512}, {"m": 512, "n": 512, "k": 514}
HEADS = {"z": 2, "m": 512, "l": 512, "k": 64, "n": 64}
ATTENTION = (
    "Func out, S, top, e, total; In Q, K, V, B; Var z, m, n; RVar k, l;"
    "S[z, m, l] = rdot(Q[z, m, k], K[z, l, k], k){};"
    "top[z, m] = rmax(S[z, m, l], l);"
    "e[z, m, l] = exp(S[z, m, l] - reshape(top[z, m], z, m, 1));"
    "total[z, m] = rsum(e[z, m, l], l);"
    "out[z, m, n] = rdot(e[z, m, l], V[z, l, n], l) / reshape(total[z, m], z, m, 1);"
    "e.inline(); out.block(z:1, m:64); out.tensorize(z:0, m:0, n:0, k:0, l:{});"
    "out.num_warps(4); out.num_stages(3); S.fuse_at(out, l);"
    "top.online(out, l); total.online(out, l); out.compile();"
)
BIAS = " + reshape(B[m, l], 1, m, l)"


def resources(text: str, dtype: str, sizes: Sizes, key: str = "h200") -> Resources:
    """Return what the last kernel of a text takes."""
    state = state_of(text)
    return cost(state, sizes, DType(dtype), find_device(key)).kernels[-1].resources


def needed(found: Resources) -> float:
    """Return the registers of a thread, with those for which there is no room."""
    return found.registers + found.spilled / (4 * WARP * found.warps)


def product(rows: int = 128, left: str = "A[m, k]", precision: str = "tf32", more: str = "") -> str:
    """Return a product of tiles with so many rows."""
    return (
        f"Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot({left}, B[k, n], k){more};"
        f"f.block(m:{rows}, n:64); f.tensorize(m:0, n:0, k:32); f.num_warps(4);"
        f"f.num_stages(4); f.precision({precision}); f.compile();"
    )


def test_what_is_loaded_element_by_element_passes_through_registers() -> None:
    """Triton spills 400 bytes of a thread for 256 rows of f16; what is aligned needs none."""
    spilling = resources(product(256), "f16", ODD)
    assert spilling.spilled > 0
    assert abs(needed(spilling) - (MOST_REGISTERS + 400 / 4)) <= 40
    for fits in (resources(product(256), "f16", EVEN), resources(product(64), "f16", ODD)):
        assert fits.spilled == 0


def test_what_is_copied_alone_needs_an_address_for_each_element() -> None:
    """Triton needs 125, 222 and 233 registers."""
    even, odd = (needed(resources(product(), "f32", sizes)) for sizes in (EVEN, ODD))
    narrow = needed(resources(product(), "f16", ODD))
    assert abs(even - 125) <= 20
    assert abs(odd - 222) <= 20
    assert abs(narrow - 233) <= 50


def test_sums_stay_while_others_of_the_loop_compute() -> None:
    """So 64 more columns of the result, which are 32 numbers of a thread, take 32 and addresses."""
    plain = ATTENTION.format("", 128)
    narrow, wide = (needed(resources(plain, "bf16", {**HEADS, "n": n})) for n in (64, 128))
    assert wide >= narrow + 32


def test_a_value_takes_the_place_of_its_sums() -> None:
    """Beside 128 columns of results, scores of 128 rows nearly fit: Triton spills 112 bytes."""
    rows = ATTENTION.format("", 64).replace("m:64", "m:128")
    found = resources(rows, "bf16", {**HEADS, "k": 128, "n": 128})
    assert found.spilled <= 4 * 32 * WARP * found.warps
    assert found.registers >= 64 + 128


def test_a_bias_that_is_loaded_element_by_element_spills() -> None:
    """Triton spills 248 bytes of a thread with 128 columns, and nothing with 64 or rows of 4."""
    odd = {**HEADS, "m": 486, "l": 486}
    aligned, alone = (resources(ATTENTION.format(BIAS, 128), "bf16", s) for s in (HEADS, odd))
    assert aligned.spilled == 0
    assert alone.spilled > 0
    assert abs(needed(alone) - (MOST_REGISTERS + 248 / 4)) <= 60
    for lanes in (64, 16):
        assert resources(ATTENTION.format(BIAS, lanes), "bf16", odd).spilled == 0


def test_what_is_loaded_element_by_element_is_not_there_for_later_iterations() -> None:
    odd = {**HEADS, "m": 486, "l": 486}
    text = ATTENTION.format(BIAS, 64)
    one, four = (
        resources(text.replace("num_stages(3)", f"num_stages({n})"), "bf16", odd) for n in (1, 4)
    )
    assert needed(four) <= needed(one) + 16


def test_what_is_loaded_behind_a_product_stands_beside_its_sums() -> None:
    text = product(256, more=" + A[m, n]")
    one, other = (
        needed(resources(text, "bf16", {"m": 512, "n": many, "k": many})) for many in (512, 486)
    )
    assert other > one + 128


def test_rows_of_an_exact_product_wait_for_columns_that_are_computed() -> None:
    """Triton needs 168 registers of a thread, or 168, and with computed columns 705."""
    text = product(precision="ieee")
    positive = "where({0} > 0, {0}, 0)"
    rows = text.replace("A[m, k]", positive.format("A[m, k]"))
    columns = text.replace("B[k, n]", positive.format("B[k, n]"))
    plain, left, right = (needed(resources(one, "f32", EVEN)) for one in (text, rows, columns))
    assert abs(plain - 168) <= 10
    assert left == plain
    assert right > plain + 400


def test_warps_that_multiply_alone_have_operands_in_registers() -> None:
    """As much of them as there is room for: no kernel spills because of them."""
    group, alone = (resources(product(), "bf16", EVEN, key) for key in ("h200", "a100"))
    assert group.registers + 32 <= alone.registers
    assert resources(product(256), "f16", EVEN, "a100").spilled == 0
    few = product().replace("num_warps(4)", "num_warps(2)")
    group, alone = (resources(few, "bf16", EVEN, key) for key in ("h200", "a100"))
    assert group.registers == alone.registers


TWO_PRODUCTS = (
    "Func f; In A, B, C, D; Var m, n; RVar k, j;"
    "f[m, n] = rdot(A[m, k], B[k, n], k){};"
    "f.block(m:128, n:128); f.tensorize(m:0, n:0, k:64{}); f.num_warps(4);"
    "f.num_stages(3); f.compile();"
)
PRODUCT_IN_A_SUM = (
    "Func f; In X, W, Y; Var b, o; RVar i, j;"
    "f[b, o] = rsum(rdot(X[b, i], W[o, i, j], i) * reshape(Y[b, j], b, 1, j), j);"
    "f.block(b:32, o:16); f.tensorize(b:0, o:0, j:{}, i:{}); f.num_warps({});"
    "f.num_stages(3); f.compile();"
)


def test_sums_of_one_product_stay_while_another_one_is_multiplied() -> None:
    """Triton needs 383 registers of a thread for both, and 171 with twice as many threads."""
    sizes = {"m": 512, "n": 512, "k": 512, "j": 512}
    one = needed(resources(TWO_PRODUCTS.format("", ""), "bf16", sizes))
    second = TWO_PRODUCTS.format(" + rdot(C[m, j], D[j, n], j)", ", j:64")
    both = resources(second, "bf16", sizes)
    assert needed(both) == one + 128
    assert both.spilled > 0
    assert resources(second.replace("num_warps(4)", "num_warps(8)"), "bf16", sizes).spilled == 0


def test_a_sum_around_a_product_has_all_its_elements() -> None:
    """Triton spills 1832 bytes of a thread with tiles of 32 x 32, and none with those of 8 x 16."""
    sizes = {"b": 512, "o": 128, "i": 256, "j": 256}
    large, small = (
        resources(PRODUCT_IN_A_SUM.format(*tiles), "f32", sizes)
        for tiles in ((32, 32, 4), (8, 16, 8))
    )
    assert large.spilled > 4 * WARP * 4 * 256
    assert small.spilled == 0


def test_a_short_label_has_lanes_for_16_indices() -> None:
    text = (
        "Func f; In A, W; Var b, x, o; RVar i; f[b, x, o] = rdot(A[b, i], W[x, i, o], i);"
        "f.block(b:128, o:16); f.tensorize(b:0, x:0, o:0, i:64); f.num_warps(4); f.compile();"
    )
    few, enough = (
        resources(text, "bf16", {"b": 512, "x": many, "o": 512, "i": 512}) for many in (8, 16)
    )
    assert needed(few) == needed(enough)


def test_sums_are_kept_until_a_cut_tile_has_no_nan() -> None:
    """Triton spills 520 bytes of a thread for 64 x 256 in 4 warps, and nothing in 8."""
    text = (
        "Func f; In A, B; Var m, n; RVar k in [0, m + 1); f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:64, n:256); f.tensorize(m:0, n:0, k:64); f.descriptor(A, B);"
        "f.num_warps({}); f.num_stages(4); f.compile();"
    )
    sizes = {"m": 1280, "n": 1536, "k": 1280}
    few, many = (resources(text.format(warps), "bf16", sizes) for warps in (4, 8))
    assert few.spilled > 0
    assert many.spilled == 0


def test_what_goes_through_shared_memory_to_be_stored() -> None:
    """A tile of f32 is stored 16 rows a warp at a time, one of f16 in halves of these.

    In bytes, of 128 x 256 with two stages of 32, as Triton says: 229376 and 163840 for f32 in 8 and
    4 warps, 81920 and 65536 for f16.
    """
    text = (
        "Func f; In A, B; Var m, n; RVar k; f[m, n] = rdot(A[m, k], B[k, n], k);"
        "f.block(m:128, n:256); f.tensorize(m:0, n:0, k:32); f.num_warps({}); f.num_stages(2);"
        "f.precision(tf32); f.persistent(); f.compile();"
    )
    sizes = {"m": 1280, "n": 1280, "k": 1024}
    found = [
        resources(text.format(warps), dtype, sizes).shared
        for dtype in ("f32", "f16")
        for warps in (8, 4)
    ]
    assert found == [229376, 163840, 81920, 65536]


def test_few_rows_are_multiplied_by_warps() -> None:
    """They have operands in registers, and one tile less of each in shared memory."""
    few, many = (resources(product(rows), "bf16", EVEN) for rows in (32, 64))
    assert few.shared == 3 * 2 * (32 * 32 + 32 * 64)
    assert many.shared == 4 * 2 * (64 * 32 + 32 * 64)
    assert needed(few) > needed(many) - 16


def test_one_tensor_with_odd_rows_decides_for_others() -> None:
    """A kernel is told once for all tensors that rows are multiples of four."""
    text = product(more=" + reshape(C[n], 1, n)").replace("In A, B", "In A, B, C")
    even, odd = (needed(resources(text, "f32", {"m": 512, "n": n, "k": 520})) for n in (516, 514))
    alone = needed(resources(text, "f32", {"m": 512, "n": 514, "k": 512}))
    assert odd > even + 40
    assert even < alone < odd
