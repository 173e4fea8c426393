"""What products cost that tensor cores do not compute: exact ones, and tiles that a range cuts."""

from dtpoly.algorithm.dtypes import DType
from dtpoly.algorithm.label_sizes import Sizes
from dtpoly.checking import check
from dtpoly.explore.cost.cost import KernelCost, cost
from dtpoly.explore.devices.devices import find_device
from dtpoly.source import Source

H200 = find_device("h200")
SIZES = {"m": 1024, "n": 1024, "k": 1024}


def priced(text: str, dtype: str = "f32", sizes: Sizes = SIZES) -> KernelCost:
    """Price the last kernel of a text."""
    verdict = check(Source("text.dt", text)).verdict
    assert verdict is not None
    assert verdict.is_legal
    return cost(verdict.scheduled, sizes, DType(dtype), H200).kernels[-1]


def product(
    right: str, more: str = "", rows: int = 64, within: str = "", left: str = "m, k", n: int = 64
) -> str:
    """A product whose operands are read so."""
    return (
        f"Func f; In A, B; Var m, n; RVar k{within};"
        f"f[m, n] = rdot(A[{left}], B[{right}], k);"
        f"f.block(m:{rows}, n:{n}); f.tensorize(m:0, n:0, k:16); f.num_warps(4);"
        f"f.num_stages(3); {more} f.compile();"
    )


def test_exact_products_wait_for_shared_memory() -> None:
    """Most where both operands are contiguous along what is summed up."""
    plain, turned = (priced(product(right)) for right in ("k, n", "n, k"))
    assert turned.limits["shared memory"] > 2 * plain.limits["shared memory"] > 0
    assert turned.bound == "shared memory"
    for rough in (priced(product("n, k", "f.precision(tf32);")), priced(product("n, k"), "f16")):
        assert rough.limits["shared memory"] == 0


def test_threads_in_a_row_read_the_same() -> None:
    """So with columns for all threads of a warp it does not matter how the rows lie."""
    rows = [priced(product("k, n", left=left, n=128)) for left in ("m, k", "k, m")]
    columns = [priced(product(right, n=128)) for right in ("k, n", "n, k")]
    clocks = [one.limits["shared memory"] for one in (*rows, *columns)]
    assert clocks[1] <= clocks[0] == clocks[2]
    assert clocks[3] > 3 * clocks[2]


def test_operands_of_threads_take_registers() -> None:
    """Those of tensor cores are in shared memory, and have none; sm_90 needs 168 for 64 sums."""
    exact, rough = (priced(product("k, n", f"f.precision({p});", 128)) for p in ("ieee", "tf32"))
    assert exact.resources.registers >= rough.resources.registers + 60
    assert abs(exact.resources.registers - 168) <= 10


def test_few_warps_multiply_more_slowly() -> None:
    """One program stays on each multiprocessor, or two."""
    one, two = (priced(product("k, n", f"f.persistent({each});", 128)) for each in (1, 2))
    assert one.limits["instructions"] > 1.1 * two.limits["instructions"]


def test_tiles_of_several_labels_are_put_together() -> None:
    text = (
        "Func f; In A, B; Var z, m, n; RVar k; f[z, m, n] = rdot(A[z, m, k], B[k, n], k);"
        "f.block({}, n:64); f.tensorize(z:0, m:0, n:0, k:16); f.num_warps(4); f.compile();"
    )
    sizes = {"z": 64, "m": 64, "n": 512, "k": 512}
    both, alone = (priced(text.format(one), sizes=sizes) for one in ("z:4, m:16", "z:1, m:64"))
    assert both.limits["shared memory"] > 3 * alone.limits["shared memory"]


def test_tiles_that_a_range_cuts_are_multiplied_whole() -> None:
    """So there is no wait for each index of such a tile, of which a block has as many as rows."""
    words = ("k, n", "f.precision(tf32);")
    rows = (64, 128)
    cut = [priced(product(*words, many, " in [0, m + 1)")).limits["latency"] for many in rows]
    whole = [priced(product(*words, many)).limits["latency"] for many in rows]
    assert all(abs(a - b) < 16 * 0.3e-6 for a, b in zip(cut, whole, strict=True))
    assert all(abs(large - small) < 16 * 0.3e-6 for small, large in (cut, whole))
